//! The durations of polls.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::tasks::end_nested;
use super::{Distribution, Tasks};
#[cfg(doc)]
use crate::Thread;
use crate::{Event, Recording};

/// One poll of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poll {
    /// The number of the task.
    pub task: u64,
    /// The number of the thread.
    pub thread: u64,
    /// When it started, in nanoseconds since the recorder was made.
    pub start: u64,
    /// The duration of the poll, or the time it has taken so far if it does not end in the
    /// recording.
    pub duration: Duration,
    /// Whether it ends in the recording.
    pub is_finished: bool,
}

/// All polls that start in the recording, also the slow ones of [`Thread::rare`], thread by thread
/// in the order of their ends. The time of a poll within another poll, as of `block_on` in
/// `block_in_place`, counts in both.
pub fn polls(recording: &Recording) -> Vec<Poll> {
    let end = recording.end();
    let mut polls = Vec::new();
    for (&number, thread) in &recording.threads {
        let mut open: Vec<(u64, u64)> = Vec::new();
        let poll = |(task, start): (u64, u64), end: u64, is_finished| Poll {
            task,
            thread: number,
            start,
            duration: Duration::from_nanos(end.saturating_sub(start)),
            is_finished,
        };
        for entry in thread.all() {
            match entry.event {
                // The ends of these polls are lost.
                Event::RecordsLost { .. } => open.clear(),
                Event::PollStarted { task } => open.push((task, entry.time)),
                Event::PollFinished { task, .. } => {
                    let same = |open: &(u64, u64)| open.0 == task;
                    if let Some(&started) = open.iter().rfind(|open| same(open)) {
                        polls.push(poll(started, entry.time, true));
                    }
                    end_nested(&mut open, same);
                }
                _ => {}
            }
        }
        polls.extend(open.into_iter().map(|started| poll(started, end, false)));
    }
    polls
}

/// The `limit` longest polls, the longest first.
pub fn longest_polls(recording: &Recording, limit: usize) -> Vec<Poll> {
    let mut polls = polls(recording);
    polls.sort_by_key(|poll| Reverse(poll.duration));
    polls.truncate(limit);
    polls
}

/// Returns how long polls take, by the label of the task. The one with the longest poll is first.
pub fn polls_by_location(recording: &Recording) -> Vec<(String, Distribution)> {
    let tasks = Tasks::of(recording);
    by_label(
        &tasks,
        polls(recording)
            .iter()
            .map(|poll| (poll.task, poll.duration)),
    )
}

/// Groups times by the labels of tasks. The label with the longest time is first.
pub(super) fn by_label(
    tasks: &Tasks<'_>,
    times: impl Iterator<Item = (u64, Duration)>,
) -> Vec<(String, Distribution)> {
    let mut labels = BTreeMap::<String, Vec<Duration>>::new();
    for (task, time) in times {
        labels.entry(tasks.label(task)).or_default().push(time);
    }
    let mut groups: Vec<_> = labels
        .into_iter()
        .map(|(label, times)| (label, times.into_iter().collect::<Distribution>()))
        .collect();
    groups.sort_by_key(|(_, times)| Reverse(times.max()));
    groups
}
