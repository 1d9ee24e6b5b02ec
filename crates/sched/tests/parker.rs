//! One worker's parker: where an unpark leads, and that it is used up once.
#![cfg(not(raddle_loom))]

#[allow(dead_code)]
#[path = "../src/parker.rs"]
mod parker;
/// The parker names the trait so.
mod driver {
    pub(crate) use raddle_sched::Unpark;
}

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parker::{Parker, Place};
use raddle_sched::Unpark;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Counting(AtomicUsize);

impl Unpark for Counting {
    fn unpark(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Enters on the calling thread, and is unparked: the thread does not block then.
fn is_unparked_here(parker: &Parker) {
    assert!(parker.enter(Place::Thread));
    assert!(parker.is_parked() && !parker.is_in_driver() && !parker.is_notified());
    assert_eq!(parker.unpark(None), Some(Place::Thread));
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
    for place in [Place::Thread, Place::Driver] {
        let parker = Parker::new();
        parker.attach();
        for _ in 0..2 {
            assert_eq!(parker.unpark(None), None);
            assert!(parker.is_notified() && !parker.is_parked());
        }
        assert!(!parker.enter(place));
        assert!(!parker.is_notified(), "it is used up");
        assert!(parker.enter(place));
        assert!(parker.is_parked());
    }
}

#[test]
fn an_unpark_leads_to_the_driver_while_the_worker_is_there() {
    let parker = Parker::new();
    let driver = Counting::default();
    assert_eq!(parker.unpark(Some(&driver)), None);
    parker.leave();
    assert!(!parker.is_in_driver());
    assert!(parker.enter(Place::Driver));
    assert!(parker.is_in_driver() && parker.is_parked());
    assert_eq!(driver.0.load(Ordering::SeqCst), 0);
    assert_eq!(parker.unpark(Some(&driver)), Some(Place::Driver));
    assert!(!parker.is_in_driver() && parker.is_notified());
    assert_eq!(parker.unpark(Some(&driver)), None, "once is enough");
    assert_eq!(driver.0.load(Ordering::SeqCst), 1);
}

#[test]
fn an_unpark_leads_to_the_thread_that_drives_the_worker() {
    let parker = Parker::new();
    assert_eq!(parker.thread_id(), None);
    parker.attach();
    let first = thread::current().id();
    for _ in 0..2 {
        assert_eq!(parker.thread_id(), Some(first));
        is_unparked_here(&parker);
        thread::scope(|scope| {
            scope.spawn(|| {
                parker.attach();
                assert_eq!(parker.thread_id(), Some(thread::current().id()));
                is_unparked_here(&parker);
            });
        });
        assert_ne!(parker.thread_id(), Some(first));
        parker.attach();
    }
}

#[test]
fn a_worker_blocks_until_it_is_unparked() {
    let parker = Parker::new();
    thread::scope(|scope| {
        let blocked = scope.spawn(|| {
            parker.attach();
            assert!(parker.enter(Place::Thread));
            parker.block(None);
            let is_notified = parker.is_notified();
            parker.leave();
            is_notified
        });
        while !parker.is_parked() {
            thread::yield_now();
        }
        for _ in 0..10 {
            // Not the parker's: the worker goes on waiting.
            blocked.thread().unpark();
            thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(parker.unpark(None), Some(Place::Thread));
        assert!(blocked.join().unwrap());
    });
}
