//! Whole programs, and the deadlocks that their dumps show.

mod ended;
mod found;
mod healthy;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex as StdMutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use raddle::runtime::dump::Dump;
use raddle::runtime::{Builder, Runtime};

/// The longest time to wait for what has to happen.
const LIMIT: Duration = Duration::from_secs(20);
/// The time after which the programs of `ended` end their waits.
const LATER: Duration = Duration::from_millis(400);

/// Makes a test of each async function, which calls the function of the same name as the list.
macro_rules! programs {
    ($check:ident: $($name:ident)*) => {
        mod tests {
            $(
                #[test]
                fn $name() {
                    crate::task_dumps_programs::$check(super::$name);
                }
            )*
        }
    };
}
pub(super) use programs;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(2).enable_all().enable_task_dumps();
    builder.build().unwrap()
}

/// Takes dumps until `is_done` accepts one.
#[track_caller]
fn dump_until(runtime: &Runtime, mut is_done: impl FnMut(&Dump) -> bool) -> Dump {
    let start = Instant::now();
    loop {
        let dump = runtime.handle().dump().unwrap();
        if is_done(&dump) {
            return dump;
        }
        assert!(start.elapsed() < LIMIT, "{dump}");
        thread::sleep(ms(2));
    }
}

/// Starts the program, and returns the first deadlock that a dump shows.
#[track_caller]
fn first_deadlock<F: Future<Output = ()>>(program: impl Fn() -> F) -> (bool, String) {
    let runtime = runtime();
    runtime.block_on(program());
    let dump = dump_until(&runtime, |dump| !dump.deadlocks().is_empty());
    // It is there to stay.
    thread::sleep(ms(20));
    let later = runtime.handle().dump().unwrap();
    assert!(!later.deadlocks().is_empty(), "{dump}{later}");
    let found = (dump.deadlocks()[0].is_suspected(), dump.to_string());
    runtime.shutdown_background();
    found
}

/// A program whose tasks are in a deadlock for good.
#[track_caller]
fn finds_a_suspected_deadlock<F: Future<Output = ()>>(program: impl Fn() -> F) {
    let (is_suspected, dump) = first_deadlock(program);
    assert!(is_suspected, "{dump}");
    assert!(dump.contains("\n  it may end if "), "{dump}");
}

/// A program whose tasks are in a deadlock that no other code can end.
#[track_caller]
fn finds_a_certain_deadlock<F: Future<Output = ()>>(program: impl Fn() -> F) {
    let (is_suspected, dump) = first_deadlock(program);
    assert!(!is_suspected, "{dump}");
}

/// A program whose tasks seem to wait for each other, and end nevertheless.
#[track_caller]
fn finds_no_certain_deadlock<F: Future<Output = ()>>(program: impl Fn() -> F) {
    let runtime = runtime();
    runtime.block_on(program());
    dump_until(&runtime, |dump| {
        for deadlock in dump.deadlocks() {
            assert!(deadlock.is_suspected(), "{dump}");
        }
        runtime.metrics().num_alive_tasks() == 0
    });
}

/// A program whose tasks make progress until it ends.
#[track_caller]
fn finds_no_deadlock<F: Future<Output = ()>>(program: impl Fn() -> F) {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let (ended, has_ended) = std::sync::mpsc::channel();
    let dumps = thread::spawn(move || {
        let mut count = 0;
        while has_ended.try_recv().is_err() {
            let dump = handle.dump().unwrap();
            assert!(dump.deadlocks().is_empty(), "{dump}");
            count += 1;
            thread::sleep(ms(2));
        }
        count
    });
    runtime.block_on(program());
    ended.send(()).unwrap();
    let count = dumps.join().unwrap();
    assert!(count > 0, "there was no dump");
    runtime.shutdown_background();
}

/// A future of another crate: it records nothing, and keeps a waker until it is set.
#[derive(Clone, Default)]
struct Foreign(Arc<StdMutex<(bool, Option<Waker>)>>);

impl Foreign {
    fn set(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.0 = true;
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// A thread sets it after a while.
    fn set_later() -> Self {
        let foreign = Self::default();
        let set = foreign.clone();
        after(LATER, move || set.set());
        foreign
    }
}

impl Future for Foreign {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// Calls the function on a thread, after a while.
fn after(time: Duration, call: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        thread::sleep(time);
        call();
    });
}

/// Polls the future once.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}
