//! The slot in which one thread publishes what it runs.

use std::fmt;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use raddle_primitives::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use raddle_primitives::sync::{Mutex, Rank};

use crate::span::Span;
use crate::stack::ThreadStack;

/// The kinds of activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityKind {
    /// The poll of a task.
    Poll,
    /// The poll of the future of `block_on`.
    RootPoll,
    /// A job of the blocking pool.
    Job,
}

/// The activity of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The kind.
    pub kind: ActivityKind,
    /// The worker that the thread drives, if it drives one.
    pub worker: Option<usize>,
    /// The number of the task or the job, 0 if it has none.
    pub id: u64,
    /// The location where the task or the job was spawned, if it is known.
    pub location: Option<&'static Location<'static>>,
}

/// A running activity, with a number that is unique on its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningActivity {
    /// An odd number.
    pub sequence: usize,
    /// The activity that runs.
    pub activity: Activity,
    /// Whether the thread is allowed to block: another thread drives its worker.
    pub may_block: bool,
}

/// The activity of one thread, written by that thread and read by the watchdog.
///
/// The sequence is odd while something runs. The thread writes the words of an activity before it
/// makes the sequence odd, and after it has made it even again. A reader that finds the same odd
/// sequence before and after it reads the words has the words of one activity.
///
/// ```
/// use std::thread;
///
/// use raddle_watchdog::slot::{Activity, ActivityKind, ActivitySlot};
///
/// let slot = ActivitySlot::of_current_thread();
/// let job = Activity { kind: ActivityKind::Job, worker: None, id: 17, location: None };
/// slot.start(job);
/// // The watchdog reads the slot on its own thread, and finds the same job a while later.
/// let running = thread::scope(|scope| scope.spawn(|| slot.running()).join().unwrap());
/// assert_eq!(running.unwrap().activity, job);
/// slot.finish();
/// assert_eq!(slot.running(), None);
/// ```
pub struct ActivitySlot {
    sequence: AtomicUsize,
    /// The kind in the two lowest bits; above them the worker's number plus one, or 0.
    kind: AtomicUsize,
    id: AtomicU64,
    location: AtomicPtr<Location<'static>>,
    /// The sequence of an activity that may block.
    blocking: AtomicUsize,
    /// The sequence of the last activity that was marked: the time of its end is recorded.
    marked: AtomicUsize,
    /// The sequence and the end of the last marked activity that has finished.
    finished: Mutex<Option<(usize, Instant)>>,
    has_ended: AtomicBool,
    /// `None` once the thread ends. The lock is held while a signal is sent, so that the thread
    /// does not end.
    thread: Mutex<Option<ThreadInfo>>,
}

struct ThreadInfo {
    name: String,
    stack: Option<ThreadStack>,
    span: Arc<Span>,
}

/// Transitions, each made by the thread that owns the slot.
impl ActivitySlot {
    /// Makes the slot of the calling thread.
    pub fn of_current_thread() -> Self {
        let current = std::thread::current();
        let thread = ThreadInfo {
            name: current.name().unwrap_or("unnamed").to_owned(),
            stack: ThreadStack::of_current_thread(),
            span: Span::of_current_thread(),
        };
        Self {
            sequence: AtomicUsize::new(0),
            kind: AtomicUsize::new(0),
            id: AtomicU64::new(0),
            location: AtomicPtr::new(ptr::null_mut()),
            blocking: AtomicUsize::new(0),
            marked: AtomicUsize::new(0),
            finished: Mutex::ranked(Rank::leaf("watchdog slow poll"), None),
            has_ended: AtomicBool::new(false),
            thread: Mutex::ranked(Rank::leaf("watchdog thread"), Some(thread)),
        }
    }

    /// Records the activity that the thread starts. No other activity must be running.
    #[inline]
    pub fn start(&self, activity: Activity) {
        self.write(activity);
        // ORDERING: only this thread writes the sequence.
        let sequence = self.sequence.load(Ordering::Relaxed);
        debug_assert!(sequence % 2 == 0, "one activity at a time");
        // ORDERING: releases the words to `running`.
        self.sequence
            .store(sequence.wrapping_add(1), Ordering::Release);
    }

    #[inline]
    fn write(&self, activity: Activity) {
        let worker = activity.worker.map_or(0, |worker| worker + 1);
        let location = activity.location.map_or(ptr::null(), ptr::from_ref);
        // ORDERING: each store releases the even sequence before it to `running`, whose later load
        // of the sequence then does not find the former odd one.
        self.kind
            .store(worker << 2 | activity.kind as usize, Ordering::Release);
        // ORDERING: as above.
        self.id.store(activity.id, Ordering::Release);
        // ORDERING: as above.
        self.location.store(location.cast_mut(), Ordering::Release);
    }

    /// Overwrites the current activity, for the canary.
    #[cfg(raddle_loom)]
    pub fn rewrite(&self, activity: Activity) {
        self.write(activity);
    }

    /// Records that the thread has finished its activity.
    #[inline]
    pub fn finish(&self) {
        // ORDERING: only this thread writes the sequence.
        let sequence = self.sequence.load(Ordering::Relaxed);
        if sequence % 2 == 1 {
            // ORDERING: a hint. A mark that is missed is one of an activity that ends now.
            if self.marked.load(Ordering::Relaxed) == sequence {
                self.record_end(sequence);
            }
            // ORDERING: the stores of the next `start` release it.
            self.sequence
                .store(sequence.wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Records when the marked activity has ended.
    #[cold]
    fn record_end(&self, sequence: usize) {
        *self.finished.lock() = Some((sequence, Instant::now()));
    }

    /// Records that the thread ends.
    pub(crate) fn end(&self) {
        *self.thread.lock() = None;
        // ORDERING: a hint; the slot is only forgotten.
        self.has_ended.store(true, Ordering::Relaxed);
    }
}

/// The view of other threads.
impl ActivitySlot {
    /// Returns the activity that runs, if there is one.
    pub fn running(&self) -> Option<RunningActivity> {
        // ORDERING: acquires the words from `start`.
        let sequence = self.sequence.load(Ordering::Acquire);
        if sequence % 2 == 0 {
            return None;
        }
        // ORDERING: acquires the even sequence that was stored before, if this is the word of a
        // later activity (`start`).
        let kind = self.kind.load(Ordering::Acquire);
        // ORDERING: as above.
        let id = self.id.load(Ordering::Acquire);
        // ORDERING: as above.
        let location = self.location.load(Ordering::Acquire);
        // ORDERING: only a hint: a missed change is found at the next check.
        let blocking = self.blocking.load(Ordering::Relaxed);
        // ORDERING: the loads above acquire the values that this load must see.
        if self.sequence.load(Ordering::Relaxed) != sequence {
            return None;
        }
        let kind_of = [
            ActivityKind::Poll,
            ActivityKind::RootPoll,
            ActivityKind::Job,
        ];
        Some(RunningActivity {
            sequence,
            activity: Activity {
                kind: kind_of[kind & 0b11],
                worker: (kind >> 2).checked_sub(1),
                id,
                // SAFETY: the pointer is null or was made from a `'static` reference.
                location: unsafe { location.as_ref() },
            },
            may_block: blocking == sequence,
        })
    }

    /// Records that the activity with this sequence may block.
    pub fn allow_blocking(&self, sequence: usize) {
        // ORDERING: a hint, by itself.
        self.blocking.store(sequence, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        // ORDERING: a hint, by itself.
        self.has_ended.load(Ordering::Relaxed)
    }

    pub(crate) fn thread_name(&self) -> String {
        let thread = self.thread.lock();
        thread
            .as_ref()
            .map_or_else(String::new, |thread| thread.name.clone())
    }

    /// Marks the activity with this sequence: the time of its end is recorded from now on.
    pub fn mark(&self, sequence: usize) {
        // ORDERING: a hint, by itself.
        self.marked.store(sequence, Ordering::Relaxed);
    }

    /// Returns when the marked activity with this sequence has ended. Returns `None` while it runs,
    /// and if it ended when it was marked.
    pub fn end_of(&self, sequence: usize) -> Option<Instant> {
        let finished = *self.finished.lock();
        finished.filter(|end| end.0 == sequence).map(|end| end.1)
    }

    /// Returns the stack of the thread, if it has not ended and the system reports it.
    #[allow(dead_code, reason = "some platforms have no stacks")]
    pub(crate) fn thread_stack(&self) -> Option<ThreadStack> {
        self.thread.lock().as_ref()?.stack.clone()
    }

    /// Calls a function while the thread cannot end. Returns `None` if the thread no longer runs
    /// the activity with this sequence.
    #[allow(dead_code, reason = "some platforms have no stacks")]
    pub(crate) fn while_running<R>(
        &self,
        sequence: usize,
        call: impl FnOnce(&ThreadStack) -> R,
    ) -> Option<R> {
        let thread = self.thread.lock();
        let stack = thread.as_ref()?.stack.as_ref()?;
        self.is_running(sequence).then(|| call(stack))
    }

    /// Returns the tracing span of the thread.
    pub(crate) fn span(&self) -> Option<Arc<str>> {
        let span = Arc::clone(&self.thread.lock().as_ref()?.span);
        span.text()
    }

    /// Returns whether the thread still runs the activity with this sequence.
    pub(crate) fn is_running(&self, sequence: usize) -> bool {
        // ORDERING: an outdated result is as good as that of an earlier call.
        self.sequence.load(Ordering::Relaxed) == sequence
    }
}

impl fmt::Debug for ActivitySlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActivitySlot")
            .field("running", &self.running())
            .finish_non_exhaustive()
    }
}
