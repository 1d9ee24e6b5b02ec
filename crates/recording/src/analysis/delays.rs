//! The times that tasks and blocking jobs wait for a thread.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::polls::by_label;
use super::spares::first_spare;
use super::{Distribution, Tasks};
use crate::{Entry, Event, PollResult, Recording};

/// The tasks that are due to be polled.
#[derive(Default)]
struct Waiting {
    since: BTreeMap<u64, u64>,
    /// The tasks that are being polled, and the threads that poll them.
    polled_by: BTreeMap<u64, u64>,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.since.is_empty()
    }

    fn len(&self) -> usize {
        self.since.len()
    }

    /// Applies an event. Returns the task that starts to be polled and how long it waited.
    fn apply(&mut self, thread: u64, entry: Entry) -> Option<(u64, Duration)> {
        let Entry { time, event } = entry;
        match event {
            Event::TaskSpawned { task, .. } | Event::TaskWoken { task } => {
                self.since.entry(task).or_insert(time);
            }
            Event::PollStarted { task } => {
                self.polled_by.insert(task, thread);
                let since = self.since.remove(&task)?;
                return Some((task, Duration::from_nanos(time.saturating_sub(since))));
            }
            // The recorded end of a poll has the time of the thread's next event. Another thread
            // may poll the task again before that.
            Event::PollFinished { task, .. }
                if self.polled_by.get(&task).is_some_and(|by| *by != thread) => {}
            // A task that was woken during its poll waits from the end of the poll on.
            Event::PollFinished { task, result } => {
                self.polled_by.remove(&task);
                match result {
                    PollResult::Rescheduled => {
                        self.since.insert(task, time);
                    }
                    PollResult::Ended => {
                        self.since.remove(&task);
                    }
                    PollResult::Pending => {
                        if let Some(since) = self.since.get_mut(&task) {
                            *since = time;
                        }
                    }
                }
            }
            Event::TaskEnded { task, .. } => {
                self.since.remove(&task);
            }
            _ => {}
        }
        None
    }
}

/// Returns how long tasks wait from their spawn or wake to their poll, by the label of the task.
/// The one with the longest wait is first. Only waits that begin where the recording is
/// [complete](Recording::complete_from) count.
pub fn scheduling_delays(recording: &Recording) -> Vec<(String, Distribution)> {
    let mut waiting = Waiting::default();
    let mut waits = Vec::new();
    let complete_from = recording.complete_from();
    for (thread, entry) in recording.by_time() {
        if entry.time >= complete_from {
            waits.extend(waiting.apply(thread, entry));
        }
    }
    by_label(&Tasks::of(recording), waits.into_iter())
}

/// Returns the scheduling delays that were long, also from before the recording is complete: the
/// numbers of the tasks, when they were polled, and how long they had waited. A thread records a
/// long delay at most once in ten times [`RecorderOptions::slow`].
///
/// [`RecorderOptions::slow`]: crate::recorder::RecorderOptions::slow
pub fn long_delays(recording: &Recording) -> Vec<(u64, u64, Duration)> {
    let delay = |entry: &Entry| match entry.event {
        Event::TaskDelayed { task, tenths } => {
            Some((task, entry.time, Duration::from_micros(100) * tenths))
        }
        _ => None,
    };
    let threads = recording.threads.values();
    let mut delays: Vec<_> = threads
        .flat_map(|thread| thread.all().filter_map(delay))
        .collect();
    delays.sort_by_key(|(.., time)| Reverse(*time));
    delays
}

/// When workers were parked while tasks waited. Spare workers are left out: they do not take the
/// tasks of workers that make progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleWhileWaiting {
    /// The total time in which a worker was parked while a task waited.
    pub total: Duration,
    /// The longest such time without a break.
    pub longest: Duration,
    /// The start of that time, in nanoseconds since the recorder was made.
    pub longest_start: u64,
    /// The greatest number of tasks that waited while a worker was parked.
    pub most_waiting: usize,
}

/// Finds out when workers were parked while tasks waited, where the recording is
/// [complete](Recording::complete_from).
pub fn idle_while_waiting(recording: &Recording) -> IdleWhileWaiting {
    let mut found = IdleWhileWaiting::default();
    let mut waiting = Waiting::default();
    let mut parked = BTreeSet::new();
    let mut since = None;
    let complete_from = recording.complete_from();
    let first_spare = first_spare(recording);
    for (thread, entry) in recording.by_time() {
        if entry.time < complete_from {
            continue;
        }
        let _started = waiting.apply(thread, entry);
        match entry.event {
            Event::WorkerParked { worker } if first_spare.is_none_or(|first| worker < first) => {
                parked.insert(worker);
            }
            Event::WorkerUnparked { worker } => {
                parked.remove(&worker);
            }
            _ => {}
        }
        let is_wasted = !parked.is_empty() && !waiting.is_empty();
        if is_wasted {
            found.most_waiting = found.most_waiting.max(waiting.len());
            since.get_or_insert(entry.time);
        } else if let Some(start) = since.take() {
            let time = Duration::from_nanos(entry.time.saturating_sub(start));
            found.total += time;
            if time > found.longest {
                found.longest = time;
                found.longest_start = start;
            }
        }
    }
    found
}

/// Returns how long blocking jobs waited for a thread, and how long they took.
pub fn blocking_jobs(recording: &Recording) -> (Distribution, Distribution) {
    let mut queued = BTreeMap::new();
    let mut started = BTreeMap::new();
    let mut waits = Vec::new();
    let mut runs = Vec::new();
    for (_, entry) in recording.all_by_time() {
        let since = |start: u64| Duration::from_nanos(entry.time.saturating_sub(start));
        match entry.event {
            Event::JobQueued { job } => {
                queued.insert(job, entry.time);
            }
            Event::JobStarted { job } => {
                waits.extend(queued.remove(&job).map(since));
                started.insert(job, entry.time);
            }
            Event::JobFinished { job } => runs.extend(started.remove(&job).map(since)),
            _ => {}
        }
    }
    (waits.into_iter().collect(), runs.into_iter().collect())
}
