//! Tests of the parker of one worker: an unpark ends one park, in the driver or on the thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{BlockedOn, Parker};

/// Longer than a test takes.
const LONG: Duration = Duration::from_secs(10);

fn not_in_driver() {
    panic!("the worker is not in the driver");
}

/// Parks on the calling thread after an unpark, which must not block.
fn assert_unpark_ends_a_park_on_this_thread(parker: &Parker) {
    assert!(parker.enter(BlockedOn::Parker));
    assert!(parker.is_parked() && !parker.is_in_driver() && !parker.is_notified());
    parker.unpark(not_in_driver);
    assert!(!parker.is_parked() && parker.is_notified());
    let start = Instant::now();
    parker.block(Some(LONG));
    assert!(start.elapsed() < LONG, "the thread was not unparked");
    parker.block(None);
    parker.leave();
    assert!(!parker.is_parked() && !parker.is_notified());
}

#[test]
fn an_unpark_of_a_worker_that_is_awake_refuses_its_next_park() {
    for blocks_on in [BlockedOn::Parker, BlockedOn::Driver] {
        let parker = Parker::default();
        parker.attach();
        for _ in 0..2 {
            parker.unpark(not_in_driver);
            assert!(parker.is_notified() && !parker.is_parked());
        }
        assert!(!parker.enter(blocks_on));
        assert!(!parker.is_notified(), "the first park used up the unpark");
        assert!(parker.enter(blocks_on));
        assert!(parker.is_parked());
    }
}

#[test]
fn an_unpark_unparks_the_driver_while_the_worker_is_in_it() {
    let parker = Parker::default();
    let unparks = AtomicUsize::new(0);
    let unpark_driver = || {
        unparks.fetch_add(1, Ordering::SeqCst);
    };
    parker.unpark(unpark_driver);
    parker.leave();
    assert!(!parker.is_in_driver());
    assert!(parker.enter(BlockedOn::Driver));
    assert!(parker.is_in_driver() && parker.is_parked());
    assert_eq!(unparks.load(Ordering::SeqCst), 0);
    parker.unpark(unpark_driver);
    assert!(!parker.is_in_driver() && parker.is_notified());
    assert_eq!(unparks.load(Ordering::SeqCst), 1);
    parker.unpark(unpark_driver);
    assert_eq!(
        unparks.load(Ordering::SeqCst),
        1,
        "the driver is unparked once"
    );
}

#[test]
fn an_unpark_unparks_the_thread_that_drives_the_worker() {
    let parker = Parker::default();
    assert_eq!(parker.thread_id(), None);
    parker.attach();
    let first = thread::current().id();
    for _ in 0..2 {
        assert_eq!(parker.thread_id(), Some(first));
        assert_unpark_ends_a_park_on_this_thread(&parker);
        thread::scope(|scope| {
            scope.spawn(|| {
                parker.attach();
                assert_eq!(parker.thread_id(), Some(thread::current().id()));
                assert_unpark_ends_a_park_on_this_thread(&parker);
            });
        });
        assert_ne!(parker.thread_id(), Some(first));
        parker.attach();
    }
}

#[test]
fn a_worker_blocks_until_it_is_unparked() {
    let parker = Parker::default();
    thread::scope(|scope| {
        let blocked = scope.spawn(|| {
            parker.attach();
            assert!(parker.enter(BlockedOn::Parker));
            parker.block(None);
            let is_notified = parker.is_notified();
            parker.leave();
            is_notified
        });
        while !parker.is_parked() {
            thread::yield_now();
        }
        for _ in 0..10 {
            // An unpark of the thread without the parker does not end the wait.
            blocked.thread().unpark();
            thread::sleep(Duration::from_millis(2));
        }
        parker.unpark(not_in_driver);
        assert!(blocked.join().unwrap());
    });
}
