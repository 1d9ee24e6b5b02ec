//! Models of the oneshot channel: the value arrives once, a party that waits is woken, and the
//! memory is freed once.

use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_primitives::{model, thread};
use raddle_sync::oneshot::{self, Receiver};

use crate::messages::{Message, Raced, is_last, wait, waker};

fn receive<T>(receiver: &mut Receiver<T>, changes: bool) -> Option<T> {
    wait(changes, |cx| Pin::new(&mut *receiver).poll(cx)).ok()
}

/// All interleavings are explored.
#[test]
fn send_against_receive() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || assert!(sender.send(Message::new()).is_ok()));
        receive(&mut receiver, false).unwrap().check();
        thread.join().unwrap();
    });
}

/// All interleavings are explored.
#[test]
fn send_against_a_receiver_that_changes_its_waker() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || assert!(sender.send(Message::new()).is_ok()));
        receive(&mut receiver, true).unwrap().check();
        thread.join().unwrap();
    });
}

/// All interleavings are explored.
#[test]
fn a_dropped_sender_against_receive() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel::<Message>();
        let thread = thread::spawn(move || drop(sender));
        assert!(receive(&mut receiver, true).is_none());
        thread.join().unwrap();
    });
}

/// All interleavings are explored.
#[test]
fn send_against_a_receiver_that_is_polled_and_dropped() {
    for polls in 0..2 {
        model::check(move || {
            let (sender, mut receiver) = oneshot::channel();
            let thread = thread::spawn(move || {
                if let Err(refused) = sender.send(Message::new()) {
                    refused.check();
                }
            });
            for _ in 0..polls {
                let waker = waker();
                let cx = &mut Context::from_waker(&waker);
                if let Poll::Ready(message) = Pin::new(&mut receiver).poll(cx) {
                    message.unwrap().check();
                    break;
                }
            }
            drop(receiver);
            thread.join().unwrap();
        });
    }
}

/// A value is received or refused, at whichever point the channel is closed. All interleavings are
/// explored.
#[test]
fn send_against_close() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || sender.send(Message::new()).err());
        receiver.close();
        let received = receiver.try_recv().ok();
        let refused = thread.join().unwrap();
        assert_eq!(received.is_some(), refused.is_none());
        received.or(refused).unwrap().check();
    });
}

/// All interleavings are explored.
#[test]
fn a_sender_that_waits_against_a_dropped_receiver() {
    for close in [false, true] {
        model::check(move || {
            let (mut sender, mut receiver) = oneshot::channel::<Message>();
            let thread = thread::spawn(move || {
                if close {
                    receiver.close();
                }
            });
            wait(true, |cx| sender.poll_closed(cx));
            assert!(sender.is_closed());
            drop(sender);
            thread.join().unwrap();
        });
    }
}

/// A sender waits for the close and then sends, while a waiting receiver is dropped. All
/// interleavings are explored.
#[test]
fn waiting_sides_that_are_dropped_leak_nothing() {
    model::check(|| {
        let (mut sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || {
            let waker = waker();
            let _ = sender.poll_closed(&mut Context::from_waker(&waker));
            if let Err(refused) = sender.send(Message::new()) {
                refused.check();
            }
        });
        let waker = waker();
        let cx = &mut Context::from_waker(&waker);
        if let Poll::Ready(message) = Pin::new(&mut receiver).poll(cx) {
            message.unwrap().check();
        }
        drop(receiver);
        thread.join().unwrap();
    });
}

/// A side that sees the drop of the other side also sees its earlier writes. All interleavings are
/// explored.
#[test]
fn dropping_the_sender_publishes_earlier_writes() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel::<()>();
        let message = Message::new();
        let before = message.forge();
        let thread = thread::spawn(move || {
            before.touch();
            drop(sender);
        });
        assert!(receive(&mut receiver, false).is_none());
        message.check();
        thread.join().unwrap();
    });
}

/// The other direction: the sender sees the close or the drop by waiting, by checking or by
/// sending. All interleavings are explored. The spawned thread is the one that reads, because loom
/// forgets another thread's load once a thread does a load of its own before an exchange.
#[test]
fn the_close_publishes_earlier_writes() {
    for (close, look) in [
        (true, 0),
        (true, 1),
        (true, 2),
        (false, 0),
        (false, 1),
        (false, 2),
    ] {
        model::check(move || {
            let (mut sender, mut receiver) = oneshot::channel();
            let message = Message::new();
            let before = message.forge();
            let thread = thread::spawn(move || match look {
                0 => {
                    wait(false, |cx| sender.poll_closed(cx));
                    message.check();
                }
                1 => {
                    if sender.is_closed() {
                        message.check();
                    }
                }
                _ => {
                    if sender.send(()).is_err() {
                        message.check();
                    }
                }
            });
            before.touch();
            if close {
                receiver.close();
            }
            drop(receiver);
            thread.join().unwrap();
        });
    }
}

/// A waiting receiver that is dropped takes its waker back, or leaves it to a sender that is about
/// to wake it. The waker never stays with a sender that does not send. All interleavings are
/// explored.
#[test]
fn a_receiver_that_waits_and_is_dropped_leaves_no_waker() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel::<Message>();
        let waker = waker();
        let cx = &mut Context::from_waker(&waker);
        assert!(Pin::new(&mut receiver).poll(cx).is_pending());
        let thread = thread::spawn(move || drop(receiver));
        let closed = sender.is_closed();
        thread.join().unwrap();
        assert!(closed || sender.is_closed());
        assert!(is_last(waker));
        drop(sender);
    });
}

/// The same for a sender that waits and then sends or is dropped, while the receiver closes. All
/// interleavings are explored.
#[test]
fn a_sender_that_waits_and_is_gone_leaves_no_waker() {
    for sends in [false, true] {
        model::check(move || {
            let (mut sender, mut receiver) = oneshot::channel();
            let waker = waker();
            let cx = &mut Context::from_waker(&waker);
            assert!(sender.poll_closed(cx).is_pending());
            let thread = thread::spawn(move || {
                receiver.close();
                receiver
            });
            if !sends {
                drop(sender);
            } else if let Err(refused) = sender.send(Message::new()) {
                refused.check();
            }
            let receiver = thread.join().unwrap();
            assert!(is_last(waker));
            drop(receiver);
        });
    }
}

/// A receiver that closes the channel while it waits takes its waker back, or leaves it to a sender
/// that is about to wake it. All interleavings are explored.
#[test]
fn a_receiver_that_waits_and_closes_leaves_no_waker() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel::<Message>();
        let waker = waker();
        let cx = &mut Context::from_waker(&waker);
        assert!(Pin::new(&mut receiver).poll(cx).is_pending());
        let thread = thread::spawn(move || drop(sender));
        receiver.close();
        thread.join().unwrap();
        assert!(is_last(waker));
        assert!(receiver.try_recv().is_err());
    });
}

/// The receiver compares its waker with the registered one while the sender takes that out, wakes
/// it and drops it. A poll that finds them equal is pending, and the wake ends the wait. All
/// interleavings are explored.
#[test]
fn send_against_a_receiver_that_is_polled_again_with_its_waker() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || assert!(sender.send(Message::new()).is_ok()));
        let waker = waker();
        let cx = &mut Context::from_waker(&waker);
        let mut polls = 0;
        let message = loop {
            match Pin::new(&mut receiver).poll(cx) {
                Poll::Ready(message) => break message,
                Poll::Pending if polls == 0 => polls = 1,
                Poll::Pending => thread::park(),
            }
        };
        message.unwrap().check();
        thread.join().unwrap();
    });
}

/// The receiver of a value sees the writes before the send, and loom reports a race with a write
/// after it. Where the race is found, the receiver is not dropped, because its drop would panic
/// during the panic.
#[test]
#[should_panic(expected = "Causality violation: Concurrent write accesses")]
fn canary_a_write_after_the_send_races_with_the_receiver() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let raced = std::sync::Arc::new(Raced::new());
        let other = raced.clone();
        let receiving_thread = thread::spawn(move || {
            if receiver.try_recv().is_ok() {
                let receiver = ManuallyDrop::new(receiver);
                other.touch();
                drop(ManuallyDrop::into_inner(receiver));
            }
        });
        sender.send(()).unwrap();
        raced.touch();
        receiving_thread.join().unwrap();
    });
}
