//! The executor of the layers' examples.
//!
//! Those examples use paths of the facade, since its users read them. A layer depends on nothing
//! above it: in `tests/doc/raddle.rs` of the layer, `raddle` is a module with the layer's types and
//! this executor.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::fmt;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Runs an example and the tasks that it spawns, all on this thread. `wait` waits for an event of
/// the layer, or for a wake by another thread, but a few milliseconds at most.
pub fn run_with<F: Future>(example: F, mut wait: impl FnMut()) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut example = pin!(example);
    let mut tasks = Vec::new();
    loop {
        if let Poll::Ready(output) = example.as_mut().poll(&mut cx) {
            return output;
        }
        let spawned = SPAWNED.take();
        let any_new = !spawned.is_empty();
        tasks.extend(spawned);
        tasks.retain_mut(|task| task.as_mut().poll(&mut cx).is_pending());
        if !any_new {
            wait();
        }
    }
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

std::thread_local! {
    static SPAWNED: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
}

/// Spawns a task of the example.
pub fn spawn<F: Future<Output: 'static> + 'static>(future: F) -> JoinHandle<F::Output> {
    let output = Rc::new(Cell::new(None));
    let place = output.clone();
    let task = async move { place.set(Some(future.await)) };
    SPAWNED.with_borrow_mut(|tasks| tasks.push(Box::pin(task)));
    JoinHandle(output)
}

/// The output of a task. It registers no waker: the executor polls it until it is ready.
pub struct JoinHandle<T>(Rc<Cell<Option<T>>>);

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, Infallible>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        match self.0.take() {
            Some(output) => Poll::Ready(Ok(output)),
            None => Poll::Pending,
        }
    }
}

/// Lets the other tasks of the example run once.
///
/// # Cancel safety
///
/// The future holds nothing: dropping it has no effect.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await
}
