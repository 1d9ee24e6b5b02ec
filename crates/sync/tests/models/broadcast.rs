//! Models of the broadcast channel: threads send, receive and drop their handles.

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_sync::broadcast;
use raddle_sync::broadcast::error::{RecvError, TryRecvError};
use raddle_testing::{block_on, poll_once};

use crate::plain::Plain;

#[test]
fn a_sent_value_wakes_the_waiting_receiver() {
    model::check(|| {
        let (sender, mut receiver) = broadcast::channel(2);
        let sender = thread::spawn(move || {
            sender.send(1).unwrap();
        });
        assert_eq!(block_on(receiver.recv()), Ok(1));
        assert_eq!(block_on(receiver.recv()), Err(RecvError::Closed));
        sender.join().unwrap();
    });
}

/// Two receivers wait in different shards, and one send wakes both.
#[test]
fn a_value_wakes_both_waiters() {
    Model::new().preemptions(2).check(|| {
        let (sender, mut receiver) = broadcast::channel(1);
        let mut other = sender.subscribe();
        let other = thread::spawn(move || block_on(other.recv()));
        let sending_thread = thread::spawn(move || {
            sender.send(1).unwrap();
        });
        assert_eq!(block_on(receiver.recv()), Ok(1));
        assert_eq!(other.join().unwrap(), Ok(1));
        sending_thread.join().unwrap();
    });
}

/// A receiver that waits again while senders still wake the earlier waiters is woken too.
#[test]
fn values_of_two_senders_wake_a_receiver_that_waits_again() {
    Model::new().preemptions(2).check(|| {
        let (sender, mut receiver) = broadcast::channel(4);
        let _open = sender.clone();
        let other = sender.clone();
        let other = thread::spawn(move || {
            other.send(1).unwrap();
        });
        let sending_thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(1).unwrap();
        });
        let mut received = 0;
        while received < 3 {
            received += block_on(receiver.recv()).unwrap();
        }
        other.join().unwrap();
        sending_thread.join().unwrap();
    });
}

/// A receiver stops waiting while the send wakes another one in the same shard. A model has two
/// shards, to which receivers are assigned in rotation.
#[test]
fn a_dropped_receive_consumes_no_wake_up() {
    Model::new().preemptions(2).check(|| {
        let (sender, mut receiver) = broadcast::channel(1);
        let _between = sender.subscribe();
        let mut dropped = sender.subscribe();
        let dropping_thread = thread::spawn(move || {
            let _ = poll_once(dropped.recv());
        });
        let sending_thread = thread::spawn(move || {
            sender.send(1).unwrap();
        });
        assert_eq!(block_on(receiver.recv()), Ok(1));
        dropping_thread.join().unwrap();
        sending_thread.join().unwrap();
    });
}

/// A ring of one value: the second value overwrites the first, possibly while that is received. The
/// numbers of received and missed values add up.
#[test]
fn a_lost_value_is_reported() {
    Model::new().preemptions(3).check(|| {
        let (sender, mut receiver) = broadcast::channel(1);
        let sender = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        let (mut total, mut last) = (0, 0);
        loop {
            match block_on(receiver.recv()) {
                Ok(value) => {
                    assert!(value > last);
                    last = value;
                    total += 1;
                }
                Err(RecvError::Lagged(missed)) => total += missed,
                Err(RecvError::Closed) => break,
            }
        }
        assert_eq!((total, last), (2, 2));
        sender.join().unwrap();
    });
}

/// Each value is dropped, even if receivers subscribe and are dropped at the same time. The model
/// reports a leaked `Arc`.
#[test]
fn a_receiver_that_leaves_while_another_receives_leaks_no_value() {
    model::check(|| {
        let (sender, mut stays) = broadcast::channel(1);
        let leaves = sender.subscribe();
        let value = Arc::new(());
        sender.send(value.clone()).unwrap();
        let leaves = thread::spawn(move || drop(leaves));
        let received = stays.try_recv().unwrap();
        leaves.join().unwrap();
        assert!(sender.is_empty());
        drop(received);
        assert_eq!(Arc::strong_count(&value), 1);
    });
}

#[test]
fn a_receiver_that_leaves_during_a_send_keeps_no_value() {
    model::check(|| {
        let (sender, leaves) = broadcast::channel(1);
        let mut stays = sender.subscribe();
        let leaves = thread::spawn(move || drop(leaves));
        sender.send(1).unwrap();
        leaves.join().unwrap();
        assert_eq!(sender.len(), 1);
        assert_eq!(stays.try_recv(), Ok(1));
        assert!(sender.is_empty());
    });
}

#[test]
fn a_new_receiver_receives_only_later_values() {
    model::check(|| {
        let (sender, _receiver) = broadcast::channel(2);
        let other = sender.clone();
        let sending_thread = thread::spawn(move || other.send(1).unwrap());
        let mut late = sender.subscribe();
        let counted = sending_thread.join().unwrap();
        match late.try_recv() {
            Ok(1) => assert_eq!(counted, 2),
            end => assert_eq!((end, counted), (Err(TryRecvError::Empty), 1)),
        }
    });
}

#[test]
fn values_of_two_senders_at_once_are_both_received() {
    model::check(|| {
        let (sender, mut receiver) = broadcast::channel(2);
        let other = sender.clone();
        let other = thread::spawn(move || other.send(1).unwrap());
        sender.send(2).unwrap();
        other.join().unwrap();
        drop(sender);
        let mut all = [receiver.try_recv().unwrap(), receiver.try_recv().unwrap()];
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    });
}

#[test]
fn a_weak_sender_of_a_closed_channel_cannot_be_upgraded() {
    model::check(|| {
        let (sender, mut receiver) = broadcast::channel(1);
        let weak = sender.downgrade();
        let upgrades =
            thread::spawn(move || weak.upgrade().is_some_and(|sender| sender.send(1).is_ok()));
        drop(sender);
        let sent = upgrades.join().unwrap();
        assert_eq!(receiver.try_recv().is_ok(), sent);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    });
}

/// One of two senders sends and is dropped while the other is dropped. All interleavings are
/// explored.
#[test]
fn receivers_see_the_close_after_all_values() {
    model::check(|| {
        let plain = Arc::new(Plain::new());
        let (sender, mut receiver) = broadcast::channel(1);
        let other = (sender.clone(), plain.clone());
        let other = thread::spawn(move || {
            other.0.send(1).unwrap();
            other.1.set(1);
            drop(other.0);
        });
        drop(sender);
        assert_eq!(block_on(receiver.recv()), Ok(1));
        assert_eq!(block_on(receiver.recv()), Err(RecvError::Closed));
        assert_eq!(plain.get(), 1);
        other.join().unwrap();
    });
}

#[test]
fn dropping_the_last_receiver_closes_the_channel() {
    model::check(|| {
        let (sender, receiver) = broadcast::channel::<u32>(1);
        let receiver = thread::spawn(move || drop(receiver));
        block_on(sender.closed());
        assert!(sender.send(1).is_err());
        receiver.join().unwrap();
    });
}

/// The canary: a write after the send is not ordered before its receipt.
#[test]
#[should_panic(expected = "Causality violation: Concurrent read and write accesses")]
fn canary_a_write_after_the_send_races_with_the_receiver() {
    model::check(|| {
        let plain = Arc::new(Plain::new());
        let (sender, receiver) = broadcast::channel(1);
        let other = plain.clone();
        let checking_thread = thread::spawn(move || {
            if !receiver.is_empty() {
                other.get();
            }
        });
        let _ = sender.send(1);
        plain.set(1);
        checking_thread.join().unwrap();
    });
}
