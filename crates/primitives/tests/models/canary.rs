//! Shows that the model build is on: it must report a deliberate race.

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::thread;

struct Published {
    ready: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: the tests below share it on purpose; the model finds the race.
unsafe impl Sync for Published {}
// SAFETY: as above.
unsafe impl Send for Published {}

fn publish(order: Ordering) {
    let shared = Arc::new(Published {
        ready: AtomicBool::new(false),
        value: UnsafeCell::new(0),
    });
    let writer = {
        let shared = shared.clone();
        thread::spawn(move || {
            // SAFETY: the reader reads only once `ready` is set.
            shared.value.with_mut(|value| unsafe { *value = 1 });
            // ORDERING: pairs with the load below, when `order` is Release.
            shared.ready.store(true, order);
        })
    };
    // ORDERING: pairs with the store above.
    if shared.ready.load(Ordering::Acquire) {
        // SAFETY: the writer has finished, if `order` is Release.
        assert_eq!(shared.value.with(|value| unsafe { *value }), 1);
    }
    writer.join().unwrap();
}

#[test]
fn a_release_store_publishes() {
    model::check(|| publish(Ordering::Release));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_relaxed_store_is_caught() {
    model::check(|| publish(Ordering::Relaxed));
}

/// A race is reported even if a layer catches the panics of user code.
#[test]
#[should_panic(expected = "Causality violation, caught")]
fn canary_a_race_is_reported_though_its_panic_is_caught() {
    model::check(|| {
        let _ = std::panic::catch_unwind(|| publish(Ordering::Relaxed));
    });
}

#[test]
fn an_unpark_before_a_park_ends_the_park() {
    model::check(|| {
        let main = thread::current();
        let other = thread::spawn(move || main.unpark());
        thread::park();
        other.join().unwrap();
    });
}
