//! Models of the mpmc channel: each message arrives once and whole, and each wait ends.

use std::mem::ManuallyDrop;

use raddle_primitives::model::{self, Model};
use raddle_primitives::thread;
use raddle_sync::mpmc::{self, Receiver};
use raddle_testing::block_on;

use crate::common::poll;
use crate::messages::{Message, Raced};

/// Receives until the channel ends. Returns the number of messages.
fn drain(receiver: &Receiver<Message>) -> usize {
    let mut count = 0;
    while let Some(message) = block_on(receiver.recv()) {
        message.check();
        count += 1;
    }
    count
}

/// Two receivers wait for two messages and for the end. Bounded at 3 preemptions.
#[test]
fn two_receivers_share_the_messages() {
    Model::new().preemptions(3).check(|| {
        let (sender, receiver) = mpmc::unbounded_channel();
        let other = receiver.clone();
        let other = thread::spawn(move || drain(&other));
        for _ in 0..2 {
            sender.try_send(Message::new()).ok().unwrap();
        }
        drop(sender);
        let count = drain(&receiver);
        assert_eq!(count + other.join().unwrap(), 2);
    });
}

/// Two senders share one place. Bounded at 3 preemptions.
#[test]
fn senders_that_wait_for_room_all_send() {
    Model::new().preemptions(3).check(|| {
        let (sender, receiver) = mpmc::channel(1);
        let other = sender.clone();
        let send = |sender: mpmc::Sender<Message>| {
            thread::spawn(move || block_on(sender.send(Message::new())).is_ok())
        };
        let threads = [send(sender), send(other)];
        assert_eq!(drain(&receiver), 2);
        assert!(
            threads
                .map(|thread| thread.join().unwrap())
                .iter()
                .all(|sent| *sent)
        );
    });
}

/// A receive that is dropped at any moment passes its message on to the next one. All interleavings
/// are explored.
#[test]
fn a_dropped_receive_passes_its_message_on() {
    model::check(|| {
        let (sender, receiver) = mpmc::unbounded_channel::<Message>();
        let other = receiver.clone();
        let mut dropped = Box::pin(receiver.recv());
        assert!(poll(&mut dropped).is_pending());
        let thread = thread::spawn(move || block_on(other.recv()).unwrap().check());
        let send = thread::spawn(move || sender.try_send(Message::new()).is_ok());
        drop(dropped);
        thread.join().unwrap();
        assert!(send.join().unwrap());
    });
}

/// A send that is dropped at any moment passes its room on to the next one. Bounded at 3
/// preemptions.
#[test]
fn a_dropped_send_passes_its_room_on() {
    Model::new().preemptions(3).check(|| {
        let (sender, receiver) = mpmc::channel(1);
        sender.try_send(Message::new()).ok().unwrap();
        let other = sender.clone();
        let mut dropped = Box::pin(sender.send(Message::new()));
        assert!(poll(&mut dropped).is_pending());
        let thread = thread::spawn(move || block_on(other.send(Message::new())).is_ok());
        let receive = thread::spawn(move || {
            receiver.try_recv().unwrap().check();
            receiver
        });
        drop(dropped);
        assert!(thread.join().unwrap());
        let receiver = receive.join().unwrap();
        receiver.try_recv().unwrap().check();
    });
}

/// The close wakes both sides, and each message is received or returned. Bounded at 3 preemptions.
#[test]
fn the_close_ends_all_waits() {
    Model::new().preemptions(3).check(|| {
        let (sender, receiver) = mpmc::channel(1);
        sender.try_send(Message::new()).ok().unwrap();
        let closing = sender.clone();
        let send = thread::spawn(move || match block_on(sender.send(Message::new())) {
            Ok(()) => 1,
            Err(refused) => {
                refused.0.check();
                0
            }
        });
        let close = thread::spawn(move || closing.close());
        let received = drain(&receiver);
        assert!(close.join().unwrap());
        assert_eq!(received, 1 + send.join().unwrap());
    });
}

/// The last receiver goes while a message is sent, which is dropped once. All interleavings are
/// explored.
#[test]
fn a_message_against_the_drop_of_the_last_receiver() {
    model::check(|| {
        let (sender, receiver) = mpmc::unbounded_channel();
        let thread = thread::spawn(move || {
            if let Err(refused) = sender.try_send(Message::new()) {
                refused.into_inner().check();
            }
        });
        let weak = receiver.downgrade();
        drop(receiver);
        assert!(weak.upgrade().is_none());
        thread.join().unwrap();
    });
}

/// A sender that writes after the send, as if it had kept the message.
#[test]
#[should_panic(expected = "Causality violation: Concurrent write accesses")]
fn canary_a_write_after_the_send_races_with_the_receiver() {
    model::check(|| {
        let (sender, receiver) = mpmc::unbounded_channel();
        let raced = std::sync::Arc::new(Raced::new());
        let other = raced.clone();
        let thread = thread::spawn(move || {
            if receiver.try_recv().is_ok() {
                let receiver = ManuallyDrop::new(receiver);
                other.touch();
                drop(ManuallyDrop::into_inner(receiver));
            }
        });
        sender.try_send(()).unwrap();
        let sender = ManuallyDrop::new(sender);
        raced.touch();
        drop(ManuallyDrop::into_inner(sender));
        thread.join().unwrap();
    });
}
