//! The user code that a task calls, any of which panics on request.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use raddle_primitives::sync::Mutex;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_task::{AbortHandle, Runnable, Schedule};

/// Panics without a message on the terminal.
pub(super) fn panic_with(text: &'static str) -> ! {
    resume_unwind(Box::new(text))
}

/// Counts live objects of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Count(Arc<AtomicUsize>);

impl Count {
    pub(super) fn one(&self) -> Counted {
        // ORDERING: one thread at a time looks.
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

/// What a poll comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Verdict {
    #[default]
    Pending,
    Ready,
    Panic,
}

/// What a poll does first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Deed {
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

/// What the callbacks are to do, and what they have done.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) deed: Deed,
    pub(super) verdict: Verdict,
    pub(super) future_drop_panics: bool,
    pub(super) output_drop_panics: bool,
    /// Taken by the wake that it strikes.
    pub(super) fault: Fault,
    /// The waker of each poll.
    pub(super) wakers: Vec<Waker>,
    pub(super) abort: Option<AbortHandle>,
    pub(super) polls: usize,
    pub(super) panics_reported: usize,
    pub(super) queue: VecDeque<Runnable>,
}

/// The plan, and counts of what is alive.
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
        let (deed, verdict, abort) = self.world.with(|plan| {
            plan.polls += 1;
            plan.wakers.push(waker);
            (plan.deed, plan.verdict, plan.abort.clone())
        });
        match (deed, abort) {
            (Deed::WakeByRef, _) => cx.waker().wake_by_ref(),
            (Deed::WakeByValue, _) => {
                let clone = cx.waker().clone();
                clone.wake();
            }
            (Deed::Abort, Some(abort)) => abort.abort(),
            _ => {}
        }
        match verdict {
            Verdict::Pending => Poll::Pending,
            Verdict::Ready => Poll::Ready(Output {
                _counted: self.world.outputs.one(),
                world: self.world.clone(),
            }),
            Verdict::Panic => panic_with("poll"),
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

/// Each cell holds one, so that they count cells.
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

    fn strike(&self, fault: Fault) {
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
        self.strike(Fault::Clone);
        Self::new(&self.world)
    }
}

impl Schedule for Scheduler {
    fn schedule(&self, task: Runnable) {
        self.strike(Fault::Call);
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
        // ORDERING: one thread at a time looks.
        self.wakes.load(Ordering::Relaxed)
    }

    /// A waker that is not dropped by unwinding.
    pub(super) fn with_waker<R>(self: &Arc<Self>, f: impl FnOnce(&Waker) -> R) -> R {
        let data = Arc::as_ptr(self).cast();
        // SAFETY: the table's functions take the pointer for an `Arc`'s, and the
        // waker is not dropped, so that it may borrow it.
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
        // SAFETY: the waker that is cloned keeps it alive.
        unsafe { &*joiner }.panic_if(Hazard::Clone);
        // SAFETY: as above; the clone owns the reference.
        unsafe { Arc::increment_strong_count(joiner) };
        RawWaker::new(data, &JOINER)
    },
    |data| {
        // SAFETY: the waker gives its reference up.
        let joiner = unsafe { Arc::from_raw(data.cast::<Joiner>()) };
        // ORDERING: one thread at a time looks.
        joiner.wakes.fetch_add(1, Ordering::Relaxed);
        joiner.panic_if(Hazard::Wake);
        joiner.panic_if(Hazard::Drop);
    },
    |data| {
        // SAFETY: the waker keeps it alive.
        let joiner = unsafe { &*data.cast::<Joiner>() };
        // ORDERING: as above.
        joiner.wakes.fetch_add(1, Ordering::Relaxed);
        joiner.panic_if(Hazard::Wake);
    },
    |data| {
        // SAFETY: the waker gives its reference up.
        let joiner = unsafe { Arc::from_raw(data.cast::<Joiner>()) };
        joiner.panic_if(Hazard::Drop);
    },
);
