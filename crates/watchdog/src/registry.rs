//! The threads of one runtime, and the calling thread's slot.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use raddle_primitives::Numbers;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex, Rank};

use crate::slot::{Activity, ActivityKind, ActivitySlot, RunningActivity};
use crate::stack::{block_signal, unblock_signal};

static NUMBERS: Numbers = Numbers::new();

/// The numbers of slow polls.
static SLOW_POLLS: Numbers = Numbers::new();

/// The level of the lock of the threads.
const LEVEL: u8 = 200;

/// The threads of one runtime, and what each runs.
pub(crate) struct Registry {
    number: u64,
    threads: Mutex<Vec<WatchedThread>>,
    /// The time of the last check, or of the start.
    checked: Mutex<Instant>,
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
    times: Times,
    slow: Option<Slow>,
}

/// A slow poll that was found.
#[derive(Clone, Copy)]
struct Slow {
    number: u64,
    marked: Instant,
}

/// When an activity started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// A time at which it was not running yet.
    pub(crate) not_before: Instant,
    /// A time at which it was already running.
    pub(crate) since: Instant,
}

/// The shortest and the longest time that an activity can have taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elapsed {
    pub(crate) at_least: Duration,
    pub(crate) at_most: Duration,
}

impl Times {
    pub(crate) fn until(self, end: Instant) -> Elapsed {
        Elapsed {
            at_least: end.saturating_duration_since(self.since),
            at_most: end.saturating_duration_since(self.not_before),
        }
    }
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

/// An activity of a thread, and when it started.
#[derive(Debug)]
pub(crate) struct ObservedActivity {
    pub(crate) slot: Arc<ActivitySlot>,
    pub(crate) running: RunningActivity,
    pub(crate) times: Times,
    /// A time at which it was running.
    pub(crate) seen: Instant,
    /// The number of the slow poll, if it is one that was found.
    pub(crate) number: Option<u64>,
}

/// What a check finds.
#[derive(Debug)]
pub(crate) enum Finding {
    /// A poll has become slow.
    Slow(ObservedActivity),
    /// The slow poll with this number has ended.
    Ended(u64, Elapsed),
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self {
            number: NUMBERS.take(1),
            // The locks of slots are taken under it.
            threads: Mutex::ranked(Rank::outer(LEVEL, "watchdog threads"), Vec::new()),
            checked: Mutex::ranked(Rank::leaf("watchdog check"), Instant::now()),
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

    /// Records that the calling thread polls the future of a `block_on`.
    pub(crate) fn start_root(&self, activity: Activity) {
        self.with_slot(|own| {
            own.unblock_signal();
            own.start(activity);
        });
    }

    /// Records that such a poll has finished. `is_last` is whether it is the last of the
    /// `block_on`.
    pub(crate) fn finish_root(&self, is_last: bool) {
        self.with_slot(|own| {
            own.finish();
            // Otherwise the thread is in another poll, which blocks in place.
            if is_last && own.current.is_none() {
                own.restore_mask();
            }
        });
    }

    /// Allows the calling thread to get the signal of samples, until
    /// [`restore_mask`](Self::restore_mask).
    pub(crate) fn unblock_signal(&self) {
        self.with_slot(OwnSlot::unblock_signal);
    }

    /// Restores the signal mask of the calling thread.
    pub(crate) fn restore_mask(&self) {
        self.with_slot(OwnSlot::restore_mask);
    }

    fn with_slot(&self, call: impl FnOnce(&mut OwnSlot)) {
        let _ = SLOTS.try_with(|slots| call(slots.borrow_mut().of(self)));
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

    /// Checks all threads, and passes what has changed to `found`: the polls that have taken longer
    /// than `threshold`, and those of them that have ended. Each poll is passed once.
    pub(crate) fn check(&self, threshold: Duration, found: &mut impl FnMut(Finding)) {
        let now = Instant::now();
        let not_before = std::mem::replace(&mut *self.checked.lock(), now);
        let mut threads = self.threads.lock();
        for thread in threads.iter_mut() {
            let running = thread.slot.running();
            if let Some((number, elapsed)) = thread.ended(running) {
                found(Finding::Ended(number, elapsed));
            }
            let Some(running) = running else {
                thread.last = None;
                continue;
            };
            let slot = Arc::clone(&thread.slot);
            let last = thread.observe(running.sequence, not_before);
            let is_poll = running.activity.kind != ActivityKind::Job;
            let is_slow = now.saturating_duration_since(last.times.since) >= threshold;
            if is_poll && !running.may_block && last.slow.is_none() && is_slow {
                let number = SLOW_POLLS.take(1);
                slot.mark(running.sequence);
                let marked = Instant::now();
                last.slow = Some(Slow { number, marked });
                let times = last.times;
                found(Finding::Slow(ObservedActivity {
                    slot,
                    running,
                    times,
                    seen: now,
                    number: Some(number),
                }));
            }
        }
        threads.retain(|thread| thread.last.is_some() || !thread.slot.has_ended());
    }

    /// Returns all current activities.
    pub(crate) fn running(&self) -> Vec<ObservedActivity> {
        let now = Instant::now();
        let not_before = *self.checked.lock();
        let threads = self.threads.lock();
        let running = threads.iter().filter_map(|thread| {
            let running = thread.slot.running()?;
            let last = thread.last.filter(|last| last.sequence == running.sequence);
            let times = Times {
                not_before,
                since: now,
            };
            Some(ObservedActivity {
                slot: Arc::clone(&thread.slot),
                running,
                times: last.map_or(times, |last| last.times),
                seen: now,
                number: last.and_then(|last| last.slow).map(|slow| slow.number),
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
    /// Returns the last observation of the activity with this sequence. The first one is made now;
    /// the activity did not run yet at `not_before`.
    fn observe(&mut self, sequence: usize, not_before: Instant) -> &mut Observation {
        let last = self.last.filter(|last| last.sequence == sequence);
        self.last.insert(last.unwrap_or_else(|| Observation {
            sequence,
            times: Times {
                not_before,
                since: Instant::now(),
            },
            slow: None,
        }))
    }

    /// Returns the number of the slow poll of the last check, and the time that it has taken, if it
    /// does not run any more.
    fn ended(&self, running: Option<RunningActivity>) -> Option<(u64, Elapsed)> {
        let last = self.last?;
        let slow = last.slow?;
        if running.is_some_and(|running| running.sequence == last.sequence) {
            return None;
        }
        let end = self.slot.end_of(last.sequence).unwrap_or(slow.marked);
        Some((slow.number, last.times.until(end)))
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
    mask: Mask,
}

/// What was done to the signal mask of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mask {
    /// Nothing: the thread runs nothing of the runtime.
    Untouched,
    /// The signal of samples was not in it.
    Open,
    /// The signal of samples was taken out of it.
    Opened,
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
            mask: Mask::Untouched,
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

    fn unblock_signal(&mut self) {
        if self.mask == Mask::Untouched {
            self.mask = match unblock_signal() {
                true => Mask::Opened,
                false => Mask::Open,
            };
        }
    }

    fn restore_mask(&mut self) {
        if self.mask == Mask::Opened {
            block_signal();
        }
        self.mask = Mask::Untouched;
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
