//! Tests that waiters and messages leave no memory behind in a channel or lock.
#![cfg(not(raddle_loom))]

mod held;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use held::held;
use raddle_sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, oneshot, watch,
};

const WAITERS: usize = 10_000;

/// Returns the number of bytes that are held after many futures have waited, beyond those after a
/// few.
fn left_by<F: Future>(wait: impl Fn() -> F, release: impl Fn()) -> isize {
    let wait_and_release = |count: usize| {
        let mut waiting: Vec<Pin<Box<F>>> = (0..count).map(|_| Box::pin(wait())).collect();
        let cx = &mut Context::from_waker(Waker::noop());
        for wait in &mut waiting {
            assert!(wait.as_mut().poll(cx).is_pending());
        }
        // Some futures have been released; the others are dropped while they are queued.
        let rest = waiting.split_off(count / 2);
        drop(rest);
        release();
    };
    wait_and_release(2);
    let before = held();
    wait_and_release(WAITERS);
    held() - before
}

#[test]
fn waiters_and_messages_leave_no_storage_behind() {
    let notify = Notify::new();
    let semaphore = Semaphore::new(0);
    let mutex = Arc::new(Mutex::new(()));
    let _held = mutex.clone().try_lock_owned().unwrap();
    let lock = Arc::new(RwLock::new(()));
    let _written = lock.clone().try_write_owned().unwrap();
    let cell = OnceCell::<u8>::new();
    let mut initialises = Box::pin(cell.get_or_init(std::future::pending));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(initialises.as_mut().poll(cx).is_pending());
    let (sender, _receiver) = mpsc::channel::<u8>(1);
    sender.try_send(1).unwrap();
    let (values, mut watched) = watch::channel(1);
    watched.mark_unchanged();
    let (news, _news) = broadcast::channel::<u8>(1);
    let barrier = Barrier::new(usize::MAX);
    let left = [
        (
            "notify",
            left_by(|| notify.notified(), || notify.notify_waiters()),
        ),
        ("semaphore", left_by(|| semaphore.acquire(), || {})),
        ("mutex", left_by(|| mutex.lock(), || {})),
        ("rwlock", left_by(|| lock.read(), || {})),
        ("once", left_by(|| cell.get_or_init(async || 1), || {})),
        ("mpsc", left_by(|| sender.reserve(), || {})),
        ("closed", left_by(|| sender.closed(), || {})),
        (
            "watch",
            left_by(
                || {
                    let mut receiver = values.subscribe();
                    async move { receiver.changed().await }
                },
                || {
                    values.send_replace(2);
                },
            ),
        ),
        (
            "broadcast",
            left_by(
                || {
                    let mut receiver = news.subscribe();
                    async move { receiver.recv().await }
                },
                || drop(news.send(2)),
            ),
        ),
        ("barrier", left_by(|| barrier.wait(), || {})),
    ];
    assert_eq!(left.map(|(_, left)| left), [0; 10], "{left:?}");

    // Messages leave no blocks behind, apart from a spare one.
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut pass = |rounds: usize, messages: usize| {
        for _ in 0..rounds {
            (0..messages).for_each(|message| sender.send(message).unwrap());
            (0..messages).for_each(|message| assert_eq!(receiver.try_recv(), Ok(message)));
        }
    };
    pass(100, 1);
    let before = held();
    pass(WAITERS, 1);
    pass(10, 1_000);
    assert_eq!(held() - before, 0, "blocks");
    for received in [0, 50] {
        for closes_first in [false, true] {
            let before = held();
            let (sender, mut receiver) = mpsc::unbounded_channel();
            (0..100).for_each(|message| sender.send(message).unwrap());
            (0..received).for_each(|message| assert_eq!(receiver.try_recv(), Ok(message)));
            if closes_first {
                drop(receiver);
                sender.send(100).unwrap_err();
                drop(sender);
            } else {
                drop(sender);
                drop(receiver);
            }
            assert_eq!(held() - before, 0, "a channel");
        }
    }
}

/// Covers the ways to end a oneshot channel. Its memory is held while one of its ends exists.
#[test]
fn oneshot_channels_leave_no_storage_behind() {
    let cx = &mut Context::from_waker(Waker::noop());
    for way in 0..32 {
        let (receives, closes) = (way & 1 != 0, way & 2 != 0);
        let (sends, tries, sender_first) = (way & 4 != 0, way & 8 != 0, way & 16 != 0);
        let before = held();
        let (mut sender, mut receiver) = oneshot::channel::<u32>();
        if receives {
            assert!(Pin::new(&mut receiver).poll(cx).is_pending());
            assert!(sender.poll_closed(cx).is_pending());
        }
        if closes {
            receiver.close();
        }
        if sender_first {
            if sends {
                assert_eq!(sender.send(1).is_ok(), !closes);
            } else {
                drop(sender);
            }
            assert!(held() > before);
            if tries {
                assert_eq!(receiver.try_recv().is_ok(), sends && !closes);
            }
            drop(receiver);
        } else {
            if tries {
                assert!(receiver.try_recv().is_err());
            }
            drop(receiver);
            assert!(held() > before);
            if sends {
                assert_eq!(sender.send(1), Err(1));
            } else {
                drop(sender);
            }
        }
        assert_eq!(held() - before, 0, "{way}");
    }
}
