//! An executor with one queue, and counters of live objects.
#![allow(dead_code, reason = "each file of tests uses a part of it")]

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::Mutex;
use raddle_task::{JoinError, JoinHandle, Outcome, Runnable, Schedule};

/// Counts live objects of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    /// Counts one more object, until the returned value is dropped.
    pub(crate) fn one(&self) -> Counted {
        self.0.fetch_add(1, Ordering::SeqCst);
        Counted(self.clone())
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A counted object.
#[derive(Debug)]
pub(crate) struct Counted(Count);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.one()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.0.0.fetch_sub(1, Ordering::SeqCst);
        assert_ne!(before, 0, "something was dropped twice");
    }
}

/// A queue of runnables. Each cell has a clone of the executor's scheduler, so counting the
/// schedulers counts the cells.
#[derive(Clone, Debug)]
pub(crate) struct Executor {
    queue: Arc<Mutex<VecDeque<Runnable>>>,
    pub(crate) cells: Count,
    pub(crate) futures: Count,
    pub(crate) outputs: Count,
    /// The number of panics that were reported to the scheduler.
    pub(crate) panics: Arc<AtomicUsize>,
}

impl Executor {
    pub(crate) fn new() -> Self {
        Self {
            queue: Arc::default(),
            cells: Count::default(),
            futures: Count::default(),
            outputs: Count::default(),
            panics: Arc::default(),
        }
    }

    pub(crate) fn scheduler(&self) -> Scheduler {
        Scheduler {
            queue: self.queue.clone(),
            panics: self.panics.clone(),
            _counted: self.cells.one(),
        }
    }

    /// Makes a task, and leaves the runnable to the caller.
    pub(crate) fn task<F>(&self, future: F) -> (Runnable, JoinHandle<F::Output>)
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let future = Watched {
            future,
            _counted: self.futures.one(),
        };
        raddle_task::spawn(future, self.scheduler())
    }

    /// Makes a task and queues it.
    pub(crate) fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (task, handle) = self.task(future);
        self.push(task);
        handle
    }

    pub(crate) fn push(&self, task: Runnable) {
        self.queue.lock().push_back(task);
    }

    pub(crate) fn pop(&self) -> Option<Runnable> {
        self.queue.lock().pop_front()
    }

    pub(crate) fn queued(&self) -> usize {
        self.queue.lock().len()
    }

    /// Runs one task.
    pub(crate) fn run_one(&self) -> bool {
        let Some(task) = self.pop() else {
            return false;
        };
        if let Outcome::Again(task) = task.run() {
            self.push(task);
        }
        true
    }

    /// Runs tasks until all are idle.
    pub(crate) fn run(&self) {
        while self.run_one() {}
    }

    /// Checks that nothing is left.
    #[track_caller]
    pub(crate) fn check(&self) {
        assert_eq!(self.queued(), 0, "runnables are left");
        assert_eq!(self.futures.get(), 0, "futures are left");
        assert_eq!(self.outputs.get(), 0, "outputs are left");
        assert_eq!(self.cells.get(), 0, "cells are left");
    }
}

#[derive(Clone)]
pub(crate) struct Scheduler {
    queue: Arc<Mutex<VecDeque<Runnable>>>,
    panics: Arc<AtomicUsize>,
    _counted: Counted,
}

impl Schedule for Scheduler {
    fn schedule(&self, task: Runnable) {
        self.queue.lock().push_back(task);
    }

    fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }
}

struct Watched<F> {
    future: F,
    _counted: Counted,
}

impl<F: Future> Future for Watched<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the field is pinned with the whole, and never moved out.
        unsafe { self.map_unchecked_mut(|watched| &mut watched.future) }.poll(cx)
    }
}

/// Polls a handle once.
pub(crate) fn poll<T>(handle: &mut JoinHandle<T>) -> Poll<Result<T, JoinError>> {
    poll_with(handle, Waker::noop())
}

pub(crate) fn poll_with<T>(
    handle: &mut JoinHandle<T>,
    waker: &Waker,
) -> Poll<Result<T, JoinError>> {
    Pin::new(handle).poll(&mut Context::from_waker(waker))
}

/// Returns the output of a task that must be complete.
#[track_caller]
pub(crate) fn join<T>(mut handle: JoinHandle<T>) -> Result<T, JoinError> {
    match poll(&mut handle) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the task is not complete"),
    }
}

/// A future that gives out its waker, and is ready once the gate is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<GateState>>);

#[derive(Debug, Default)]
struct GateState {
    waker: Option<Waker>,
    open: bool,
    polls: usize,
}

impl Gate {
    /// The waker of the last poll.
    pub(crate) fn waker(&self) -> Waker {
        self.0.lock().waker.take().expect("the gate was not polled")
    }

    pub(crate) fn open(&self) {
        self.0.lock().open = true;
    }

    pub(crate) fn polls(&self) -> usize {
        self.0.lock().polls
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut state = self.0.lock();
        state.polls += 1;
        let former = state.waker.replace(waker);
        let open = state.open;
        drop(state);
        drop(former);
        if open { Poll::Ready(()) } else { Poll::Pending }
    }
}
