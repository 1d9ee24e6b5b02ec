//! A task for the models of this crate, which counts its live parts.

mod woken;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc as Untracked;
use std::sync::atomic::AtomicUsize as Count;
use std::task::{Context, Poll, Waker};

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_task::{JoinError, JoinHandle, Outcome, Runnable, Schedule};

pub(crate) use woken::Woken;

/// Counts live objects. The counters are std's, so that they order nothing.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    cells: Untracked<Count>,
    futures: Untracked<Count>,
    outputs: Untracked<Count>,
}

impl Tally {
    /// Checks that nothing is left.
    pub(crate) fn check(&self) {
        for (name, count) in [
            ("cells", &self.cells),
            ("futures", &self.futures),
            ("outputs", &self.outputs),
        ] {
            assert_eq!(count.load(Ordering::SeqCst), 0, "{name} are left");
        }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs.load(Ordering::SeqCst)
    }
}

/// A counted object.
struct Counted(Untracked<Count>);

impl Counted {
    fn new(count: &Untracked<Count>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.0.fetch_sub(1, Ordering::SeqCst);
        assert_ne!(before, 0, "something was dropped twice");
    }
}

/// How the runnables of a model's task are run.
#[derive(Clone)]
pub(crate) enum RunMode {
    /// The thread that wakes the task runs it at once, so that only the state word orders one run
    /// with the next.
    Inline,
    /// The model takes them out of this queue.
    Queued(Arc<Mutex<Vec<Runnable>>>),
}

/// The scheduler in the cell. Cloning it reads the cell's memory and freeing the cell writes it, so
/// that the model sees whether one comes before the other.
pub(crate) struct Scheduler {
    memory: UnsafeCell<()>,
    mode: RunMode,
    counted: Counted,
}

// SAFETY: `memory` has no content; the model checks its accesses.
unsafe impl Sync for Scheduler {}
// SAFETY: as above.
unsafe impl Send for Scheduler {}

impl Scheduler {
    pub(crate) fn new(tally: &Tally, mode: RunMode) -> Self {
        Self {
            memory: UnsafeCell::new(()),
            mode,
            counted: Counted::new(&tally.cells),
        }
    }
}

impl Clone for Scheduler {
    fn clone(&self) -> Self {
        self.memory.with(|_| {});
        Self {
            memory: UnsafeCell::new(()),
            mode: self.mode.clone(),
            counted: Counted::new(&self.counted.0),
        }
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.memory.with_mut(|_| {});
    }
}

impl Schedule for Scheduler {
    fn schedule(&self, task: Runnable) {
        match &self.mode {
            RunMode::Inline => run(through_queue(task)),
            RunMode::Queued(queue) => queue.lock().push(task),
        }
        self.memory.with(|_| {});
    }
}

/// Writes and reads the queue link, as a queue does.
fn through_queue(task: Runnable) -> Runnable {
    let raw = task.into_raw();
    // SAFETY: the runnable was just given up.
    unsafe { Runnable::queue_link(raw) }
        // SAFETY: the holder of the runnable has the link; the model checks it.
        .with_mut(|link| unsafe { *link = None });
    // SAFETY: as above, and it is taken back once.
    unsafe { Runnable::from_raw(raw) }
}

/// Runs a task, and runs it again if it has been woken during the run.
pub(crate) fn run(mut task: Runnable) {
    while let Outcome::Again(again) = task.run() {
        task = through_queue(again);
    }
}

/// Memory without content, for the model to check the accesses of.
#[derive(Clone)]
pub(crate) struct Memory(Arc<UnsafeCell<()>>);

// SAFETY: it has no content.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new() -> Self {
        Self(Arc::new(UnsafeCell::new(())))
    }

    pub(crate) fn read(&self) {
        self.0.with(|_| {});
    }

    pub(crate) fn write(&self) {
        self.0.with_mut(|_| {});
    }
}

/// The output of a model's task.
pub(crate) struct Value {
    content: u32,
    _counted: Counted,
}

/// A future that waits until all its flags are set. Its first poll gives out a waker for each flag.
pub(crate) struct Flags {
    shared: Arc<Shared>,
    polls: usize,
    outputs: Untracked<Count>,
    _counted: Counted,
}

struct Shared {
    flags: Vec<AtomicBool>,
    /// std's, so that it orders nothing.
    self_waking: std::sync::atomic::AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Future for Flags {
    type Output = Value;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Value> {
        self.polls += 1;
        if self.polls == 1 {
            let mut wakers = self.shared.wakers.lock();
            wakers.extend(self.shared.flags.iter().map(|_| cx.waker().clone()));
        }
        // ORDERING: the flags order nothing; the wakes that follow them do.
        let set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        if !self.shared.flags.iter().all(set) {
            if self.polls == 2 && self.shared.self_waking.load(Ordering::Relaxed) {
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
        Poll::Ready(Value {
            content: 7,
            _counted: Counted::new(&self.outputs),
        })
    }
}

/// A task of [`Flags`], with its handle and counters.
pub(crate) struct Task {
    pub(crate) tally: Tally,
    pub(crate) first: Runnable,
    pub(crate) handle: JoinHandle<Value>,
    shared: Arc<Shared>,
}

impl Task {
    /// A task that is complete after `flags` wakes.
    pub(crate) fn new(flags: usize, mode: RunMode) -> Self {
        let tally = Tally::default();
        let shared = Arc::new(Shared {
            flags: (0..flags).map(|_| AtomicBool::new(false)).collect(),
            self_waking: false.into(),
            wakers: Mutex::new(Vec::new()),
        });
        let future = Flags {
            shared: shared.clone(),
            polls: 0,
            outputs: tally.outputs.clone(),
            _counted: Counted::new(&tally.futures),
        };
        let scheduler = Scheduler::new(&tally, mode);
        let (first, handle) = raddle_task::spawn(future, scheduler);
        Self {
            tally,
            first,
            handle,
            shared,
        }
    }

    /// Makes the second poll wake its own task, if it is not the last.
    pub(crate) fn self_waking(self) -> Self {
        self.shared.self_waking.store(true, Ordering::Relaxed);
        self
    }

    /// Runs the task until it is idle.
    pub(crate) fn start(self) -> (Tally, JoinHandle<Value>, Vec<Flag>) {
        run(through_queue(self.first));
        let wakers = std::mem::take(&mut *self.shared.wakers.lock());
        let flags = wakers.into_iter().enumerate().map(|(index, waker)| Flag {
            shared: self.shared.clone(),
            index,
            waker,
        });
        (self.tally, self.handle, flags.collect())
    }
}

/// One of the flags, and a waker for the thread that sets it.
pub(crate) struct Flag {
    shared: Arc<Shared>,
    index: usize,
    pub(crate) waker: Waker,
}

impl Flag {
    pub(crate) fn set(self) -> Waker {
        // ORDERING: see `Flags::poll`.
        self.shared.flags[self.index].store(true, Ordering::Relaxed);
        self.waker
    }
}

/// Polls a handle once.
pub(crate) fn poll(handle: &mut JoinHandle<Value>, waker: &Waker) -> Poll<Result<u32, JoinError>> {
    Pin::new(handle)
        .poll(&mut Context::from_waker(waker))
        .map_ok(|value| value.content)
}

/// Polls a handle that must be ready.
pub(crate) fn join(mut handle: JoinHandle<Value>) -> Result<u32, JoinError> {
    match poll(&mut handle, Waker::noop()) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the task is not complete: a wake was lost"),
    }
}
