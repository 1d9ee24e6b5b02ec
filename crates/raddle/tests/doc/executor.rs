// The executor of the layers' examples, included by `tests/doc/raddle.rs` of each layer.
//
// Those examples use paths of the facade, since its users read them. A layer's tests depend on
// nothing above the layer: `raddle` is a module there, with the layer's types and this executor.

/// Runs an example and the tasks that it spawns, all on this thread. `wait` waits for an event of
/// the layer, or for a wake by another thread, but a few milliseconds at most.
pub fn run_with<F: Future>(example: F, mut wait: impl FnMut()) -> F::Output {
    use std::task::{Context, Poll, Wake, Waker};
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(std::sync::Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut example = std::pin::pin!(example);
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

type Task = std::pin::Pin<Box<dyn Future<Output = ()>>>;

std::thread_local! {
    static SPAWNED: std::cell::RefCell<Vec<Task>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Spawns a task of the example.
pub fn spawn<F: Future<Output: 'static> + 'static>(future: F) -> JoinHandle<F::Output> {
    let output = std::rc::Rc::new(std::cell::Cell::new(None));
    let place = output.clone();
    let task = async move { place.set(Some(future.await)) };
    SPAWNED.with_borrow_mut(|tasks| tasks.push(Box::pin(task)));
    JoinHandle(output)
}

/// The output of a task. It registers no waker: the executor polls it until it is ready.
pub struct JoinHandle<T>(std::rc::Rc<std::cell::Cell<Option<T>>>);

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, std::convert::Infallible>;

    fn poll(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        match self.0.take() {
            Some(output) => std::task::Poll::Ready(Ok(output)),
            None => std::task::Poll::Pending,
        }
    }
}

pub mod task {
    pub use super::spawn;

    /// Lets the other tasks run once.
    pub async fn yield_now() {
        let mut yielded = false;
        std::future::poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut yielded, true) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await
    }
}
