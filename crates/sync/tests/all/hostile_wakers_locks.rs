//! Tests with wakers that panic, and wakers that use the semaphore that wakes them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle_sync::Semaphore;
use raddle_testing::{Wakes, calling, ready};

use crate::common::{poll, poll_with};

#[test]
fn a_waker_that_panics_does_not_prevent_others_from_acquiring() {
    for panicking in [0, 5, 31, 32, 33, 99] {
        for close in [false, true] {
            let semaphore = Semaphore::new(0);
            let (counter, good) = Wakes::new();
            let bad = calling(|| panic!("on purpose"));
            let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(semaphore.acquire())).collect();
            for (index, acquire) in waiting.iter_mut().enumerate() {
                let waker = if index == panicking { &bad } else { &good };
                assert!(poll_with(acquire, waker).is_pending());
            }
            let result = catch_unwind(AssertUnwindSafe(|| {
                if close {
                    semaphore.close();
                } else {
                    semaphore.add_permits(100);
                }
            }));
            assert!(result.is_err());
            assert_eq!(counter.get(), 99);
            for acquire in waiting {
                assert_eq!(ready(acquire).is_ok(), !close);
            }
            assert_eq!(semaphore.available_permits(), if close { 0 } else { 100 });
        }
    }
}

#[test]
fn a_waker_may_call_the_semaphore() {
    let semaphore = Arc::new(Semaphore::new(0));
    let had = Arc::new(AtomicUsize::new(0));
    let waker = calling({
        let (semaphore, had) = (semaphore.clone(), had.clone());
        move || {
            drop(poll(&mut Box::pin(semaphore.acquire_many(7))));
            if semaphore.try_acquire().is_ok() {
                had.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let mut acquire = Box::pin(semaphore.acquire());
    assert!(poll_with(&mut acquire, &waker).is_pending());
    semaphore.add_permits(2);
    assert_eq!(had.load(Ordering::Relaxed), 1);
    drop(ready(acquire).unwrap());

    let mut acquire = Box::pin(semaphore.acquire_many(3));
    assert!(poll_with(&mut acquire, &waker).is_pending());
    semaphore.close();
    assert!(ready(acquire).is_err());
    assert_eq!(semaphore.available_permits(), 2);
}

/// Runs a closure when its last clone is dropped.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// tokio 5471.
#[test]
fn the_drop_of_a_waker_may_call_the_semaphore() {
    let semaphore = Arc::new(Semaphore::new(1));
    let returned = Arc::new(AtomicUsize::new(0));
    let waker = || {
        let (semaphore, returned) = (semaphore.clone(), returned.clone());
        let on_drop = OnDrop(move || {
            semaphore.add_permits(1);
            returned.fetch_add(1, Ordering::Relaxed);
        });
        calling(move || _ = &on_drop)
    };
    // The waker is replaced by another one, dropped with its future, or woken.
    let mut acquire = Box::pin(semaphore.acquire_many(10));
    assert!(poll_with(&mut acquire, &waker()).is_pending());
    assert!(poll(&mut acquire).is_pending());
    assert_eq!(returned.load(Ordering::Relaxed), 1);
    assert!(poll_with(&mut acquire, &waker()).is_pending());
    drop(acquire);
    assert_eq!(returned.load(Ordering::Relaxed), 2);
    assert_eq!(semaphore.available_permits(), 3);
    let mut acquire = Box::pin(semaphore.acquire_many(4));
    assert!(poll_with(&mut acquire, &waker()).is_pending());
    semaphore.add_permits(1);
    assert_eq!(returned.load(Ordering::Relaxed), 3);
    drop(ready(acquire).unwrap());
    assert_eq!(semaphore.available_permits(), 5);
}
