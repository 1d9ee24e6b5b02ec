//! Models of notifications.

use std::pin::pin;
use std::task::Poll;

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_sync::Notify;
use raddle_testing::{block_on, poll_once};

use crate::plain::Plain;

type Shared = Arc<(Notify, Plain)>;

fn shared() -> Shared {
    Arc::new((Notify::new(), Plain::new()))
}

#[test]
fn one_notification_wakes_the_waiter() {
    model::check(|| {
        let shared = shared();
        let notifier = shared.clone();
        let notifier = thread::spawn(move || {
            notifier.1.set(1);
            notifier.0.notify_one();
        });
        block_on(shared.0.notified());
        assert_eq!(shared.1.get(), 1);
        notifier.join().unwrap();
    });
}

// In the next four models the spawned thread reads, because loom then lets the read happen at any
// time.

#[test]
fn a_permit_publishes_earlier_writes() {
    model::check(|| {
        let shared = shared();
        let other = shared.clone();
        let checking_thread = thread::spawn(move || {
            if poll_once(other.0.notified()).is_ready() {
                assert_eq!(other.1.get(), 1);
            }
        });
        shared.1.set(1);
        shared.0.notify_one();
        checking_thread.join().unwrap();
    });
}

#[test]
fn notify_waiters_reaches_futures_created_before_it() {
    model::check(|| {
        let notify = std::sync::Arc::new(Notify::new());
        let plain = Arc::new(Plain::new());
        let (notified, other) = (notify.clone().notified_owned(), plain.clone());
        let waiting_thread = thread::spawn(move || {
            block_on(notified);
            assert_eq!(other.get(), 1);
        });
        plain.set(1);
        notify.notify_waiters();
        waiting_thread.join().unwrap();
    });
}

/// As above, while another waiter is queued.
#[test]
fn notify_waiters_with_a_queued_waiter_reaches_an_unpolled_future() {
    model::check(|| {
        let notify = std::sync::Arc::new(Notify::new());
        let plain = Arc::new(Plain::new());
        let (notified, other) = (notify.clone().notified_owned(), plain.clone());
        let mut in_line = pin!(notify.notified());
        in_line.as_mut().enable();
        let waiting_thread = thread::spawn(move || {
            block_on(notified);
            assert_eq!(other.get(), 1);
        });
        plain.set(1);
        notify.notify_waiters();
        waiting_thread.join().unwrap();
        assert!(in_line.enable());
    });
}

/// A flag that is set before the call, and read after the future was created.
#[test]
fn a_notification_between_the_check_and_the_wait_is_not_missed() {
    use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
    model::check(|| {
        let shared = Arc::new((Notify::new(), AtomicBool::new(false)));
        let other = shared.clone();
        let waiting_thread = thread::spawn(move || {
            let notified = other.0.notified();
            // ORDERING: `Notify` orders the access.
            if !other.1.load(Ordering::Relaxed) {
                block_on(notified);
            }
        });
        // ORDERING: as above.
        shared.1.store(true, Ordering::Relaxed);
        shared.0.notify_waiters();
        waiting_thread.join().unwrap();
    });
}

/// Two threads each set a flag and notify; the second may find the permit of the first. The waiter
/// that takes it sees both flags, or is notified again.
#[test]
fn a_notification_that_finds_a_permit_publishes() {
    use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
    Model::new().preemptions(3).check(|| {
        let flags = [AtomicBool::new(false), AtomicBool::new(false)];
        let shared = Arc::new((Notify::new(), flags));
        let (waiter, second) = (shared.clone(), shared.clone());
        let set = |shared: &(Notify, [AtomicBool; 2]), at: usize| {
            // ORDERING: `Notify` orders the access.
            shared.1[at].store(true, Ordering::Relaxed);
            shared.0.notify_one();
        };
        let waiting_thread = thread::spawn(move || {
            // ORDERING: as above.
            while !waiter.1.iter().all(|flag| flag.load(Ordering::Relaxed)) {
                block_on(waiter.0.notified());
            }
        });
        let second = thread::spawn(move || set(&second, 1));
        set(&shared, 0);
        waiting_thread.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn two_notifications_reach_two_waiters() {
    model::check(|| {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        let waiter = thread::spawn(move || block_on(other.notified()));
        let mut here = pin!(notify.notified());
        here.as_mut().enable();
        // One notification is stored if the other future does not wait yet.
        notify.notify_one();
        notify.notify_one();
        block_on(here);
        waiter.join().unwrap();
    });
}

/// A future is dropped while it is notified: another one gets the notification.
#[test]
fn a_dropped_waiter_passes_its_notification_on() {
    Model::new().preemptions(3).check(|| {
        let notify = Arc::new(Notify::new());
        let (other, notifier) = (notify.clone(), notify.clone());
        let drops = thread::spawn(move || poll_once(other.notified()));
        let notifier = thread::spawn(move || notifier.notify_one());
        let here = poll_once(notify.notified());
        let there = drops.join().unwrap();
        notifier.join().unwrap();
        let later = poll_once(notify.notified());
        let got = [here, there, later].map(|poll| usize::from(poll.is_ready()));
        assert_eq!(got.iter().sum::<usize>(), 1);
    });
}

#[test]
fn notify_one_against_notify_waiters() {
    model::check(|| {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        let mut here = pin!(notify.notified());
        here.as_mut().enable();
        let all = thread::spawn(move || other.notify_waiters());
        notify.notify_one();
        block_on(here.as_mut());
        all.join().unwrap();
        // If the call was first, the other notification is stored.
        let _ = poll_once(notify.notified());
        assert_eq!(poll_once(notify.notified()), Poll::Pending);
    });
}

/// A waiter that is polled before it is woken learns only from its node's word that it was
/// notified.
#[test]
fn a_waiter_released_without_the_lock_sees_what_was_done_before() {
    model::check(|| {
        let notify = std::sync::Arc::new(Notify::new());
        let plain = Arc::new(Plain::new());
        let mut notified = Box::pin(notify.clone().notified_owned());
        notified.as_mut().enable();
        let other = plain.clone();
        let checking_thread = thread::spawn(move || {
            if poll_once(notified).is_ready() {
                assert_eq!(other.get(), 1);
            }
        });
        plain.set(1);
        notify.notify_one();
        checking_thread.join().unwrap();
    });
}

/// Waiters are released while their neighbours, which were released or have stopped waiting, are
/// freed. All interleavings are explored.
#[test]
fn waiters_are_freed_while_their_neighbours_are_released() {
    model::check(|| {
        let notify = std::sync::Arc::new(Notify::new());
        let [mut first, mut second, mut third] =
            [(); 3].map(|()| Box::pin(notify.clone().notified_owned()));
        for waiter in [&mut first, &mut second, &mut third] {
            assert!(!waiter.as_mut().enable());
        }
        let other = thread::spawn(move || {
            let _ = poll_once(first);
            drop(third);
        });
        notify.notify_waiters();
        assert!(second.as_mut().enable());
        other.join().unwrap();
    });
}

/// The node of one future is queued again and again.
#[test]
fn a_waiter_that_waits_again_is_notified_again() {
    Model::new().preemptions(3).check(|| {
        let calls = Arc::new((Notify::new(), Notify::new()));
        let plain = Arc::new(Plain::new());
        let (other, seen) = (calls.clone(), plain.clone());
        let waiter = thread::spawn(move || {
            for round in 1..=2 {
                block_on(other.0.notified());
                assert_eq!(seen.get(), round);
                other.1.notify_one();
            }
        });
        for round in 1..=2 {
            plain.set(round);
            calls.0.notify_one();
            block_on(calls.1.notified());
        }
        waiter.join().unwrap();
    });
}

/// The canary: a write after the notification is not ordered before the wake-up.
#[test]
#[should_panic(expected = "Causality violation: Concurrent read and write accesses")]
fn canary_a_write_after_the_notification_races_with_the_waiter() {
    model::check(|| {
        let shared = shared();
        let other = shared.clone();
        let checking_thread = thread::spawn(move || {
            if poll_once(other.0.notified()).is_ready() {
                other.1.get();
            }
        });
        shared.0.notify_one();
        shared.1.set(1);
        checking_thread.join().unwrap();
    });
}
