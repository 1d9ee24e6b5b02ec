//! The output of a task of a scope.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use raddle_leaf::wait::Resource;
use raddle_primitives::sync::{Mutex, Rank};

/// Waits for a task of a [`scope`](crate::scope()), and returns its output.
///
/// Dropping the handle drops only the output: the task runs on, and the scope waits for it.
///
/// # Panics
///
/// Panics if the task was dropped before it completed, with the scope. A handle that is awaited
/// inside the scope does not panic: if a task panics, the whole scope does.
///
/// # Cancel safety
///
/// Awaiting `&mut handle` is cancel safe: if another future is ready first, the output is still
/// there.
pub struct ScopedJoinHandle<T> {
    output: Arc<Mutex<Output<T>>>,
}

struct Output<T> {
    state: State<T>,
    waiter: Option<Waker>,
}

enum State<T> {
    Running,
    Completed(T),
    /// The handle has returned the output.
    Taken,
    /// The task was dropped before it completed.
    Dropped,
}

/// Passes the output of a task to its handle. Dropped before, it tells the handle that there will
/// be none.
pub(crate) struct OutputSender<T> {
    output: Arc<Mutex<Output<T>>>,
}

pub(crate) fn channel<T>() -> (OutputSender<T>, ScopedJoinHandle<T>) {
    let output = Output {
        state: State::Running,
        waiter: None,
    };
    let output = Arc::new(Mutex::ranked(Rank::leaf("output of a scoped task"), output));
    let sender = OutputSender {
        output: output.clone(),
    };
    (sender, ScopedJoinHandle { output })
}

impl<T> OutputSender<T> {
    pub(crate) fn send(self, value: T) {
        self.end(State::Completed(value));
    }

    /// Sets the final state if the task still counts as running, and wakes the handle.
    fn end(&self, state: State<T>) {
        let mut output = self.output.lock();
        if !matches!(output.state, State::Running) {
            return;
        }
        output.state = state;
        let waiter = output.waiter.take();
        drop(output);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl<T> Drop for OutputSender<T> {
    fn drop(&mut self) {
        self.end(State::Dropped);
    }
}

impl<T> ScopedJoinHandle<T> {
    /// Returns whether the task has completed.
    pub fn is_finished(&self) -> bool {
        !matches!(self.output.lock().state, State::Running)
    }
}

impl<T> Future for ScopedJoinHandle<T> {
    type Output = T;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let budget = ready!(raddle_leaf::coop::poll_proceed(cx));
        // Wakers are user code: they are cloned and dropped without the lock.
        let waker = cx.waker().clone();
        let mut output = self.output.lock();
        if let State::Running = output.state {
            let former = output.waiter.replace(waker);
            drop(output);
            drop(former);
            raddle_leaf::wait::note(cx, "ScopedJoinHandle", None, Resource::Unknown);
            return Poll::Pending;
        }
        if let State::Dropped = output.state {
            drop(output);
            panic!(
                "the task of the scope has no output: it panicked, or its runtime has shut down, \
                 or the scope was dropped before the task completed"
            );
        }
        let state = std::mem::replace(&mut output.state, State::Taken);
        drop(output);
        budget.made_progress();
        match state {
            State::Completed(value) => Poll::Ready(value),
            _ => panic!(
                "the handle of a scoped task was polled after it had completed; await it once"
            ),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle")
            .field("is_finished", &self.is_finished())
            .finish()
    }
}
