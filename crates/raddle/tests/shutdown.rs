//! Shutdown of a runtime.
#![cfg(not(raddle_loom))]
#![allow(clippy::disallowed_types, reason = "never modelled")]

mod common;

use std::future::{Future, pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use common::{Live, current_thread, each_flavor, eventually, multi_thread};
use raddle::io::AsyncReadExt;
use raddle::net::{TcpListener, TcpStream};
use raddle::runtime::{Handle, Runtime, is_rt_shutdown_err};
use raddle::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn dropping_the_runtime_drops_every_task() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let live = Live::new(&count);
            runtime.spawn(async move {
                let _live = live;
                pending::<()>().await;
            });
        }
        runtime.block_on(async { raddle::task::yield_now().await });
        drop(runtime);
        assert_eq!(count.load(SeqCst), 0);
    });
}

#[test]
fn a_future_dropped_by_shutdown_has_its_runtime_current() {
    struct Asks(Arc<AtomicUsize>);
    impl Drop for Asks {
        fn drop(&mut self) {
            let found = raddle::runtime::Handle::try_current().is_ok();
            self.0.fetch_add(usize::from(found), SeqCst);
        }
    }
    each_flavor(|runtime| {
        let found = Arc::new(AtomicUsize::new(0));
        let asks = Asks(Arc::clone(&found));
        runtime.spawn(async move {
            let _asks = asks;
            pending::<()>().await;
        });
        runtime.block_on(async { raddle::task::yield_now().await });
        drop(runtime);
        assert_eq!(found.load(SeqCst), 1);
    });
}

/// The drop does not panic even if the wakers that the driver wakes at shutdown do.
#[test]
fn wakers_that_panic_do_not_make_the_drop_panic() {
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker's panic");
        }
    }
    each_flavor(|runtime| {
        let panics = Waker::from(Arc::new(Panics));
        let mut cx = std::task::Context::from_waker(&panics);
        let mut sleeps = Vec::new();
        let mut accepts = Vec::new();
        let entered = runtime.enter();
        for _ in 0..3 {
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            let mut accept = Box::pin(async move { listener.accept().await });
            assert!(accept.as_mut().poll(&mut cx).is_pending());
            accepts.push(accept);
            let mut wait = Box::pin(sleep(HOUR));
            assert!(wait.as_mut().poll(&mut cx).is_pending());
            sleeps.push(wait);
        }
        drop(entered);
        drop(runtime);
        let mut cx = std::task::Context::from_waker(Waker::noop());
        for accept in &mut accepts {
            let Poll::Ready(Err(error)) = accept.as_mut().poll(&mut cx) else {
                panic!("the listener waits");
            };
            assert!(is_rt_shutdown_err(&error));
        }
    });
}

#[test]
fn a_shutdown_wakes_the_join_handle() {
    each_flavor(|runtime| {
        let task = runtime.spawn(pending::<()>());
        drop(runtime);
        let other = current_thread().build().unwrap();
        assert!(other.block_on(task).unwrap_err().is_cancelled());
    });
}

/// Starts blocking work that ends when the returned sender is dropped.
fn blocked(runtime: &Runtime) -> std::sync::mpsc::Sender<()> {
    let (begun, has_begun) = channel();
    let (open, gate) = channel::<()>();
    runtime.spawn_blocking(move || {
        begun.send(()).unwrap();
        let _ = gate.recv();
    });
    has_begun.recv().unwrap();
    open
}

#[test]
fn shutdown_timeout_returns_while_blocking_work_runs() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        let live = Live::new(&count);
        runtime.spawn(async move {
            let _live = live;
            pending::<()>().await;
        });
        let open = blocked(&runtime);
        runtime.shutdown_timeout(Duration::from_millis(5));
        eventually("the task is dropped", || count.load(SeqCst) == 0);
        drop(open);
    });
}

#[test]
fn shutdown_timeout_returns_early_if_all_work_has_ended() {
    each_flavor(|runtime| {
        runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
        runtime.shutdown_timeout(HOUR);
    });
}

#[test]
fn shutdown_background_does_not_wait() {
    each_flavor(|runtime| {
        let open = blocked(&runtime);
        runtime.shutdown_background();
        drop(open);
    });
}

#[test]
fn shutdown_timeout_returns_while_a_poll_does_not() {
    let runtime = multi_thread().build().unwrap();
    let (begun, has_begun) = channel();
    let (open, gate) = channel::<()>();
    runtime.spawn(async move {
        begun.send(()).unwrap();
        let _ = gate.recv();
    });
    has_begun.recv().unwrap();
    runtime.shutdown_timeout(Duration::from_millis(5));
    drop(open);
}

#[test]
fn drop_waits_for_blocking_work() {
    each_flavor(|runtime| {
        let done = Arc::new(AtomicUsize::new(0));
        let (begun, has_begun) = channel();
        let count = Arc::clone(&done);
        runtime.spawn_blocking(move || {
            begun.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(10));
            count.fetch_add(1, SeqCst);
        });
        has_begun.recv().unwrap();
        drop(runtime);
        assert_eq!(done.load(SeqCst), 1);
    });
}

#[test]
fn a_runtime_may_be_dropped_in_async_code_and_in_blocking_work() {
    let outer = multi_thread().build().unwrap();
    for ends in [
        (|runtime| drop(runtime)) as fn(Runtime),
        |runtime| runtime.shutdown_background(),
        |runtime| runtime.shutdown_timeout(HOUR),
    ] {
        each_flavor(|runtime| {
            // Waiting for this blocking work would never return here.
            let open = blocked(&runtime);
            outer.block_on(async { ends(runtime) });
            drop(open);
        });
        each_flavor(|runtime| {
            let open = blocked(&runtime);
            outer
                .block_on(outer.spawn(async move { ends(runtime) }))
                .unwrap();
            drop(open);
        });
        each_flavor(|runtime| {
            let open = blocked(&runtime);
            let work = outer.spawn_blocking(move || ends(runtime));
            outer.block_on(work).unwrap();
            drop(open);
        });
    }
}

#[test]
fn a_runtime_may_be_dropped_by_its_own_blocking_work_or_task() {
    let count = Arc::new(AtomicUsize::new(0));
    for in_task in [true, false] {
        let runtime = Arc::new(multi_thread().build().unwrap());
        let live = Live::new(&count);
        runtime.spawn(async move {
            let _live = live;
            pending::<()>().await;
        });
        let (sender, receiver) = channel::<Arc<Runtime>>();
        let (done, is_done) = channel();
        let ends = move || {
            drop(receiver.recv().unwrap());
            done.send(()).unwrap();
        };
        if in_task {
            runtime.spawn(async move { ends() });
        } else {
            runtime.spawn_blocking(ends);
        }
        sender.send(runtime).unwrap();
        is_done.recv().unwrap();
    }
    eventually("the tasks are dropped", || count.load(SeqCst) == 0);
}

/// tokio 1972, 2074, 2082.
#[test]
fn a_dropped_future_may_wake_spawn_and_lock() {
    /// Its drop takes the lock, wakes the other task and spawns a task.
    struct Tangled(Arc<Mutex<Option<Waker>>>);
    impl Drop for Tangled {
        fn drop(&mut self) {
            let mut waker = self.0.lock().unwrap();
            if let Some(waker) = waker.take() {
                waker.wake();
            }
            raddle::spawn(async { unreachable!("the runtime is ending") });
        }
    }
    each_flavor(|runtime| {
        let waker = Arc::new(Mutex::new(None));
        for _ in 0..2 {
            let tangled = Tangled(Arc::clone(&waker));
            let waker = Arc::clone(&waker);
            runtime.spawn(async move {
                let _tangled = tangled;
                poll_fn(|cx| {
                    *waker.lock().unwrap() = Some(cx.waker().clone());
                    Poll::<()>::Pending
                })
                .await;
            });
        }
        runtime.block_on(async {
            for _ in 0..10 {
                raddle::task::yield_now().await;
            }
        });
        let _guard = runtime.handle().clone();
        drop(runtime);
        assert_eq!(Arc::strong_count(&waker), 1);
    });
}

/// compio 489.
#[test]
fn a_waker_may_be_used_after_shutdown() {
    static KEPT: Mutex<Vec<Waker>> = Mutex::new(Vec::new());
    let count = Arc::new(AtomicUsize::new(0));
    each_flavor(|runtime| {
        let live = Live::new(&count);
        let (sender, receiver) = channel();
        runtime.spawn(async move {
            let _live = live;
            poll_fn(|cx| {
                KEPT.lock().unwrap().push(cx.waker().clone());
                let _ = sender.send(());
                Poll::<()>::Pending
            })
            .await;
        });
        runtime.block_on(async {
            while receiver.try_recv().is_err() {
                raddle::task::yield_now().await;
            }
        });
    });
    assert_eq!(count.load(SeqCst), 0);
    let wakers = std::mem::take(&mut *KEPT.lock().unwrap());
    assert_eq!(wakers.len(), common::builders().len());
    for waker in wakers {
        waker.wake_by_ref();
        let clone = waker.clone();
        waker.wake();
        drop(clone);
    }
}

#[test]
fn sockets_and_timers_may_be_dropped_after_shutdown() {
    each_flavor(|runtime| {
        let (listener, sleep) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            (listener, Box::pin(sleep(HOUR)))
        });
        drop(runtime);
        let other = current_thread().build().unwrap();
        let error = other.block_on(listener.accept()).unwrap_err();
        assert!(error.to_string().contains("shut"), "{error}");
        assert!(is_rt_shutdown_err(&error));
        assert!(!is_rt_shutdown_err(&std::io::Error::other(
            error.to_string()
        )));
        drop((listener, sleep));
    });
}

/// 2535, 3477: driver, wakers and runtime do not form a reference cycle.
#[test]
fn a_hundred_runtimes_leak_nothing() {
    let count = Arc::new(AtomicUsize::new(0));
    for round in 0..100 {
        let mut builder = match round % 2 {
            0 => multi_thread(),
            _ => current_thread(),
        };
        let runtime = builder.build().unwrap();
        for i in 0..20 {
            let live = Live::new(&count);
            runtime.spawn(async move {
                let _live = live;
                sleep(HOUR + Duration::from_millis(i)).await;
            });
        }
        let (here, there) = (Live::new(&count), Live::new(&count));
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            raddle::spawn(async move {
                let _live = here;
                let (_open, _) = listener.accept().await.unwrap();
                pending::<()>().await;
            });
            let mut stream = TcpStream::connect(address).await.unwrap();
            raddle::spawn(async move {
                let _live = there;
                stream.read(&mut [0; 8]).await.unwrap()
            });
            raddle::task::yield_now().await;
        });
        drop(runtime);
        assert_eq!(count.load(SeqCst), 0);
    }
}

#[test]
fn a_runtime_may_be_shut_down_while_it_is_entered() {
    each_flavor(|runtime| {
        let handle = runtime.handle().clone();
        let _entered = runtime.enter();
        runtime.shutdown_timeout(HOUR);
        assert_eq!(Handle::current().id(), handle.id());
    });
}
