//! Tests of the bounded mpsc channel.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;

use futures_lite::future::block_on;
use raddle_primitives::sync::Mutex;
use raddle_sync::mpsc::error::{TryRecvError, TrySendError};
use raddle_sync::mpsc::{self, Receiver, Sender};
use raddle_testing::Wakes;

use crate::counted::{self, Dropped, PanicsOnDrop, check_ends};
use crate::hooked::Hooked;

fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

fn receive<T>(receiver: &mut Receiver<T>, waker: &Waker) -> Poll<Option<T>> {
    receiver.poll_recv(&mut Context::from_waker(waker))
}

#[test]
fn a_full_channel_refuses_try_send_and_makes_send_wait() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = mpsc::channel(2);
    assert_eq!((sender.capacity(), sender.max_capacity()), (2, 2));
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(
        (receiver.len(), receiver.capacity(), receiver.max_capacity()),
        (2, 0, 2)
    );
    let mut send = pin!(sender.send(3));
    assert!(poll(send.as_mut(), &waker).is_pending());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(woken.get(), 1);
    assert_eq!(
        sender.try_send(4),
        Err(TrySendError::Full(4)),
        "another sender is first in line"
    );
    assert!(poll(send.as_mut(), &waker).is_ready());
    assert_eq!(receiver.try_recv(), Ok(2));
    assert_eq!(receiver.try_recv(), Ok(3));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(sender.capacity(), 2);
}

#[test]
fn a_permit_reserves_capacity() {
    let (sender, mut receiver) = mpsc::channel(4);
    let permit = block_on(sender.reserve()).unwrap();
    let mut many = block_on(sender.reserve_many(2)).unwrap();
    assert_eq!((many.len(), sender.capacity()), (2, 1));
    assert_eq!(
        sender.try_reserve_many(2).unwrap_err(),
        TrySendError::Full(())
    );
    assert!(block_on(sender.reserve_many(5)).is_err());
    assert_eq!(
        sender.try_reserve_many(5).unwrap_err(),
        TrySendError::Full(())
    );
    many.next().unwrap().send(1);
    permit.send(2);
    drop(many);
    assert_eq!(sender.capacity(), 2);
    drop(sender.try_reserve().unwrap());
    assert_eq!(sender.try_reserve_many(2).unwrap().len(), 2);
    assert_eq!(sender.capacity(), 2);
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Ok(2));
    assert!(receiver.is_empty());
}

#[test]
fn owned_permits_keep_the_sender() {
    let (sender, mut receiver) = mpsc::channel(1);
    let other = sender.clone();
    let permit = block_on(sender.reserve_owned()).unwrap();
    assert!(permit.same_channel_as_sender(&other) && permit.same_channel(&permit));
    let other = match other.try_reserve_owned().unwrap_err() {
        TrySendError::Full(other) => other,
        TrySendError::Closed(_) => panic!("the channel is full"),
    };
    let sender = permit.send(1);
    assert_eq!(receiver.try_recv(), Ok(1));
    let sender = sender.try_reserve_owned().unwrap().release();
    assert_eq!(sender.capacity(), 1);
    drop(sender.try_reserve_owned().unwrap());
    assert_eq!((other.capacity(), other.strong_count()), (1, 1));
    drop(other);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

/// The permit returns one place, even if other places are taken.
#[test]
fn an_unused_owned_permit_returns_its_capacity() {
    let (sender, _receiver) = mpsc::channel(3);
    sender.try_send(0).unwrap();
    sender.try_send(1).unwrap();
    drop(sender.clone().try_reserve_owned().unwrap());
    assert_eq!(sender.capacity(), 1);
    let sender = sender.try_reserve_owned().unwrap().release();
    assert_eq!(sender.capacity(), 1);
}

#[test]
fn same_channel_and_the_number_of_senders_are_correct() {
    let (sender, mut receiver) = mpsc::channel(2);
    let (other, _receiver) = mpsc::channel(2);
    assert!(sender.same_channel(&sender.clone()));
    assert!(!sender.same_channel(&other));
    let permit = sender.clone().try_reserve_owned().unwrap();
    let other_permit = other.clone().try_reserve_owned().unwrap();
    assert!(!permit.same_channel(&other_permit));
    assert!(!permit.same_channel_as_sender(&other));
    drop(permit);

    check_ends!(sender, receiver, try_send);
}

#[test]
fn reserving_more_than_the_capacity_is_refused_also_after_the_close() {
    let (sender, mut receiver) = mpsc::channel::<u32>(2);
    receiver.close();
    for n in [3, usize::MAX] {
        assert_eq!(
            sender.try_reserve_many(n).unwrap_err(),
            TrySendError::Full(())
        );
    }
    assert_eq!(
        sender.try_reserve_many(2).unwrap_err(),
        TrySendError::Closed(())
    );
}

/// After the close the channel ends with the last permit, whether it is used, released or dropped.
#[test]
fn a_closed_channel_ends_with_the_last_permit() {
    for way in 0..4 {
        let (woken, waker) = Wakes::new();
        let (sender, mut receiver) = mpsc::channel(3);
        sender.try_send(0).unwrap();
        let first = sender.try_reserve().unwrap();
        let second = sender.try_reserve().unwrap();
        receiver.close();
        assert!(sender.is_closed() && receiver.is_closed());
        assert_eq!(sender.try_send(9), Err(TrySendError::Closed(9)));
        assert!(block_on(sender.send(9)).is_err());
        assert!(block_on(sender.reserve()).is_err());
        assert_eq!(receive(&mut receiver, &waker), Poll::Ready(Some(0)));
        assert!(receive(&mut receiver, &waker).is_pending());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        let mut messages = Vec::new();
        for (place, permit) in [first, second].into_iter().enumerate() {
            if way & (1 << place) == 0 {
                drop(permit);
            } else {
                permit.send(place);
                messages.push(place);
            }
        }
        assert_eq!(woken.get(), 1);
        for message in messages {
            assert_eq!(receive(&mut receiver, &waker), Poll::Ready(Some(message)));
        }
        assert_eq!(receive(&mut receiver, &waker), Poll::Ready(None));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
}

/// A receiver waits, closes the channel and is not polled after that, at each position in a block.
#[test]
fn a_receiver_that_closed_while_it_waits_is_woken_by_the_last_sender() {
    for received in [0, 1, 31, 32, 33] {
        let (woken, waker) = Wakes::new();
        let (sender, mut receiver) = mpsc::channel(2);
        for message in 0..received {
            sender.try_send(message).unwrap();
            assert_eq!(receiver.try_recv(), Ok(message));
        }
        assert!(receive(&mut receiver, &waker).is_pending());
        receiver.close();
        sender.try_send(9).unwrap_err();
        let other = sender.clone();
        drop(sender);
        assert_eq!(woken.get(), 0);
        drop(other);
        assert_eq!(woken.get(), 1);
        assert_eq!(receive(&mut receiver, &waker), Poll::Ready(None));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        drop((receiver, waker));
        woken.assert_released();
    }
}

/// The same with a permit that outlives the close, and a sender that outlives the permit: the
/// permit ends the channel.
#[test]
fn a_receiver_that_closed_while_it_waits_is_woken_by_the_last_permit() {
    for uses in [true, false] {
        let (woken, waker) = Wakes::new();
        let (sender, mut receiver) = mpsc::channel(2);
        let permit = sender.try_reserve().unwrap();
        assert!(receive(&mut receiver, &waker).is_pending());
        receiver.close();
        assert_eq!(woken.get(), 0);
        if uses {
            permit.send(1);
            assert_eq!(woken.get(), 1);
            assert_eq!(receive(&mut receiver, &waker), Poll::Ready(Some(1)));
        } else {
            drop(permit);
            assert_eq!(woken.get(), 1);
        }
        assert_eq!(receive(&mut receiver, &waker), Poll::Ready(None));
        drop(sender);
        assert_eq!(receive(&mut receiver, &waker), Poll::Ready(None));
        drop((receiver, waker));
        woken.assert_released();
    }
}

/// A send that was served before the close, and is dropped before it has seen that, is the last one
/// that the receiver waits for.
#[test]
fn a_served_send_dropped_after_the_close_ends_the_channel() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send(0).unwrap();
    let mut send = Box::pin(sender.send(1));
    assert!(poll(send.as_mut(), Waker::noop()).is_pending());
    assert_eq!(receiver.try_recv(), Ok(0));
    receiver.close();
    assert!(receive(&mut receiver, &waker).is_pending());
    drop(send);
    assert_eq!(woken.get(), 1);
    assert_eq!(receive(&mut receiver, &waker), Poll::Ready(None));
}

#[test]
fn a_close_refuses_the_waiting_senders() {
    for close in [true, false] {
        let (woken, waker) = Wakes::new();
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(0).unwrap();
        let mut sends: Vec<_> = (0..3)
            .map(|message| Box::pin(sender.send(message)))
            .collect();
        for send in &mut sends {
            assert!(poll(send.as_mut(), &waker).is_pending());
        }
        if close {
            receiver.close();
            assert_eq!(receiver.try_recv(), Ok(0));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        } else {
            drop(receiver);
        }
        assert_eq!(woken.get(), 3);
        for (message, send) in sends.iter_mut().enumerate() {
            let Poll::Ready(Err(refused)) = poll(send.as_mut(), &waker) else {
                panic!("the channel is closed");
            };
            assert_eq!(refused.0, message);
        }
    }
}

/// Waiting senders are served in order. A sender that is dropped, at any of its polls, leaves its
/// turn to the next one.
#[test]
fn a_send_dropped_at_each_poll_loses_no_capacity() {
    for served in [false, true] {
        for polls in 0..3 {
            let (woken, waker) = Wakes::new();
            let (sender, mut receiver) = mpsc::channel(1);
            sender.try_send(0).unwrap();
            let mut dropped = Box::pin(sender.send(1));
            for _ in 0..polls {
                assert!(poll(dropped.as_mut(), Waker::noop()).is_pending());
            }
            let mut next = Box::pin(sender.send(2));
            assert!(poll(next.as_mut(), &waker).is_pending());
            if served {
                assert_eq!(receiver.try_recv(), Ok(0));
                drop(dropped);
            } else {
                drop(dropped);
                assert_eq!(receiver.try_recv(), Ok(0));
            }
            assert_eq!(woken.get(), 1);
            assert!(poll(next.as_mut(), &waker).is_ready());
            assert_eq!(receiver.try_recv(), Ok(2));
            assert_eq!(sender.capacity(), 1);
        }
    }
}

#[test]
fn a_receive_dropped_at_each_poll_loses_nothing() {
    let (sender, mut receiver) = mpsc::channel(1);
    for polls in 0..3 {
        {
            let mut recv = pin!(receiver.recv());
            for _ in 0..polls {
                assert!(poll(recv.as_mut(), Waker::noop()).is_pending());
            }
            sender.try_send(polls).unwrap();
        }
        assert_eq!(block_on(receiver.recv()), Some(polls));
    }
}

#[test]
fn receiving_many_messages_frees_capacity_for_many() {
    let (sender, mut receiver) = mpsc::channel(10);
    for message in 0..10 {
        sender.try_send(message).unwrap();
    }
    let (woken, waker) = Wakes::new();
    let mut reserve = pin!(sender.reserve_many(5));
    assert!(poll(reserve.as_mut(), &waker).is_pending());
    let mut buffer = Vec::new();
    assert_eq!(block_on(receiver.recv_many(&mut buffer, 4)), 4);
    assert_eq!(woken.get(), 0);
    assert_eq!(block_on(receiver.recv_many(&mut buffer, 100)), 6);
    assert_eq!(woken.get(), 1);
    let Poll::Ready(Ok(permits)) = poll(reserve.as_mut(), &waker) else {
        panic!("the channel has room");
    };
    permits
        .zip(10..)
        .for_each(|(permit, message)| permit.send(message));
    assert_eq!(block_on(receiver.recv_many(&mut buffer, 100)), 5);
    assert_eq!(buffer, (0..15).collect::<Vec<_>>());
    assert_eq!(sender.capacity(), 10);
    buffer.clear();
    for message in 0..9 {
        sender.try_send(message).unwrap();
    }
    assert_eq!(receiver.blocking_recv_many(&mut buffer, 3), 3);
    let cx = &mut Context::from_waker(&waker);
    assert_eq!(receiver.poll_recv_many(cx, &mut buffer, 4), Poll::Ready(4));
    assert_eq!(receiver.poll_recv_many(cx, &mut buffer, 4), Poll::Ready(2));
    assert!(receiver.poll_recv_many(cx, &mut buffer, 4).is_pending());
    assert_eq!(buffer, (0..9).collect::<Vec<_>>());
}

#[test]
fn weak_senders_do_not_keep_the_channel_open() {
    let (sender, mut receiver) = mpsc::channel(1);
    let weak = sender.downgrade();
    assert_eq!(weak.clone().weak_count(), 2);
    assert_eq!(sender.weak_count(), 1);
    weak.upgrade().unwrap().try_send(1).unwrap();
    assert_eq!(
        (weak.strong_count(), receiver.sender_strong_count()),
        (1, 1)
    );
    drop(sender);
    assert!(weak.upgrade().is_none());
    assert_eq!(receiver.sender_weak_count(), 1);
    assert_eq!(block_on(receiver.recv()), Some(1));
    assert_eq!(block_on(receiver.recv()), None);
}

#[test]
fn messages_dropped_with_the_receiver_return_their_permits() {
    let (sender, receiver) = mpsc::channel(8);
    sender.try_send(0).unwrap();
    sender.try_send(1).unwrap();
    let _permits = sender.try_reserve_many(3).unwrap();
    drop(receiver);
    assert_eq!(sender.capacity(), 5);
}

/// Includes messages that a permit sends after the receiver was dropped.
#[test]
fn messages_are_dropped_once() {
    let dropped = Dropped::new();
    let (sender, receiver) = mpsc::channel(100);
    for _ in 0..50 {
        assert!(sender.try_send(dropped.value()).is_ok());
    }
    let permits: Vec<_> = sender.try_reserve_many(40).unwrap().collect();
    drop(receiver);
    assert_eq!(dropped.count(), 50);
    for permit in permits {
        permit.send(dropped.value());
    }
    assert!(sender.try_send(dropped.value()).is_err());
    assert_eq!(dropped.count(), 51);
    drop(sender);
    assert_eq!(dropped.count(), 91);
}

/// The drops of the messages panic; the last messages are dropped with the channel.
#[test]
fn a_message_whose_drop_panics_does_not_affect_others() {
    enum Message {
        Panics(PanicsOnDrop),
        Counted(#[allow(dead_code, reason = "this message is only dropped")] counted::Value),
    }
    let dropped = Dropped::new();
    let message = |place: usize| match place % 10 {
        0 => Message::Panics(PanicsOnDrop),
        _ => Message::Counted(dropped.value()),
    };
    let (sender, receiver) = mpsc::channel(200);
    for place in 0..50 {
        assert!(sender.try_send(message(place)).is_ok());
    }
    let permits: Vec<_> = sender.try_reserve_many(50).unwrap().collect();
    catch_unwind(AssertUnwindSafe(|| drop(receiver))).unwrap_err();
    assert_eq!(dropped.count(), 45);
    permits
        .into_iter()
        .zip(0..)
        .for_each(|(permit, place)| permit.send(message(place)));
    catch_unwind(AssertUnwindSafe(|| drop(sender))).unwrap_err();
    assert_eq!(dropped.count(), 90);
}

#[test]
fn a_waker_that_panics_leaves_the_channel_usable() {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send(1).unwrap();
    let mut send = Box::pin(sender.send(2));
    assert!(poll(send.as_mut(), &counted::panicking_waker()).is_pending());
    let mut buffer = Vec::new();
    catch_unwind(AssertUnwindSafe(|| {
        block_on(receiver.recv_many(&mut buffer, 1))
    }))
    .unwrap_err();
    assert_eq!(buffer, [1]);
    assert!(poll(send.as_mut(), Waker::noop()).is_ready());
    assert_eq!(receiver.try_recv(), Ok(2));
    assert!(receive(&mut receiver, &counted::panicking_waker()).is_pending());
    catch_unwind(AssertUnwindSafe(|| sender.try_send(3))).unwrap_err();
    assert_eq!(receiver.try_recv(), Ok(3));
    assert_eq!(sender.capacity(), 1);
}

/// The message that would have been received is the next one, and its permit is not released twice.
#[test]
fn a_panic_of_a_sender_s_waker_loses_no_message() {
    for by_poll in [false, true] {
        let (sender, mut receiver) = mpsc::channel(1);
        // Continues past the end of a block.
        for message in 0..70 {
            sender.try_send(message).unwrap();
            let mut send = Box::pin(sender.send(-1));
            assert!(poll(send.as_mut(), &counted::panicking_waker()).is_pending());
            catch_unwind(AssertUnwindSafe(|| {
                if by_poll {
                    let _ = receive(&mut receiver, Waker::noop());
                } else {
                    let _ = receiver.try_recv();
                }
            }))
            .unwrap_err();
            assert_eq!(receiver.len(), 1);
            assert_eq!(receiver.try_recv(), Ok(message));
            assert_eq!(sender.capacity(), 0, "the send has the permit");
            drop(send);
            assert_eq!(sender.capacity(), 1);
        }
        sender.try_send(70).unwrap();
        assert!(sender.try_send(71).is_err());
        receiver.close();
        assert_eq!(receiver.try_recv(), Ok(70));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
}

/// As in a semaphore: after the close no wait gets a permit, and the channel ends.
#[test]
fn a_served_send_is_refused_after_the_close() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send(0).unwrap();
    let mut send = Box::pin(sender.send(1));
    assert!(poll(send.as_mut(), Waker::noop()).is_pending());
    assert_eq!(receiver.try_recv(), Ok(0));
    receiver.close();
    assert!(receive(&mut receiver, &waker).is_pending());
    assert_eq!(
        poll(send.as_mut(), Waker::noop()),
        Poll::Ready(Err(mpsc::error::SendError(1)))
    );
    assert_eq!(woken.get(), 1);
    assert_eq!(receive(&mut receiver, &waker), Poll::Ready(None));
}

/// All returned permits, or some of them, can be reserved at once.
#[test]
fn a_receive_frees_capacity() {
    let (sender, mut receiver) = mpsc::channel(8);
    for round in 1..=8 {
        for message in 0..8 {
            sender.try_send(message).unwrap();
        }
        assert_eq!((sender.capacity(), receiver.capacity()), (0, 0));
        for message in 0..round {
            assert_eq!(receiver.try_recv(), Ok(message));
        }
        assert_eq!((sender.capacity(), receiver.capacity()), (round, round));
        assert!(sender.try_reserve_many(round + 1).is_err());
        drop(sender.try_reserve_many(round).unwrap());
        assert_eq!(sender.capacity(), round);
        while receiver.try_recv().is_ok() {}
        assert_eq!(sender.capacity(), 8);
    }
}

/// Some permits have been returned since, and some were free before.
#[test]
fn reserve_many_uses_free_and_returned_permits_together() {
    let (sender, mut receiver) = mpsc::channel(3);
    sender.try_send(0).unwrap();
    sender.try_send(1).unwrap();
    assert_eq!(receiver.try_recv(), Ok(0));
    let mut reserve = pin!(sender.reserve_many(2));
    assert!(poll(reserve.as_mut(), Waker::noop()).is_ready());
}

#[test]
fn a_permit_returned_in_the_middle_of_a_poll_completes_it() {
    for capacity in 1..4 {
        let (sender, receiver) = mpsc::channel(capacity);
        (0..capacity).for_each(|message| sender.try_send(message).unwrap());
        let receiver = std::sync::Arc::new(Mutex::new(receiver));
        let (counts, waker) = Hooked::new({
            let receiver = receiver.clone();
            move || assert_eq!(receiver.lock().try_recv(), Ok(0))
        });
        let mut reserve = Box::pin(sender.reserve());
        assert!(poll(reserve.as_mut(), &waker).is_pending());
        assert_eq!((counts.woken(), counts.wakers()), (1, 1));
        let Poll::Ready(Ok(permit)) = poll(reserve.as_mut(), &waker) else {
            panic!("the future was served");
        };
        assert_eq!(sender.capacity(), 0);
        drop(permit);
        drop(reserve);
        while receiver.lock().try_recv().is_ok() {}
        // Reserves exactly the free places.
        let room = (0..10).take_while(|_| sender.try_send(0).is_ok()).count();
        assert_eq!(room, capacity);
    }
}

#[test]
fn a_waker_that_panics_does_not_prevent_the_wakes_of_a_close() {
    for dropped in [false, true] {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(1).unwrap();
        let mut refused = Box::pin(sender.send(2));
        assert!(poll(refused.as_mut(), &counted::panicking_waker()).is_pending());
        let (woken, waker) = Wakes::new();
        let mut closed = Box::pin(sender.closed());
        assert!(poll(closed.as_mut(), &waker).is_pending());
        if dropped {
            catch_unwind(AssertUnwindSafe(|| drop(receiver))).unwrap_err();
        } else {
            catch_unwind(AssertUnwindSafe(|| receiver.close())).unwrap_err();
            assert_eq!(receive(&mut receiver, &waker), Poll::Ready(Some(1)));
            assert_eq!(receive(&mut receiver, &waker), Poll::Ready(None));
        }
        assert_eq!(woken.get(), 1);
        assert!(poll(closed.as_mut(), &waker).is_ready());
        assert!(poll(refused.as_mut(), &waker).is_ready());
    }
}

#[test]
fn senders_and_receivers_that_are_always_ready_yield() {
    let (sender, mut receiver) = mpsc::channel(1_000);
    let sent = raddle_leaf::coop::budget(|| {
        (0..1_000)
            .take_while(|&message| poll(pin!(sender.send(message)), Waker::noop()).is_ready())
            .count()
    });
    assert_eq!(sent, 128);
    let received = raddle_leaf::coop::budget(|| {
        (0..1_000)
            .take_while(|_| receive(&mut receiver, Waker::noop()).is_ready())
            .count()
    });
    assert_eq!(received, 128);
}

#[test]
#[should_panic(expected = "must not block")]
fn blocking_inside_a_poll_panics() {
    let (sender, _receiver) = mpsc::channel(1);
    let _ = raddle_leaf::coop::budget(|| sender.blocking_send(1));
}

#[test]
#[should_panic(expected = "the capacity of a bounded channel is")]
fn a_capacity_of_zero_is_refused() {
    mpsc::channel::<u32>(0);
}

#[test]
fn messages_of_each_thread_arrive_in_order() {
    const SENDERS: usize = 3;
    const MESSAGES: usize = if cfg!(miri) { 50 } else { 5_000 };
    for capacity in [1, 2, 40] {
        let (sender, mut receiver) = mpsc::channel(capacity);
        thread::scope(|scope| {
            for number in 0..SENDERS {
                let sender = sender.clone();
                scope.spawn(move || {
                    for message in 0..MESSAGES {
                        sender.blocking_send((number, message)).unwrap();
                    }
                });
            }
            drop(sender);
            let mut next = [0; SENDERS];
            while let Some((number, message)) = receiver.blocking_recv() {
                assert_eq!(message, next[number]);
                next[number] += 1;
            }
            assert_eq!(next, [MESSAGES; SENDERS]);
        });
    }
}

#[test]
fn senders_and_receivers_are_send_sync_and_unpin() {
    fn check<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    check::<Sender<std::cell::Cell<u8>>>();
    check::<Receiver<std::cell::Cell<u8>>>();
    check::<mpsc::WeakSender<u8>>();
    check::<mpsc::OwnedPermit<u8>>();
    check::<mpsc::Permit<'_, u8>>();
    check::<mpsc::PermitIterator<'_, u8>>();
}
