//! Models of the mpsc channels: messages arrive once, whole and in order, the receiver is woken for
//! them and for the end, and blocks are reused only after their last access. In a model, a block
//! has two slots.

use std::mem::ManuallyDrop;
use std::task::{Context, Poll};

use raddle_primitives::model::{self, Model};
use raddle_primitives::thread;
use raddle_sync::mpsc::error::TryRecvError;
use raddle_sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::messages::{Message, Raced, wait, waker};

fn receive<T>(receiver: &mut UnboundedReceiver<T>, changes: bool) -> Option<T> {
    wait(changes, |cx| receiver.poll_recv(cx))
}

fn send(sender: UnboundedSender<Message>, count: usize) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for _ in 0..count {
            if let Err(refused) = sender.send(Message::new()) {
                refused.0.check();
            }
        }
    })
}

/// The receiver waits for a message and for the end. All interleavings are explored.
#[test]
fn a_message_and_the_end_against_receive() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let thread = send(sender, 1);
        receive(&mut receiver, false).unwrap().check();
        assert!(receive(&mut receiver, false).is_none());
        thread.join().unwrap();
    });
}

/// The receiver registers another waker while it is woken. Bounded at 3 preemptions.
#[test]
fn a_message_against_a_receiver_that_changes_its_waker() {
    Model::new().preemptions(3).check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let thread = send(sender, 1);
        receive(&mut receiver, true).unwrap().check();
        assert!(receive(&mut receiver, true).is_none());
        thread.join().unwrap();
    });
}

/// The receiver compares its waker with the registered one while the sender takes that out and
/// wakes it. All interleavings are explored.
#[test]
fn a_message_against_a_receiver_that_is_polled_again_with_its_waker() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let thread = send(sender.clone(), 1);
        let waker = waker();
        let cx = &mut Context::from_waker(&waker);
        let mut polls = 0;
        let message = loop {
            match receiver.poll_recv(cx) {
                Poll::Ready(message) => break message,
                Poll::Pending if polls == 0 => polls = 1,
                Poll::Pending => {
                    // A receiver that is polled while it is woken wakes itself.
                    thread::yield_now();
                    thread::park();
                }
            }
        };
        message.unwrap().check();
        thread.join().unwrap();
    });
}

/// Bounded at 2 preemptions.
#[test]
fn two_senders_against_receive() {
    Model::new().preemptions(2).check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let threads = [send(sender.clone(), 1), send(sender.clone(), 1)];
        for _ in 0..2 {
            receive(&mut receiver, false).unwrap().check();
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// Both senders append the second block. All interleavings are explored.
#[test]
fn two_senders_that_append_a_block_lose_no_message() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        sender.send(Message::new()).ok().unwrap();
        let threads = [send(sender.clone(), 1), send(sender, 2)];
        for thread in threads {
            thread.join().unwrap();
        }
        for _ in 0..4 {
            receive(&mut receiver, false).unwrap().check();
        }
        assert!(receive(&mut receiver, false).is_none());
    });
}

/// Blocks are recycled. Bounded at 2 preemptions.
#[test]
fn a_sender_against_a_receiver_that_recycles() {
    Model::new().preemptions(2).branches(10_000).check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for _ in 0..4 {
            sender.send(Message::new()).ok().unwrap();
        }
        let thread = send(sender.clone(), 3);
        for _ in 0..7 {
            receive(&mut receiver, false).unwrap().check();
        }
        thread.join().unwrap();
    });
}

/// A sender has reserved a position and not yet found its block, while another one fills blocks and
/// the receiver empties them. Bounded at 2 preemptions.
#[test]
fn a_slow_sender_against_blocks_that_are_recycled() {
    Model::new().preemptions(2).branches(10_000).check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let thread = send(sender.clone(), 1);
        for _ in 0..6 {
            sender.send(Message::new()).ok().unwrap();
            receiver.try_recv().unwrap().check();
        }
        drop(sender);
        thread.join().unwrap();
        receiver.try_recv().unwrap().check();
    });
}

/// A message that was sent is received or dropped; a refused message is returned. Bounded at 3
/// preemptions.
#[test]
fn send_against_close_and_drop() {
    for close in [true, false] {
        Model::new().preemptions(3).check(move || {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            sender.send(Message::new()).ok().unwrap();
            let thread = send(sender, 2);
            if close {
                receiver.close();
                while let Some(message) = receive(&mut receiver, false) {
                    message.check();
                }
            }
            drop(receiver);
            thread.join().unwrap();
        });
    }
}

/// The receiver gets a message that was sent, although an earlier one is still being sent. All
/// interleavings are explored.
#[test]
fn try_recv_sees_what_was_sent_before() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let thread = send(sender.clone(), 1);
        sender.send(Message::new()).ok().unwrap();
        receiver.try_recv().unwrap().check();
        thread.join().unwrap();
        receiver.try_recv().unwrap().check();
    });
}

/// A waiting receiver that is dropped drops its waker. All interleavings are explored.
#[test]
fn send_against_a_receiver_that_waits_and_is_dropped() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let thread = send(sender, 1);
        let waker = waker();
        if let Poll::Ready(message) = receiver.poll_recv(&mut Context::from_waker(&waker)) {
            message.unwrap().check();
        }
        drop(receiver);
        thread.join().unwrap();
    });
}

/// The last sender is dropped while a weak sender is upgraded. All interleavings are explored.
#[test]
fn upgrade_against_the_last_sender() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let weak = sender.downgrade();
        let thread = thread::spawn(move || drop(sender));
        if let Some(sender) = weak.upgrade() {
            sender.send(Message::new()).ok().unwrap();
            drop(sender);
            receive(&mut receiver, false).unwrap().check();
        }
        assert!(receive(&mut receiver, false).is_none());
        thread.join().unwrap();
    });
}

/// All interleavings are explored.
#[test]
fn closed_against_a_close() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel::<Message>();
        let thread = thread::spawn(move || receiver.close());
        let mut closed = Box::pin(sender.closed());
        wait(false, |cx| closed.as_mut().poll(cx));
        assert!(sender.is_closed());
        thread.join().unwrap();
    });
}

/// Two messages with room for one. Bounded at 2 preemptions.
#[test]
fn a_sender_that_waits_for_room_is_woken() {
    Model::new().preemptions(2).check(|| {
        let (sender, mut receiver) = mpsc::channel(1);
        let thread = thread::spawn(move || {
            for _ in 0..2 {
                let mut send = Box::pin(sender.send(Message::new()));
                wait(false, |cx| send.as_mut().poll(cx)).ok().unwrap();
            }
        });
        while let Some(message) = wait(false, |cx| receiver.poll_recv(cx)) {
            message.check();
        }
        thread.join().unwrap();
    });
}

/// A permit is released while a sender is about to wait for it: the sender takes it from the
/// receiver's word, or the receiver serves the sender under the lock. In both cases the sender sees
/// the receiver's earlier writes. All interleavings are explored.
#[test]
fn returned_permits_against_a_waiting_sender() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(()).unwrap();
        let message = Message::new();
        let before = message.forge();
        let thread = thread::spawn(move || {
            before.touch();
            receiver.try_recv().unwrap();
            receiver
        });
        let mut reserve = Box::pin(sender.reserve());
        let permit = wait(false, |cx| reserve.as_mut().poll(cx)).unwrap();
        message.check();
        drop(permit);
        let receiver = thread.join().unwrap();
        assert_eq!((sender.capacity(), receiver.len()), (1, 0));
    });
}

/// The same for two permits, one of which a second sender may take without waiting. Bounded at 2
/// preemptions.
#[test]
fn returned_permits_serve_two_senders() {
    Model::new().preemptions(2).check(|| {
        let (sender, mut receiver) = mpsc::channel(2);
        sender.try_send(()).unwrap();
        sender.try_send(()).unwrap();
        let thread = thread::spawn(move || {
            receiver.try_recv().unwrap();
            receiver.try_recv().unwrap();
            receiver
        });
        let other = {
            let sender = sender.clone();
            thread::spawn(move || sender.try_reserve().is_ok())
        };
        let mut reserve = Box::pin(sender.reserve());
        drop(wait(false, |cx| reserve.as_mut().poll(cx)).unwrap());
        other.join().unwrap();
        let _receiver = thread.join().unwrap();
        assert_eq!(sender.capacity(), 2);
    });
}

/// Permits that a sender collects while the channel is closed are not lost: the channel ends.
/// Bounded at 3 preemptions.
#[test]
fn collecting_returned_permits_against_close() {
    Model::new().preemptions(3).check(|| {
        let (sender, mut receiver) = mpsc::channel(2);
        for _ in 0..2 {
            sender.try_send(()).unwrap();
        }
        receiver.try_recv().unwrap();
        let thread = thread::spawn({
            let sender = sender.clone();
            // More permits than there are: the sender returns those that it has collected.
            move || drop(sender.try_reserve_many(2))
        });
        receiver.close();
        while wait(false, |cx| receiver.poll_recv(cx)).is_some() {}
        thread.join().unwrap();
        drop(sender);
    });
}

/// The use or the drop of the last permit ends a closed channel. All interleavings are explored.
#[test]
fn permits_against_close() {
    for used in 0..3 {
        model::check(move || {
            let (sender, mut receiver) = mpsc::channel(2);
            let other = sender.clone();
            let permit = sender.try_reserve_owned().ok().unwrap();
            let thread = thread::spawn(move || {
                if used > 0 {
                    permit.send(Message::new());
                } else {
                    drop(permit);
                }
            });
            let second = (used > 1).then(|| other.try_reserve().unwrap());
            receiver.close();
            drop(second);
            let mut received = 0;
            while let Some(message) = wait(false, |cx| receiver.poll_recv(cx)) {
                message.check();
                received += 1;
            }
            assert_eq!(received, used.min(1));
            thread.join().unwrap();
            drop(other);
        });
    }
}

/// A send that may have its permit already is dropped while the channel is closed. All
/// interleavings are explored.
#[test]
fn a_send_dropped_against_close() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(Message::new()).ok().unwrap();
        let other = sender.clone();
        let thread = thread::spawn(move || {
            let waker = waker();
            let mut send = Box::pin(other.send(Message::new()));
            let _ = send.as_mut().poll(&mut Context::from_waker(&waker));
        });
        receiver.try_recv().unwrap().check();
        receiver.close();
        while let Some(message) = wait(false, |cx| receiver.poll_recv(cx)) {
            message.check();
        }
        thread.join().unwrap();
        drop(sender);
    });
}

/// A receiver that sees the end also sees the earlier writes of all senders. All interleavings are
/// explored.
#[test]
fn dropping_the_sender_publishes_earlier_writes() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel::<()>();
        let message = Message::new();
        let before = message.forge();
        let other = sender.clone();
        let thread = thread::spawn(move || {
            before.touch();
            drop(sender);
        });
        drop(other);
        assert!(receive(&mut receiver, false).is_none());
        message.check();
        thread.join().unwrap();
    });
}

/// The same without waiting: the receiver checks for the end, or whether the channel is closed. All
/// interleavings are explored.
#[test]
fn the_close_publishes_to_a_receiver_that_checks() {
    for tries in [true, false] {
        model::check(move || {
            let (sender, mut receiver) = mpsc::unbounded_channel::<()>();
            let message = Message::new();
            let before = message.forge();
            let checking_thread = thread::spawn(move || {
                let ended = if tries {
                    receiver.try_recv() == Err(TryRecvError::Disconnected)
                } else {
                    receiver.is_closed()
                };
                if ended {
                    message.check();
                }
            });
            before.touch();
            drop(sender);
            checking_thread.join().unwrap();
        });
    }
}

/// A sender that checks for the close, or whose send is refused, sees the receiver's writes before
/// the close. All interleavings are explored.
#[test]
fn the_close_publishes_earlier_writes() {
    for look in [true, false] {
        model::check(move || {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let message = Message::new();
            let before = message.forge();
            let thread = thread::spawn(move || {
                before.touch();
                receiver.close();
            });
            let closed = if look {
                sender.is_closed()
            } else {
                sender.send(()).is_err()
            };
            if closed {
                message.check();
            }
            thread.join().unwrap();
        });
    }
}

/// A receiver waits, closes the channel, and is not polled again before it is woken: by the last
/// sender, which may be in the middle of a send, or by a message that was sent before the close.
/// All interleavings are explored.
#[test]
fn the_last_sender_against_a_receiver_that_waits_and_closes() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let thread = send(sender, 1);
        let waker = waker();
        let cx = &mut Context::from_waker(&waker);
        let mut next = receiver.poll_recv(cx);
        receiver.close();
        while next.is_pending() {
            thread::park();
            next = receiver.poll_recv(cx);
        }
        if let Poll::Ready(Some(message)) = next {
            message.check();
        }
        thread.join().unwrap();
    });
}

/// The same for a bounded channel, which the last permit can also end. All interleavings are
/// explored.
#[test]
fn the_last_permit_against_a_receiver_that_waits_and_closes() {
    for uses in [false, true] {
        model::check(move || {
            let (sender, mut receiver) = mpsc::channel(1);
            let thread = thread::spawn(move || {
                if uses {
                    if let Ok(permit) = sender.try_reserve() {
                        permit.send(Message::new());
                    }
                }
            });
            let waker = waker();
            let cx = &mut Context::from_waker(&waker);
            let mut next = receiver.poll_recv(cx);
            receiver.close();
            while next.is_pending() {
                thread::park();
                next = receiver.poll_recv(cx);
            }
            if let Poll::Ready(Some(message)) = next {
                message.check();
            }
            thread.join().unwrap();
        });
    }
}

/// A sender has reserved a position, and starts its search at a block that another sender has moved
/// past, while the receiver empties two blocks: the sender must not mistake a reused block for its
/// own. Bounded at 2 preemptions.
#[test]
fn two_senders_against_a_receiver_that_crosses_two_blocks() {
    Model::new().preemptions(2).branches(10_000).check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for _ in 0..2 {
            sender.send(Message::new()).ok().unwrap();
            receiver.try_recv().unwrap().check();
        }
        let threads = [send(sender.clone(), 1), send(sender.clone(), 1)];
        sender.send(Message::new()).ok().unwrap();
        for _ in 0..3 {
            receive(&mut receiver, false).unwrap().check();
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// Two senders fill the first block and both move past it. Bounded at 2 preemptions.
#[test]
fn two_senders_pass_a_block_that_is_recycled() {
    Model::new().preemptions(2).branches(10_000).check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for _ in 0..2 {
            sender.send(Message::new()).ok().unwrap();
        }
        let thread = send(sender.clone(), 2);
        for _ in 0..2 {
            sender.send(Message::new()).ok().unwrap();
        }
        for _ in 0..6 {
            if let Ok(message) = receiver.try_recv() {
                message.check();
            }
        }
        sender.send(Message::new()).ok().unwrap();
        thread.join().unwrap();
        while let Ok(message) = receiver.try_recv() {
            message.check();
        }
    });
}

/// The receiver of a message sees the writes before the send, and loom reports a race with a write
/// after it. Where the race is found, the ends are not dropped, because their drops would panic
/// during the panic.
#[test]
#[should_panic(expected = "Causality violation: Concurrent write accesses")]
fn canary_a_write_after_the_send_races_with_the_receiver() {
    model::check(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel();
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
        let sender = ManuallyDrop::new(sender);
        raced.touch();
        drop(ManuallyDrop::into_inner(sender));
        receiving_thread.join().unwrap();
    });
}
