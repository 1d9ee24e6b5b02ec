//! Channels and locks inside a runtime.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use raddle::runtime::{Builder, Runtime};
use raddle::sync::{Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};

/// One worker each, so that a task that does not yield starves the other.
fn runtimes() -> [Runtime; 2] {
    let pool = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let current = Builder::new_current_thread().enable_all().build();
    [pool.unwrap(), current.unwrap()]
}

/// Runs `busy`, which is pending only when its budget is used up, until another task has run.
fn starves_no_task<F: Future<Output = ()> + Send + 'static>(busy: impl Fn(Arc<AtomicBool>) -> F) {
    for runtime in runtimes() {
        let neighbour_ran = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&neighbour_ran);
        let busy = busy(Arc::clone(&neighbour_ran));
        let both = runtime.spawn(async move {
            let neighbour = raddle::spawn(async move { seen.store(true, SeqCst) });
            busy.await;
            neighbour.await.unwrap();
        });
        runtime.block_on(both).unwrap();
    }
}

#[test]
fn a_channel_that_is_always_ready_starves_no_task() {
    starves_no_task(|neighbour_ran| async move {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        while !neighbour_ran.load(SeqCst) {
            sender.send(1).unwrap();
            assert_eq!(receiver.recv().await, Some(1));
        }
    });
    starves_no_task(|neighbour_ran| async move {
        let (sender, mut receiver) = mpsc::channel(4);
        while !neighbour_ran.load(SeqCst) {
            sender.send(1).await.unwrap();
            assert_eq!(receiver.recv().await, Some(1));
        }
    });
    starves_no_task(|neighbour_ran| async move {
        let (sender, mut receiver) = broadcast::channel(4);
        while !neighbour_ran.load(SeqCst) {
            sender.send(1).unwrap();
            assert_eq!(receiver.recv().await, Ok(1));
        }
    });
    starves_no_task(|neighbour_ran| async move {
        while !neighbour_ran.load(SeqCst) {
            let (sender, receiver) = oneshot::channel();
            sender.send(1).unwrap();
            assert_eq!(receiver.await, Ok(1));
        }
    });
}

#[test]
fn a_lock_that_is_always_free_starves_no_task() {
    starves_no_task(|neighbour_ran| async move {
        let mutex = Mutex::new(());
        while !neighbour_ran.load(SeqCst) {
            drop(mutex.lock().await);
        }
    });
    starves_no_task(|neighbour_ran| async move {
        let lock = RwLock::new(());
        while !neighbour_ran.load(SeqCst) {
            drop(lock.read().await);
            drop(lock.write().await);
        }
    });
    starves_no_task(|neighbour_ran| async move {
        let semaphore = Semaphore::new(2);
        while !neighbour_ran.load(SeqCst) {
            drop(semaphore.acquire().await.unwrap());
        }
    });
}

#[test]
fn a_notify_or_watch_that_is_always_ready_starves_no_task() {
    starves_no_task(|neighbour_ran| async move {
        let notify = Notify::new();
        while !neighbour_ran.load(SeqCst) {
            notify.notify_one();
            notify.notified().await;
        }
    });
    starves_no_task(|neighbour_ran| async move {
        let (sender, mut receiver) = watch::channel(0);
        while !neighbour_ran.load(SeqCst) {
            sender.send(1).unwrap();
            receiver.changed().await.unwrap();
        }
    });
}

#[test]
fn send_timeout_waits_for_its_timeout() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let (sender, mut receiver) = mpsc::channel(1);
            sender.send_timeout(1, Duration::MAX).await.unwrap();
            let late = sender.send_timeout(2, Duration::from_millis(5)).await;
            assert_eq!(late, Err(mpsc::error::SendTimeoutError::Timeout(2)));
            assert_eq!(receiver.recv().await, Some(1));
            sender.send_timeout(3, Duration::ZERO).await.unwrap();
            drop(receiver);
            let closed = sender.send_timeout(4, Duration::from_secs(60)).await;
            assert_eq!(closed, Err(mpsc::error::SendTimeoutError::Closed(4)));
        });
    }
}

#[test]
fn blocking_methods_panic_inside_a_worker() {
    for runtime in runtimes() {
        let (sender, mut receiver) = mpsc::channel::<u32>(1);
        let refused = runtime.block_on(runtime.spawn(async move { receiver.blocking_recv() }));
        let panic = refused.unwrap_err().into_panic();
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        assert!(
            message.unwrap().contains("block"),
            "the message does not contain \"block\""
        );
        drop(sender);
        // On a blocking thread it may block.
        let (sender, mut receiver) = mpsc::channel(1);
        let received = runtime.spawn_blocking(move || receiver.blocking_recv());
        runtime.block_on(async {
            sender.send(5).await.unwrap();
            assert_eq!(received.await.unwrap(), Some(5));
        });
    }
}
