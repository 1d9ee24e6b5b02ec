//! Notifications, in all interleavings of those who notify and those who wait.
#![cfg(raddle_loom)]

mod modelling;

use std::pin::pin;
use std::task::Poll;

use modelling::{Plain, block_on, poll_once};
use raddle_std::model::{self, Model};
use raddle_std::sync::Arc;
use raddle_std::thread;
use raddle_sync::Notify;

type Shared = Arc<(Notify, Plain)>;

fn shared() -> Shared {
    Arc::new((Notify::new(), Plain::new()))
}

#[test]
fn one_notification_arrives() {
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

#[test]
fn a_permit_shows_what_was_done_before() {
    model::check(|| {
        let shared = shared();
        let notifier = shared.clone();
        let notifier = thread::spawn(move || {
            notifier.1.set(1);
            notifier.0.notify_one();
        });
        if poll_once(shared.0.notified()).is_ready() {
            assert_eq!(shared.1.get(), 1);
        }
        notifier.join().unwrap();
    });
}

#[test]
fn a_call_reaches_who_was_made_before_it() {
    model::check(|| {
        let shared = shared();
        let notified = shared.0.notified();
        let notifier = shared.clone();
        let notifier = thread::spawn(move || {
            notifier.1.set(1);
            notifier.0.notify_waiters();
        });
        block_on(notified);
        assert_eq!(shared.1.get(), 1);
        notifier.join().unwrap();
    });
}

/// A flag that is set before the call, and looked at after the future was made.
#[test]
fn a_call_is_not_missed_between_the_look_and_the_wait() {
    use raddle_std::sync::atomic::{AtomicBool, Ordering};
    model::check(|| {
        let shared = Arc::new((Notify::new(), AtomicBool::new(false)));
        let notifier = shared.clone();
        let notifier = thread::spawn(move || {
            // ORDERING: `Notify` orders it.
            notifier.1.store(true, Ordering::Relaxed);
            notifier.0.notify_waiters();
        });
        let notified = shared.0.notified();
        // ORDERING: as above.
        if !shared.1.load(Ordering::Relaxed) {
            block_on(notified);
        }
        notifier.join().unwrap();
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
        // One is stored if the other does not wait yet.
        notify.notify_one();
        notify.notify_one();
        block_on(here);
        waiter.join().unwrap();
    });
}

/// Dropped while it is notified: another gets it.
#[test]
fn a_dropped_waiter_passes_it_on() {
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
fn one_and_all_at_a_time() {
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

/// The shim works: what is written after the notification is not seen with it.
#[test]
#[should_panic]
fn canary_a_race_is_caught() {
    model::check(|| {
        let shared = shared();
        let other = shared.clone();
        let looks = thread::spawn(move || {
            if poll_once(other.0.notified()).is_ready() {
                other.1.get();
            }
        });
        shared.0.notify_one();
        shared.1.set(1);
        looks.join().unwrap();
    });
}
