//! Tests that waiters and messages leave no memory behind in a channel or lock.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use raddle_sync::{
    Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpmc, mpsc, oneshot,
    watch,
};

use crate::held::held;

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
    // As many as there are waiter shards, which stay.
    wait_and_release(16);
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
    let (queue, _queued) = mpmc::channel::<u8>(1);
    queue.try_send(1).unwrap();
    let (_empty, empties) = mpmc::channel::<u8>(1);
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
        ("mpmc send", left_by(|| queue.send(1), || {})),
        ("mpmc recv", left_by(|| empties.recv(), || {})),
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
    assert_eq!(left.map(|(_, left)| left), [0; 12], "{left:?}");

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

/// Each value is counted with what it has allocated.
#[test]
fn a_new_channel_or_lock_takes_about_what_tokio_s_takes() {
    fn size<T>(make: impl Fn() -> T) -> usize {
        let before = held();
        let made = make();
        let held = usize::try_from(held() - before).unwrap();
        drop(made);
        held + size_of::<T>()
    }
    // The second number is that of Tokio 1.54.1, on a 64-bit target.
    let sizes = [
        ("watch", size(|| watch::channel(0_u64)), 376),
        ("broadcast 1", size(|| broadcast::channel::<u64>(1)), 200),
        ("broadcast 16", size(|| broadcast::channel::<u64>(16)), 800),
        ("mpsc 1", size(|| mpsc::channel::<u64>(1)), 816),
        ("mpsc 1 of ()", size(|| mpsc::channel::<()>(1)), 560),
        ("unbounded", size(mpsc::unbounded_channel::<u64>), 816),
        ("unbounded of u8", size(mpsc::unbounded_channel::<u8>), 592),
        (
            "unbounded of 64 bytes",
            size(mpsc::unbounded_channel::<[u64; 8]>),
            2608,
        ),
        (
            "unbounded of boxes of 1 KiB",
            size(mpsc::unbounded_channel::<Box<[u8; 1024]>>),
            816,
        ),
        ("oneshot", size(oneshot::channel::<u64>), 88),
        ("notify", size(Notify::new), 32),
        ("semaphore", size(|| Semaphore::new(1)), 40),
        ("mutex", size(|| Mutex::new(0_u64)), 48),
        ("rwlock", size(|| RwLock::new(0_u64)), 56),
        ("barrier", size(|| Barrier::new(2)), 408),
        ("once", size(OnceCell::<u64>::new), 56),
        ("set once", size(SetOnce::<u64>::new), 48),
    ];
    let limit = |tokio: usize| match cfg!(debug_assertions) {
        // Locks that check their order are larger.
        true => tokio * 7 / 4 + 64,
        false => tokio + 64,
    };
    let large: Vec<_> = sizes
        .iter()
        .filter(|&&(_, ours, tokio)| ours > limit(tokio))
        .collect();
    assert!(large.is_empty(), "name, bytes here, in Tokio: {large:?}");
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
