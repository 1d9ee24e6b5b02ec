//! Tests of the unbounded mpsc channel.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use futures_lite::future::block_on;
use raddle_sync::mpsc::error::TryRecvError;
use raddle_sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use raddle_testing::Wakes;

use crate::counted::{self, Dropped, PanicsOnDrop, check_ends};

fn poll<T>(receiver: &mut UnboundedReceiver<T>, waker: &Waker) -> Poll<Option<T>> {
    receiver.poll_recv(&mut Context::from_waker(waker))
}

#[test]
fn messages_arrive_in_order_over_many_blocks() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for round in 0..3 {
        for message in 0..1_000 {
            sender.send(message).unwrap();
        }
        assert_eq!(receiver.len(), 1_000);
        for message in 0..1_000 {
            if message % 2 == round % 2 {
                assert_eq!(receiver.try_recv(), Ok(message));
            } else {
                assert_eq!(
                    poll(&mut receiver, Waker::noop()),
                    Poll::Ready(Some(message))
                );
            }
        }
        assert!(receiver.is_empty());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

/// The receiver waits and is woken at each position in a block, including the first and the last.
#[test]
fn a_receiver_that_waits_is_woken_once_at_each_slot() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for message in 0..100 {
        assert!(poll(&mut receiver, &waker).is_pending());
        assert!(poll(&mut receiver, &waker).is_pending());
        sender.send(message).unwrap();
        sender.send(message).unwrap();
        assert_eq!(woken.get(), message + 1);
        assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(message)));
        assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(message)));
    }
    drop(waker);
    woken.assert_released();
}

#[test]
fn only_the_last_waker_is_woken_and_all_are_dropped() {
    let (first, first_waker) = Wakes::new();
    let (last, last_waker) = Wakes::new();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    assert!(poll(&mut receiver, &first_waker).is_pending());
    assert!(poll(&mut receiver, &last_waker).is_pending());
    drop(first_waker);
    first.assert_released();
    sender.send(1).unwrap();
    assert_eq!((first.get(), last.get()), (0, 1));
    assert_eq!(poll(&mut receiver, &last_waker), Poll::Ready(Some(1)));
    assert!(poll(&mut receiver, &last_waker).is_pending());
    drop((receiver, last_waker));
    last.assert_released();
    drop(sender);
}

#[test]
fn dropping_the_last_sender_closes_the_channel() {
    for before in [0, 1, 31, 32, 33, 64] {
        let (woken, waker) = Wakes::new();
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for message in 0..before {
            sender.send(message).unwrap();
            assert_eq!(receiver.try_recv(), Ok(message));
        }
        assert!(poll(&mut receiver, &waker).is_pending());
        let other = sender.clone();
        assert_eq!(
            (receiver.sender_strong_count(), receiver.sender_weak_count()),
            (2, 0)
        );
        drop(sender);
        assert_eq!(woken.get(), 0);
        assert!(!receiver.is_closed());
        drop(other);
        assert_eq!(woken.get(), 1);
        assert!(receiver.is_closed() && receiver.is_empty());
        for _ in 0..2 {
            assert_eq!(poll(&mut receiver, &waker), Poll::Ready(None));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        }
    }
}

/// A receiver waits, closes the channel and is not polled after that, at each position in a block.
/// Refused sends do not move the end.
#[test]
fn a_receiver_that_closed_while_it_waits_is_woken_by_the_last_sender() {
    for received in [0, 1, 31, 32, 33] {
        for refused in [0, 1, 40] {
            let (woken, waker) = Wakes::new();
            let (sender, mut receiver) = mpsc::unbounded_channel();
            for message in 0..received {
                sender.send(message).unwrap();
                assert_eq!(receiver.try_recv(), Ok(message));
            }
            assert!(poll(&mut receiver, &waker).is_pending());
            receiver.close();
            for _ in 0..refused {
                sender.send(9).unwrap_err();
            }
            let other = sender.clone();
            drop(sender);
            assert_eq!(woken.get(), 0);
            drop(other);
            assert_eq!(woken.get(), 1);
            assert_eq!(poll(&mut receiver, &waker), Poll::Ready(None));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
            drop((receiver, waker));
            woken.assert_released();
        }
    }
}

#[test]
fn a_closed_channel_refuses_messages_and_keeps_earlier_ones() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for message in 0..40 {
        sender.send(message).unwrap();
    }
    receiver.close();
    receiver.close();
    assert!(sender.is_closed() && receiver.is_closed());
    for _ in 0..100 {
        assert_eq!(sender.send(9).unwrap_err().0, 9);
    }
    assert_eq!(receiver.len(), 40);
    for message in 0..40 {
        assert_eq!(
            poll(&mut receiver, Waker::noop()),
            Poll::Ready(Some(message))
        );
    }
    assert!(receiver.is_empty());
    assert_eq!(poll(&mut receiver, Waker::noop()), Poll::Ready(None));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    drop(sender);
    assert_eq!(poll(&mut receiver, Waker::noop()), Poll::Ready(None));
}

#[test]
fn weak_senders_do_not_keep_the_channel_open() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let weak = sender.downgrade();
    assert_eq!((weak.strong_count(), weak.clone().weak_count()), (1, 2));
    let other = weak.upgrade().unwrap();
    assert!(other.same_channel(&sender));
    assert!(!other.same_channel(&mpsc::unbounded_channel().0));
    other.send(1).unwrap();
    drop((sender, other));
    assert!(weak.upgrade().is_none());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!((weak.strong_count(), weak.weak_count()), (0, 1));
}

#[test]
fn same_channel_and_the_number_of_senders_are_correct() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let (other, _receiver) = mpsc::unbounded_channel();
    assert!(!sender.same_channel(&other));
    check_ends!(sender, receiver, send);
}

#[test]
fn many_are_received_by_a_poll_or_a_thread() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut buffer = Vec::new();
    let cx = &mut Context::from_waker(Waker::noop());
    assert_eq!(
        receiver.poll_recv_many(cx, &mut buffer, 0),
        Poll::Ready(0),
        "a limit of 0 is ready at once"
    );
    for message in 0..9 {
        sender.send(message).unwrap();
    }
    assert_eq!(receiver.blocking_recv_many(&mut buffer, 3), 3);
    assert_eq!(receiver.poll_recv_many(cx, &mut buffer, 4), Poll::Ready(4));
    assert_eq!(receiver.poll_recv_many(cx, &mut buffer, 4), Poll::Ready(2));
    assert!(receiver.poll_recv_many(cx, &mut buffer, 4).is_pending());
    drop(sender);
    assert_eq!(receiver.poll_recv_many(cx, &mut buffer, 4), Poll::Ready(0));
    assert_eq!(buffer, (0..9).collect::<Vec<_>>());
}

#[test]
fn many_are_received_at_once() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for message in 0..100 {
        sender.send(message).unwrap();
    }
    let mut buffer = Vec::new();
    block_on(async {
        assert_eq!(receiver.recv_many(&mut buffer, 0).await, 0);
        assert_eq!(receiver.recv_many(&mut buffer, 70).await, 70);
        assert_eq!(receiver.recv_many(&mut buffer, 70).await, 30);
        drop(sender);
        assert_eq!(receiver.recv_many(&mut buffer, 70).await, 0);
    });
    assert_eq!(buffer, (0..100).collect::<Vec<_>>());
}

/// A future of `recv` that is dropped after a wake-up has received no message.
#[test]
fn a_receive_dropped_at_each_poll_loses_nothing() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for polls in 0..3 {
        {
            let mut recv = std::pin::pin!(receiver.recv());
            for _ in 0..polls {
                assert!(
                    recv.as_mut()
                        .poll(&mut Context::from_waker(&waker))
                        .is_pending()
                );
            }
            sender.send(polls).unwrap();
        }
        assert_eq!(woken.get(), polls);
        if polls > 0 {
            // Another future than the woken one receives the message.
            assert_eq!(receiver.try_recv(), Ok(polls));
        } else {
            assert_eq!(block_on(receiver.recv()), Some(polls));
        }
    }
}

#[test]
fn closed_is_ready_when_the_receiver_closes() {
    for close in [true, false] {
        let wakers: Vec<_> = (0..100).map(|_| Wakes::new()).collect();
        let (sender, mut receiver) = mpsc::unbounded_channel::<u32>();
        let mut waits: Vec<_> = wakers.iter().map(|_| Box::pin(sender.closed())).collect();
        for _ in 0..2 {
            for (wait, (_, waker)) in waits.iter_mut().zip(&wakers) {
                assert!(
                    wait.as_mut()
                        .poll(&mut Context::from_waker(waker))
                        .is_pending()
                );
            }
        }
        waits.truncate(90);
        if close {
            receiver.close();
        } else {
            drop(receiver);
        }
        for (place, (woken, _)) in wakers.iter().enumerate() {
            assert_eq!(woken.get(), usize::from(place < 90));
        }
        for wait in &mut waits {
            assert!(
                wait.as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_ready()
            );
        }
        drop(waits);
        block_on(sender.closed());
        for (woken, waker) in wakers {
            drop(waker);
            woken.assert_released();
        }
    }
}

#[test]
fn messages_are_dropped_once() {
    for received in [0, 1, 40, 100] {
        let dropped = Dropped::new();
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for _ in 0..100 {
            assert!(sender.send(dropped.value()).is_ok());
        }
        for _ in 0..received {
            drop(receiver.try_recv());
        }
        assert_eq!(dropped.count(), received);
        drop(receiver);
        assert_eq!(dropped.count(), 100);
        drop(sender.send(dropped.value()));
        assert_eq!(dropped.count(), 101);
    }
}

/// The case of RUSTSEC-2025-0024, which was in another channel: messages of a channel whose ends
/// are dropped at the same time are dropped once.
#[test]
fn both_ends_dropped_at_once_drop_each_message_once() {
    for round in 0..200 {
        let dropped = Dropped::new();
        let (sender, receiver) = mpsc::unbounded_channel();
        let sent = thread::scope(|scope| {
            let senders: Vec<_> = (0..2)
                .map(|_| {
                    let (sender, dropped) = (sender.clone(), dropped.clone());
                    scope.spawn(move || {
                        (0..70)
                            .filter(|_| sender.send(dropped.value()).is_ok())
                            .count()
                    })
                })
                .collect();
            if round % 2 == 0 {
                thread::yield_now();
            }
            drop(receiver);
            drop(sender);
            senders
                .into_iter()
                .map(|sender| sender.join().unwrap())
                .sum::<usize>()
        });
        assert!(sent <= 140);
        assert_eq!(dropped.count(), 140);
    }
}

#[test]
fn a_message_whose_drop_panics_does_not_affect_others() {
    enum Message {
        Panics(PanicsOnDrop),
        Counted(#[allow(dead_code, reason = "this message is only dropped")] counted::Value),
    }
    let dropped = Dropped::new();
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut closed = Box::pin(sender.closed());
    assert!(
        closed
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    for place in 0..100 {
        let message = if place % 10 == 0 {
            Message::Panics(PanicsOnDrop)
        } else {
            Message::Counted(dropped.value())
        };
        assert!(sender.send(message).is_ok());
    }
    catch_unwind(AssertUnwindSafe(|| drop(receiver.try_recv()))).unwrap_err();
    assert!(receiver.try_recv().is_ok(), "the channel still works");
    catch_unwind(AssertUnwindSafe(|| drop(receiver))).unwrap_err();
    assert_eq!(dropped.count(), 90);
    assert_eq!(woken.get(), 1);
    assert!(sender.send(Message::Counted(dropped.value())).is_err());
}

#[test]
fn a_waker_that_panics_leaves_the_channel_usable() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    assert!(poll(&mut receiver, &counted::panicking_waker()).is_pending());
    catch_unwind(AssertUnwindSafe(|| sender.send(1))).unwrap_err();
    sender.send(2).unwrap();
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Ok(2));

    let waits: Vec<_> = (0..80)
        .map(|place| {
            let (woken, waker) = Wakes::new();
            let panics = place % 7 == 0;
            let waker = if panics {
                counted::panicking_waker()
            } else {
                waker
            };
            let mut wait = Box::pin(sender.closed());
            assert!(
                wait.as_mut()
                    .poll(&mut Context::from_waker(&waker))
                    .is_pending()
            );
            (wait, woken, panics)
        })
        .collect();
    catch_unwind(AssertUnwindSafe(|| receiver.close())).unwrap_err();
    for (_, woken, panics) in waits {
        assert_eq!(woken.get(), usize::from(!panics));
    }
}

/// A waker and a message that send to their own channel and receive from it.
#[test]
fn wakers_and_messages_may_use_the_channel() {
    struct Sends(UnboundedSender<Message>);
    impl Wake for Sends {
        fn wake(self: Arc<Self>) {
            self.0.send(Message(None)).unwrap();
        }
    }
    struct Message(Option<UnboundedSender<Message>>);
    impl Drop for Message {
        fn drop(&mut self) {
            if let Some(sender) = self.0.take() {
                let _ = sender.send(Message(None));
                assert!(sender.is_closed());
            }
        }
    }
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let waker = Arc::new(Sends(sender.clone())).into();
    assert!(poll(&mut receiver, &waker).is_pending());
    sender.send(Message(Some(sender.clone()))).unwrap();
    assert_eq!(receiver.len(), 2);
    receiver.close();
    drop(receiver);
}

#[test]
fn a_receiver_that_is_always_ready_yields() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for message in 0..1_000 {
        sender.send(message).unwrap();
    }
    let received = raddle_leaf::coop::budget(|| {
        (0..1_000)
            .take_while(|_| poll(&mut receiver, Waker::noop()).is_ready())
            .count()
    });
    assert_eq!(received, 128);
    assert_eq!(receiver.try_recv(), Ok(128), "the yield loses no message");
    let mut buffer = Vec::new();
    let calls = raddle_leaf::coop::budget(|| {
        let cx = &mut Context::from_waker(Waker::noop());
        (0..400)
            .take_while(|_| receiver.poll_recv_many(cx, &mut buffer, 2).is_ready())
            .count()
    });
    assert_eq!((calls, buffer.len()), (128, 256));
}

#[test]
#[should_panic(expected = "must not block")]
fn blocking_inside_a_poll_panics() {
    let (_sender, mut receiver) = mpsc::unbounded_channel::<u32>();
    raddle_leaf::coop::budget(|| receiver.blocking_recv());
}

#[test]
fn messages_of_each_thread_arrive_in_order() {
    const SENDERS: usize = 3;
    const MESSAGES: usize = if cfg!(miri) { 100 } else { 20_000 };
    let (sender, mut receiver) = mpsc::unbounded_channel();
    thread::scope(|scope| {
        for number in 0..SENDERS {
            let sender = sender.clone();
            scope.spawn(move || {
                for message in 0..MESSAGES {
                    sender.send((number, message)).unwrap();
                }
            });
        }
        drop(sender);
        let mut next = [0; SENDERS];
        let mut buffer = Vec::new();
        loop {
            match receiver.try_recv() {
                Ok(message) => buffer.push(message),
                Err(_) if receiver.blocking_recv_many(&mut buffer, 50) == 0 => break,
                Err(_) => {}
            }
            for (number, message) in buffer.drain(..) {
                assert_eq!(message, next[number]);
                next[number] += 1;
            }
        }
        assert_eq!(next, [MESSAGES; SENDERS]);
    });
}

#[test]
fn senders_and_receivers_are_send_sync_and_unpin() {
    fn check<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    check::<UnboundedSender<std::cell::Cell<u8>>>();
    check::<UnboundedReceiver<std::cell::Cell<u8>>>();
    check::<mpsc::WeakUnboundedSender<u8>>();
}
