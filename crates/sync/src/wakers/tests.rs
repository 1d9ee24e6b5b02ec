use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use super::Wakers;

/// Counts its wake-ups, and panics in wake-up number `panics_at`.
struct Count {
    woken: AtomicUsize,
    panics_at: usize,
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        let woken = self.woken.fetch_add(1, Ordering::Relaxed);
        assert_ne!(woken, self.panics_at, "planted");
    }
}

fn woken_of(wakers: usize, panics_at: usize) -> usize {
    let count = Arc::new(Count {
        woken: AtomicUsize::new(0),
        panics_at,
    });
    let mut all = Wakers::default();
    for _ in 0..wakers {
        all.push(Waker::from(count.clone()));
    }
    let result = catch_unwind(AssertUnwindSafe(move || all.wake_all()));
    assert_eq!(result.is_err(), panics_at < wakers);
    count.woken.load(Ordering::Relaxed)
}

#[test]
fn all_wakers_are_woken_also_if_they_need_several_batches() {
    for wakers in [0, 1, 32, 33, 100] {
        assert_eq!(woken_of(wakers, usize::MAX), wakers);
    }
}

#[test]
fn a_panicking_waker_does_not_stop_the_other_wakes() {
    for panics_at in [0, 31, 32, 70, 99] {
        assert_eq!(woken_of(100, panics_at), 100);
    }
}
