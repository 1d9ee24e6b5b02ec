//! Models of a watched value: no receiver misses the last value.

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_sync::watch;
use raddle_testing::{block_on, poll_once};

use crate::plain::Plain;

#[test]
fn a_sent_value_wakes_the_waiting_receiver() {
    model::check(|| {
        let (sender, mut receiver) = watch::channel(0);
        let sender = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        block_on(receiver.changed()).unwrap();
        assert_eq!(*receiver.borrow_and_update(), 1);
        let _sender = sender.join().unwrap();
        assert!(poll_once(receiver.changed()).is_pending());
    });
}

#[test]
fn a_change_publishes_earlier_writes() {
    model::check(|| {
        let plain = Arc::new(Plain::new());
        let (sender, mut receiver) = watch::channel(0);
        let other = plain.clone();
        let waiting_thread = thread::spawn(move || {
            block_on(receiver.changed()).unwrap();
            assert_eq!(other.get(), 1);
        });
        plain.set(1);
        sender.send_replace(1);
        waiting_thread.join().unwrap();
    });
}

#[test]
fn a_version_publishes_earlier_writes() {
    model::check(|| {
        let plain = Arc::new(Plain::new());
        let (sender, receiver) = watch::channel(0);
        let other = plain.clone();
        let checking_thread = thread::spawn(move || {
            if receiver.has_changed().unwrap() {
                assert_eq!(other.get(), 1);
            }
        });
        plain.set(1);
        sender.send_replace(1);
        checking_thread.join().unwrap();
    });
}

#[test]
fn a_reader_sees_the_version_of_its_value() {
    model::check(|| {
        let (sender, mut receiver) = watch::channel(0);
        let sender = thread::spawn(move || {
            sender.send_replace(1);
            sender
        });
        let seen = *receiver.borrow_and_update();
        let sender = sender.join().unwrap();
        assert_eq!(receiver.has_changed().unwrap(), seen == 0);
        drop(sender);
    });
}

#[test]
fn receivers_see_the_close_after_the_last_value() {
    model::check(|| {
        let (sender, mut receiver) = watch::channel(0);
        let sender = thread::spawn(move || sender.send(1).unwrap());
        let mut last = 0;
        while block_on(receiver.changed()).is_ok() {
            last = *receiver.borrow_and_update();
        }
        assert_eq!(last, 1);
        sender.join().unwrap();
    });
}

/// Two receivers wait in two shards, and one of them stops waiting.
#[test]
fn a_dropped_receiver_consumes_no_wake_up() {
    Model::new().preemptions(3).check(|| {
        let (sender, mut stays) = watch::channel(0);
        let mut leaves = sender.subscribe();
        let leaves = thread::spawn(move || {
            let _ = poll_once(leaves.changed());
        });
        let sending_thread = thread::spawn(move || {
            let _ = sender.send(1);
            sender
        });
        block_on(stays.changed()).unwrap();
        leaves.join().unwrap();
        drop(sending_thread.join().unwrap());
    });
}

#[test]
fn dropping_the_last_receiver_closes_the_channel() {
    model::check(|| {
        let (sender, receiver) = watch::channel(0);
        let receiver = thread::spawn(move || drop(receiver));
        block_on(sender.closed());
        assert!(sender.send(1).is_err());
        receiver.join().unwrap();
    });
}

/// A thread that sees the close also sees the earlier writes of both senders.
#[test]
fn closing_publishes_the_writes_of_the_senders() {
    model::check(|| {
        let plain = Arc::new(Plain::new());
        let (sender, receiver) = watch::channel(0);
        let other = (sender.clone(), plain.clone());
        let other = thread::spawn(move || {
            other.1.set(1);
            drop(other.0);
        });
        drop(sender);
        if receiver.is_closed() {
            assert_eq!(plain.get(), 1);
        }
        other.join().unwrap();
    });
}

#[test]
fn closing_publishes_the_writes_of_the_receivers() {
    model::check(|| {
        let plain = Arc::new(Plain::new());
        let (sender, receiver) = watch::channel(0);
        let other = (receiver.clone(), plain.clone());
        let other = thread::spawn(move || {
            other.1.set(1);
            drop(other.0);
        });
        drop(receiver);
        if sender.is_closed() {
            assert_eq!(plain.get(), 1);
        }
        other.join().unwrap();
    });
}

/// The canary: a write after the send is not ordered before its receipt.
#[test]
#[should_panic(expected = "Causality violation: Concurrent read and write accesses")]
fn canary_a_write_after_the_send_races_with_the_receiver() {
    model::check(|| {
        let plain = Arc::new(Plain::new());
        let (sender, receiver) = watch::channel(0);
        let other = plain.clone();
        let sending_thread = thread::spawn(move || {
            sender.send_replace(1);
            other.set(1);
            sender
        });
        if receiver.has_changed().unwrap() {
            plain.get();
        }
        sending_thread.join().unwrap();
    });
}
