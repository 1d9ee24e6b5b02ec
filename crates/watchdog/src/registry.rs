//! The threads of one runtime, and the calling thread's slot.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::time::Instant;

use raddle_primitives::Numbers;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex, Rank};

use crate::slot::{Activity, ActivityKind, ActivitySlot, RunningActivity};

static NUMBERS: Numbers = Numbers::new();

/// The threads of one runtime, and what each runs.
pub(crate) struct Registry {
    number: u64,
    threads: Mutex<Vec<WatchedThread>>,
    names: Names,
    jobs: Mutex<HashMap<u64, Job>>,
    lacks_spares: AtomicBool,
}

/// A thread and the result of the last check.
struct WatchedThread {
    slot: Arc<ActivitySlot>,
    last: Option<Observation>,
}

#[derive(Clone, Copy)]
struct Observation {
    sequence: usize,
    since: Instant,
    is_reported: bool,
}

/// The names of tasks that have one.
struct Names {
    /// The number of names, so that tasks without a name need no lock.
    count: AtomicUsize,
    names: Mutex<HashMap<u64, Box<str>>>,
}

/// A job that waits for a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) location: Option<&'static Location<'static>>,
    pub(crate) since: Instant,
}

/// An activity of a thread, and a time at which it was already running.
#[derive(Debug)]
pub(crate) struct ObservedActivity {
    pub(crate) slot: Arc<ActivitySlot>,
    pub(crate) running: RunningActivity,
    pub(crate) since: Instant,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self {
            number: NUMBERS.take(1),
            threads: Mutex::ranked(Rank::leaf("watchdog threads"), Vec::new()),
            names: Names {
                count: AtomicUsize::new(0),
                names: Mutex::ranked(Rank::leaf("watchdog names"), HashMap::new()),
            },
            jobs: Mutex::ranked(Rank::leaf("watchdog jobs"), HashMap::new()),
            lacks_spares: AtomicBool::new(false),
        }
    }

    /// Records that the calling thread starts an activity.
    #[inline]
    pub(crate) fn start(&self, activity: Activity) {
        // A thread whose thread-locals have been dropped is not watched.
        let _ = SLOTS.try_with(|slots| slots.borrow_mut().of(self).start(activity));
    }

    /// Records that the calling thread has finished its activity.
    #[inline]
    pub(crate) fn finish(&self) {
        let _ = SLOTS.try_with(|slots| slots.borrow_mut().of(self).finish());
    }

    /// Allows the other threads that run tasks of a worker to block, since this thread has taken
    /// the worker over.
    pub(crate) fn allow_blocking(&self, worker: usize) {
        for thread in self.threads.lock().iter() {
            let running = thread.slot.running();
            let of_worker = running.filter(|running| running.activity.worker == Some(worker));
            if let Some(running) = of_worker {
                thread.slot.allow_blocking(running.sequence);
            }
        }
    }

    /// Checks all threads, and returns the polls that have taken long enough to be reported. Each
    /// poll is returned only once.
    pub(crate) fn slow_polls(
        &self,
        now: Instant,
        is_slow: impl Fn(Instant) -> bool,
    ) -> Vec<ObservedActivity> {
        let mut found = Vec::new();
        let mut threads = self.threads.lock();
        threads.retain(|thread| !thread.slot.has_ended());
        for thread in threads.iter_mut() {
            let Some(running) = thread.slot.running() else {
                thread.last = None;
                continue;
            };
            let observation = thread.observe(running.sequence, now);
            let is_poll = running.activity.kind != ActivityKind::Job;
            if is_poll
                && !running.may_block
                && !observation.is_reported
                && is_slow(observation.since)
            {
                observation.is_reported = true;
                let since = observation.since;
                found.push(ObservedActivity {
                    slot: Arc::clone(&thread.slot),
                    running,
                    since,
                });
            }
        }
        found
    }

    /// Returns all current activities.
    pub(crate) fn running(&self, now: Instant) -> Vec<ObservedActivity> {
        let threads = self.threads.lock();
        let running = threads.iter().filter_map(|thread| {
            let running = thread.slot.running()?;
            let last = thread.last.filter(|last| last.sequence == running.sequence);
            Some(ObservedActivity {
                slot: Arc::clone(&thread.slot),
                running,
                since: last.map_or(now, |last| last.since),
            })
        });
        running.collect()
    }

    /// Records that tasks wait and there are no more spare workers, for the next check.
    pub(crate) fn note_lack_of_spares(&self) {
        // ORDERING: a flag on which no other data depends.
        self.lacks_spares.store(true, Ordering::Relaxed);
    }

    /// Returns whether [`note_lack_of_spares`](Self::note_lack_of_spares) was called since the last
    /// call.
    pub(crate) fn take_lack_of_spares(&self) -> bool {
        // ORDERING: as in `note_lack_of_spares`.
        self.lacks_spares.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn name_task(&self, task: u64, name: &str) {
        self.names.names.lock().insert(task, name.into());
        // ORDERING: the task does not run before this, and its run acquires the spawn.
        self.names.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn forget_task(&self, task: u64) {
        // ORDERING: as in `name_task`.
        if self.names.count.load(Ordering::Relaxed) > 0
            && self.names.names.lock().remove(&task).is_some()
        {
            // ORDERING: as in `name_task`.
            self.names.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn name_of(&self, task: u64) -> Option<String> {
        self.names
            .names
            .lock()
            .get(&task)
            .map(|name| name.to_string())
    }

    pub(crate) fn queue_job(&self, id: u64, location: Option<&'static Location<'static>>) {
        let since = Instant::now();
        // Threads without a number are not distinguished.
        if id != 0 {
            self.jobs.lock().insert(id, Job { location, since });
        }
    }

    pub(crate) fn take_job(&self, id: u64) {
        self.jobs.lock().remove(&id);
    }

    /// Returns the number of jobs that have waited long enough, and the job that has waited
    /// longest.
    pub(crate) fn waiting_jobs(&self, is_slow: impl Fn(Instant) -> bool) -> Option<(usize, Job)> {
        let jobs = self.jobs.lock();
        let slow = jobs.values().filter(|job| is_slow(job.since));
        let oldest = *slow.clone().min_by_key(|job| job.since)?;
        Some((slow.count(), oldest))
    }
}

impl WatchedThread {
    fn observe(&mut self, sequence: usize, now: Instant) -> &mut Observation {
        let last = self.last.filter(|last| last.sequence == sequence);
        self.last.insert(last.unwrap_or(Observation {
            sequence,
            since: now,
            is_reported: false,
        }))
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

raddle_primitives::thread_local! {
    static SLOTS: RefCell<Slots> = RefCell::new(Slots(Vec::new()));
}

/// The slots of one thread: one for each registry, the most recently used first.
struct Slots(Vec<OwnSlot>);

/// A slot of the calling thread.
struct OwnSlot {
    registry: u64,
    slot: Arc<ActivitySlot>,
    /// The activity that runs.
    current: Option<Activity>,
    /// The activities around the current one: a poll that blocks in place may run a future to
    /// completion.
    outer: Vec<Activity>,
}

impl Slots {
    #[inline]
    fn of(&mut self, registry: &Registry) -> &mut OwnSlot {
        match self.0.first() {
            Some(first) if first.registry == registry.number => {}
            _ => self.bring_to_front(registry),
        }
        &mut self.0[0]
    }

    #[cold]
    fn bring_to_front(&mut self, registry: &Registry) {
        let is_it = |slot: &OwnSlot| slot.registry == registry.number;
        if let Some(position) = self.0.iter().position(is_it) {
            self.0.swap(0, position);
            return;
        }
        // Removes the slots of registries that were dropped.
        self.0.retain(|slot| Arc::strong_count(&slot.slot) > 1);
        let slot = Arc::new(ActivitySlot::of_current_thread());
        registry.threads.lock().push(WatchedThread {
            slot: Arc::clone(&slot),
            last: None,
        });
        let own = OwnSlot {
            registry: registry.number,
            slot,
            current: None,
            outer: Vec::new(),
        };
        self.0.insert(0, own);
    }
}

impl OwnSlot {
    #[inline]
    fn start(&mut self, activity: Activity) {
        if let Some(outer) = self.current.replace(activity) {
            self.outer.push(outer);
            self.slot.finish();
        }
        self.slot.start(activity);
    }

    #[inline]
    fn finish(&mut self) {
        self.slot.finish();
        self.current = None;
        if !self.outer.is_empty() {
            self.resume();
        }
    }

    /// Resumes the activity that was blocking in place.
    #[cold]
    fn resume(&mut self) {
        self.current = self.outer.pop();
        if let Some(outer) = self.current {
            self.slot.start(outer);
            if let Some(running) = self.slot.running() {
                self.slot.allow_blocking(running.sequence);
            }
        }
    }
}

impl Drop for OwnSlot {
    fn drop(&mut self) {
        self.slot.end();
    }
}
