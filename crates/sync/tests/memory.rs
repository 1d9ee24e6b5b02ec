//! What waiters leave behind in what they waited for: nothing.
#![cfg(not(raddle_loom))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::task::{Context, Waker};

use raddle_sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, watch};

/// Counts what is allocated and not freed.
struct Counting;

static HELD: AtomicIsize = AtomicIsize::new(0);

// SAFETY: it is the system's, and counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WAITERS: usize = 10_000;

/// How much more is held once many futures have waited, beyond what one had left behind.
fn left_by<F: Future>(wait: impl Fn() -> F, release: impl Fn()) -> isize {
    let crowd = |count: usize| {
        let mut waiting: Vec<Pin<Box<F>>> = (0..count).map(|_| Box::pin(wait())).collect();
        let cx = &mut Context::from_waker(Waker::noop());
        for wait in &mut waiting {
            assert!(wait.as_mut().poll(cx).is_pending());
        }
        // Some have been released, the others are dropped in line.
        let rest = waiting.split_off(count / 2);
        drop(rest);
        release();
    };
    crowd(2);
    let before = HELD.load(Ordering::Relaxed);
    crowd(WAITERS);
    HELD.load(Ordering::Relaxed) - before
}

/// One test, since all threads of the process are counted.
#[test]
fn waiters_leave_no_storage_behind() {
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
}
