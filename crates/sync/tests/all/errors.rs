//! Tests of the messages of the errors.

use std::error::Error;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use raddle_sync::{
    Mutex, OnceCell, RwLock, Semaphore, SetOnce, TryAcquireError, broadcast, mpsc, oneshot, watch,
};

/// Returns the output of a future that is ready at its first poll.
#[track_caller]
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future waits"),
    }
}

/// Checks the `Display` and `Debug` texts of an error.
#[track_caller]
fn check(error: impl Error, display: &str, debug: &str) {
    assert_eq!(error.to_string(), display);
    assert_eq!(format!("{error:?}"), debug);
}

#[test]
fn errors_of_mpsc_name_the_cause_and_hide_the_message() {
    let (sender, mut receiver) = mpsc::channel(1);
    check(
        receiver.try_recv().unwrap_err(),
        "receiving on an empty channel",
        "Empty",
    );
    sender.try_send(1).unwrap();
    let full = sender.try_send(2).unwrap_err();
    check(full, "no available capacity", "Full(..)");
    assert_eq!(full.into_inner(), 2);
    receiver.close();
    let closed = sender.try_send(3).unwrap_err();
    check(closed, "channel closed", "Closed(..)");
    assert_eq!(closed.into_inner(), 3);
    let closed = now(sender.send(4)).unwrap_err();
    check(closed, "channel closed", "SendError { .. }");
    let closed = mpsc::error::TrySendError::from(closed);
    assert_eq!(closed, mpsc::error::TrySendError::Closed(4));
    assert_eq!(receiver.try_recv(), Ok(1));
    check(
        receiver.try_recv().unwrap_err(),
        "receiving on a closed channel",
        "Disconnected",
    );
}

#[test]
fn errors_of_a_send_with_a_timeout_name_the_cause_and_hide_the_message() {
    use mpsc::error::SendTimeoutError;
    let late = SendTimeoutError::Timeout(1);
    check(late, "timed out waiting on send operation", "Timeout(..)");
    assert_eq!(late.into_inner(), 1);
    let closed = SendTimeoutError::Closed(2);
    check(closed, "channel closed", "Closed(..)");
    assert_eq!(closed.into_inner(), 2);
}

#[test]
fn errors_of_broadcast_name_the_cause() {
    let (sender, mut receiver) = broadcast::channel(1);
    check(receiver.try_recv().unwrap_err(), "channel empty", "Empty");
    for value in 0..4 {
        sender.send(value).unwrap();
    }
    let mut other = receiver.resubscribe();
    check(
        receiver.try_recv().unwrap_err(),
        "channel lagged by 3",
        "Lagged(3)",
    );
    sender.send(4).unwrap();
    check(
        now(receiver.recv()).unwrap_err(),
        "channel lagged by 1",
        "Lagged(1)",
    );
    drop((sender, receiver));
    assert_eq!(other.try_recv(), Ok(4));
    check(other.try_recv().unwrap_err(), "channel closed", "Closed");
    check(now(other.recv()).unwrap_err(), "channel closed", "Closed");
    let refused = broadcast::Sender::new(1).send(7).unwrap_err();
    check(refused, "channel closed", "SendError(7)");
}

#[test]
fn errors_of_oneshot_name_the_cause() {
    let (sender, mut receiver) = oneshot::channel::<u32>();
    check(receiver.try_recv().unwrap_err(), "channel empty", "Empty");
    drop(sender);
    check(receiver.try_recv().unwrap_err(), "channel closed", "Closed");
    let (sender, receiver) = oneshot::channel::<u32>();
    drop(sender);
    check(
        now(receiver).unwrap_err(),
        "channel closed",
        "RecvError(())",
    );
}

#[test]
fn errors_of_watch_name_the_cause_and_hide_the_value() {
    let (sender, mut receiver) = watch::channel(1);
    drop(sender);
    check(
        now(receiver.changed()).unwrap_err(),
        "channel closed",
        "RecvError(())",
    );
    let (sender, _) = watch::channel(1);
    check(
        sender.send(2).unwrap_err(),
        "channel closed",
        "SendError { .. }",
    );
}

#[test]
fn errors_of_a_semaphore_name_the_cause() {
    let semaphore = Semaphore::new(0);
    let none = semaphore.try_acquire().unwrap_err();
    assert_eq!(none, TryAcquireError::NoPermits);
    check(
        none,
        "too few permits are available; await acquire",
        "NoPermits",
    );
    semaphore.close();
    check(
        semaphore.try_acquire().unwrap_err(),
        "the semaphore is closed",
        "Closed",
    );
    check(
        now(semaphore.acquire()).unwrap_err(),
        "the semaphore is closed",
        "AcquireError(())",
    );
}

#[test]
fn errors_of_locks_name_the_remedy() {
    const TEXT: &str = "the lock is held or awaited by another; await it";
    let mutex = Mutex::new(());
    let _held = mutex.try_lock().unwrap();
    check(mutex.try_lock().unwrap_err(), TEXT, "TryLockError(())");
    let lock = RwLock::new(());
    let _held = lock.try_read().unwrap();
    check(lock.try_write().unwrap_err(), TEXT, "TryLockError(())");
}

#[test]
fn errors_of_cells_name_the_cause() {
    let cell = OnceCell::new();
    {
        let mut making = pin!(cell.get_or_init(std::future::pending));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(making.as_mut().poll(&mut cx).is_pending());
        let refused = cell.set(1).unwrap_err();
        assert!(refused.is_initializing_err() && !refused.is_already_init_err());
        check(
            refused,
            "the cell's value is being made",
            "InitializingError(1)",
        );
    }
    cell.set(2).unwrap();
    let refused = cell.set(3).unwrap_err();
    assert!(refused.is_already_init_err() && !refused.is_initializing_err());
    check(
        refused,
        "the cell holds a value already",
        "AlreadyInitializedError(3)",
    );
    let cell = SetOnce::new();
    cell.set(1).unwrap();
    check(
        cell.set(2).unwrap_err(),
        "the cell is set already",
        "SetOnceError(2)",
    );
}
