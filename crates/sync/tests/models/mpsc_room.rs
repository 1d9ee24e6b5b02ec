//! Models of the free places of a bounded channel: one thread moves permits while others take them.

use raddle_primitives::model::{self, Model};
use raddle_primitives::thread;
use raddle_sync::mpsc;

use crate::messages::Message;

/// A permit that is taken while the channel is closed allows one message, even if another thread
/// has seen the close before. Bounded at 3 preemptions.
#[test]
fn a_permit_acquired_against_close_sends_a_message() {
    Model::new().preemptions(3).check(|| {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(Message::new()).ok().unwrap();
        receiver.try_recv().unwrap().check();
        let other = sender.clone();
        let other = thread::spawn(move || other.try_reserve().is_ok());
        let sending_thread = thread::spawn(move || sender.try_send(Message::new()).is_ok());
        receiver.close();
        let was_sent = sending_thread.join().unwrap();
        other.join().unwrap();
        let received = receiver.try_recv().map(Message::check);
        assert_eq!(received.is_ok(), was_sent);
    });
}

/// One sender moves returned permits to the word that senders take from. At the same time, the
/// other sender must not find the channel full. Bounded at 3 preemptions.
#[test]
fn try_send_succeeds_while_permits_are_moved() {
    Model::new().preemptions(3).check(|| {
        let (sender, mut receiver) = mpsc::channel(2);
        for _ in 0..2 {
            sender.try_send(Message::new()).ok().unwrap();
            receiver.try_recv().unwrap().check();
        }
        let other = sender.clone();
        let other = thread::spawn(move || other.try_send(Message::new()).ok().unwrap());
        sender.try_send(Message::new()).ok().unwrap();
        other.join().unwrap();
        for _ in 0..2 {
            receiver.try_recv().unwrap().check();
        }
    });
}

/// A sender that takes a returned permit sees the receiver's earlier writes: a permit that is the
/// only one returned, or one of two, which are moved. All interleavings are explored.
#[test]
fn returned_permits_publish_earlier_writes() {
    for room in [1, 2] {
        model::check(move || {
            let (sender, mut receiver) = mpsc::channel(room);
            for _ in 0..room {
                sender.try_send(()).unwrap();
            }
            let message = Message::new();
            let before = message.forge();
            let checking_thread = thread::spawn(move || {
                if sender.try_reserve().is_ok() {
                    message.check();
                }
            });
            before.touch();
            for _ in 0..room {
                receiver.try_recv().unwrap();
            }
            checking_thread.join().unwrap();
        });
    }
}

/// Two threads that both use one permit.
#[test]
#[should_panic(expected = "Causality violation: Concurrent write accesses")]
fn canary_two_holders_of_one_permit_are_caught() {
    Model::new().preemptions(2).check(|| {
        let (sender, _receiver) = mpsc::channel::<Message>(2);
        let message = Message::new();
        let forged = message.forge();
        let other = sender.clone();
        let thread = thread::spawn(move || {
            let _permit = other.try_reserve().unwrap();
            forged.touch();
        });
        let permit = sender.try_reserve().unwrap();
        message.touch();
        drop(permit);
        thread.join().unwrap();
    });
}
