//! Models of cells that several threads try to set.

use raddle_primitives::model;
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_sync::{OnceCell, SetOnce};
use raddle_testing::{block_on, poll_once};

use crate::plain::Plain;

#[test]
fn one_of_two_initialisers_sets_the_value() {
    model::check(|| {
        let cell = Arc::new(OnceCell::new());
        let other = cell.clone();
        let other = thread::spawn(move || *block_on(other.get_or_init(async || 1)));
        let result = *block_on(cell.get_or_init(async || 2));
        assert_eq!(other.join().unwrap(), result);
    });
}

/// One initialiser fails, so the other one makes the value, and sees the writes of the first.
#[test]
fn a_waiter_behind_a_failed_initialiser_sets_the_value() {
    model::check(|| {
        let shared = Arc::new((OnceCell::new(), Plain::new()));
        let other = shared.clone();
        let fails = thread::spawn(move || {
            let made = block_on(other.0.get_or_try_init(async || {
                other.1.set(1);
                Err(())
            }));
            assert!(made.is_err() || made == Ok(&2));
        });
        let made = block_on(shared.0.get_or_init(async || {
            shared.1.set(2);
            2
        }));
        assert_eq!(made, &2);
        fails.join().unwrap();
    });
}

/// One initialiser is dropped after its first poll; the other one may wait for it.
#[test]
fn a_waiter_behind_a_dropped_initialiser_sets_the_value() {
    model::check(|| {
        let cell = Arc::new(OnceCell::new());
        let other = cell.clone();
        let dropped = thread::spawn(move || {
            let _ = poll_once(other.get_or_init(std::future::pending::<u32>));
        });
        assert_eq!(block_on(cell.get_or_init(async || 2)), &2);
        dropped.join().unwrap();
    });
}

#[test]
fn a_waiter_sees_the_value() {
    model::check(|| {
        let shared = Arc::new((SetOnce::new(), Plain::new()));
        let setter = shared.clone();
        let setter = thread::spawn(move || {
            setter.1.set(1);
            setter.0.set(7).unwrap();
        });
        assert_eq!(block_on(shared.0.wait()), &7);
        assert_eq!(shared.1.get(), 1);
        setter.join().unwrap();
    });
}

#[test]
fn a_set_that_fails_finds_the_value() {
    model::check(|| {
        let cell = Arc::new(SetOnce::new());
        let other = cell.clone();
        let other = thread::spawn(move || other.set(1).is_ok());
        let result = cell.set(2).is_ok();
        assert_eq!(*cell.get().unwrap() == 2, result);
        assert_ne!(other.join().unwrap(), result);
    });
}

/// The canary: a write after the value is set is not ordered before the read.
#[test]
#[should_panic(expected = "Causality violation: Concurrent read and write accesses")]
fn canary_a_write_after_the_value_races_with_its_reader() {
    model::check(|| {
        let shared = Arc::new((SetOnce::new(), Plain::new()));
        let other = shared.clone();
        let checking_thread = thread::spawn(move || {
            if other.0.initialized() {
                other.1.get();
            }
        });
        shared.0.set(7).unwrap();
        shared.1.set(1);
        checking_thread.join().unwrap();
    });
}
