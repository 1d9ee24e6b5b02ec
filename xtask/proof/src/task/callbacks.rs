//! The user code that a task calls. Each callback panics on request.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use raddle_primitives::sync::Mutex;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_task::{AbortHandle, Runnable, Schedule};

/// Panics without printing a message.
pub(super) fn panic_with(text: &'static str) -> ! {
    resume_unwind(Box::new(text))
}

/// Counts live objects of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Count(Arc<AtomicUsize>);

impl Count {
    pub(super) fn one(&self) -> Counted {
        // ORDERING: Relaxed: one thread at a time uses it.
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }

    pub(super) fn get(&self) -> usize {
        // ORDERING: as above.
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub(super) struct Counted(Count);

impl Drop for Counted {
    fn drop(&mut self) {
        // ORDERING: as above.
        let before = self.0.0.fetch_sub(1, Ordering::Relaxed);
        assert_ne!(before, 0, "something was dropped twice");
    }
}

/// The result of a poll.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum PollOutcome {
    #[default]
    Pending,
    Ready,
    Panic,
}

/// What a poll does first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum PollAction {
    #[default]
    Nothing,
    WakeByRef,
    WakeByValue,
    Abort,
}

/// What the scheduler does when a task is woken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Fault {
    #[default]
    None,
    Clone,
    Call,
}

/// What the callbacks shall do, and what they have done.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) poll_action: PollAction,
    pub(super) poll_outcome: PollOutcome,
    pub(super) future_drop_panics: bool,
    pub(super) output_drop_panics: bool,
    /// The wake that triggers the fault takes it.
    pub(super) fault: Fault,
    /// The waker of each poll.
    pub(super) wakers: Vec<Waker>,
    pub(super) abort: Option<AbortHandle>,
    pub(super) polls: usize,
    pub(super) panics_reported: usize,
    pub(super) queue: VecDeque<Runnable>,
}

/// The plan, and counts of live objects.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) plan: Arc<Mutex<Plan>>,
    pub(super) cells: Count,
    pub(super) futures: Count,
    pub(super) outputs: Count,
}

impl World {
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut Plan) -> R) -> R {
        f(&mut self.plan.lock())
    }
}

pub(super) struct Subject {
    world: World,
    _counted: Counted,
}

impl Subject {
    pub(super) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            _counted: world.futures.one(),
        }
    }
}

impl Future for Subject {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let waker = cx.waker().clone();
        let (poll_action, poll_outcome, abort) = self.world.with(|plan| {
            plan.polls += 1;
            plan.wakers.push(waker);
            (plan.poll_action, plan.poll_outcome, plan.abort.clone())
        });
        match (poll_action, abort) {
            (PollAction::WakeByRef, _) => cx.waker().wake_by_ref(),
            (PollAction::WakeByValue, _) => {
                let clone = cx.waker().clone();
                clone.wake();
            }
            (PollAction::Abort, Some(abort)) => abort.abort(),
            _ => {}
        }
        match poll_outcome {
            PollOutcome::Pending => Poll::Pending,
            PollOutcome::Ready => Poll::Ready(Output {
                _counted: self.world.outputs.one(),
                world: self.world.clone(),
            }),
            PollOutcome::Panic => panic_with("poll"),
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        if self.world.with(|plan| plan.future_drop_panics) {
            panic_with("future");
        }
    }
}

#[derive(Debug)]
pub(super) struct Output {
    world: World,
    _counted: Counted,
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.world.with(|plan| plan.output_drop_panics) {
            panic_with("output");
        }
    }
}

/// Each task cell holds one, so its count is the number of cells.
pub(super) struct Scheduler {
    world: World,
    _counted: Counted,
}

impl Scheduler {
    pub(super) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            _counted: world.cells.one(),
        }
    }

    fn trigger(&self, fault: Fault) {
        let struck = self.world.with(|plan| {
            let struck = plan.fault == fault;
            if struck {
                plan.fault = Fault::None;
            }
            struck
        });
        if struck {
            panic_with("scheduler");
        }
    }
}

impl Clone for Scheduler {
    fn clone(&self) -> Self {
        self.trigger(Fault::Clone);
        Self::new(&self.world)
    }
}

impl Schedule for Scheduler {
    fn schedule(&self, task: Runnable) {
        self.trigger(Fault::Call);
        self.world.with(|plan| plan.queue.push_back(task));
    }

    fn panicked(&self) {
        self.world.with(|plan| plan.panics_reported += 1);
    }
}

/// When a waker of a [`Joiner`] panics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hazard {
    None,
    Clone,
    Wake,
    Drop,
}

/// A joiner, which counts its wakes.
#[derive(Debug)]
pub(super) struct Joiner {
    pub(super) hazard: Hazard,
    wakes: AtomicUsize,
}

impl Joiner {
    pub(super) fn new(hazard: Hazard) -> Arc<Self> {
        Arc::new(Self {
            hazard,
            wakes: AtomicUsize::new(0),
        })
    }

    pub(super) fn wakes(&self) -> usize {
        // ORDERING: Relaxed: one thread at a time uses it.
        self.wakes.load(Ordering::Relaxed)
    }

    /// Calls `f` with a waker that unwinding does not drop.
    pub(super) fn with_waker<R>(self: &Arc<Self>, f: impl FnOnce(&Waker) -> R) -> R {
        let data = Arc::as_ptr(self).cast();
        // SAFETY: the functions of the table take the pointer for that of an `Arc`. The waker is
        // not dropped, so it may borrow the `Arc`.
        let waker = unsafe { Waker::from_raw(RawWaker::new(data, &JOINER)) };
        f(&std::mem::ManuallyDrop::new(waker))
    }

    fn panic_if(&self, hazard: Hazard) {
        if self.hazard == hazard {
            panic_with("joiner");
        }
    }
}

static JOINER: RawWakerVTable = RawWakerVTable::new(
    |data| {
        let joiner = data.cast::<Joiner>();
        // SAFETY: the waker that is cloned keeps the joiner alive.
        unsafe { &*joiner }.panic_if(Hazard::Clone);
        // SAFETY: as above; the clone owns the reference.
        unsafe { Arc::increment_strong_count(joiner) };
        RawWaker::new(data, &JOINER)
    },
    |data| {
        // SAFETY: the waker gives up its reference.
        let joiner = unsafe { Arc::from_raw(data.cast::<Joiner>()) };
        // ORDERING: Relaxed: one thread at a time uses it.
        joiner.wakes.fetch_add(1, Ordering::Relaxed);
        joiner.panic_if(Hazard::Wake);
        joiner.panic_if(Hazard::Drop);
    },
    |data| {
        // SAFETY: the waker keeps the joiner alive.
        let joiner = unsafe { &*data.cast::<Joiner>() };
        // ORDERING: as above.
        joiner.wakes.fetch_add(1, Ordering::Relaxed);
        joiner.panic_if(Hazard::Wake);
    },
    |data| {
        // SAFETY: the waker gives up its reference.
        let joiner = unsafe { Arc::from_raw(data.cast::<Joiner>()) };
        joiner.panic_if(Hazard::Drop);
    },
);
