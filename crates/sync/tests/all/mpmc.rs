//! Tests of the mpmc channel.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures_lite::future::block_on;
use raddle_primitives::sync::Mutex;
use raddle_sync::mpmc::error::{SendError, TryRecvError, TrySendError};
use raddle_sync::mpmc::{self, Receiver, Sender};
use raddle_testing::{Wakes, calling};

use crate::common::{poll, poll_with, yields};
use crate::counted::{Dropped, PanicsOnDrop, panicking_waker};
use crate::hooked::Hooked;

#[test]
fn a_full_channel_refuses_try_send_and_makes_send_wait() {
    let (woken, waker) = Wakes::new();
    let (sender, receiver) = mpmc::channel(2);
    assert_eq!(sender.capacity(), Some(2));
    sender.try_send(1).unwrap();
    assert!(!sender.is_full());
    sender.try_send(2).unwrap();
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert!(receiver.is_full() && receiver.len() == 2);
    let mut send = Box::pin(sender.send(3));
    assert!(poll_with(&mut send, &waker).is_pending());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(woken.get(), 1);
    let other = sender.try_send(4);
    assert_eq!(other, Err(TrySendError::Full(4)), "the room is granted");
    assert_eq!(poll(&mut send), Poll::Ready(Ok(())));
    assert_eq!(receiver.try_recv(), Ok(2));
    assert_eq!(receiver.clone().try_recv(), Ok(3));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn receivers_are_served_in_the_order_in_which_they_wait() {
    let (sender, receiver) = mpmc::unbounded_channel();
    let mut waits: Vec<_> = (0..4)
        .map(|_| {
            let receiver = receiver.clone();
            let (woken, waker) = Wakes::new();
            let mut recv = Box::pin(async move { receiver.recv().await });
            assert!(poll_with(&mut recv, &waker).is_pending());
            (recv, woken)
        })
        .collect();
    for message in 0..3 {
        sender.try_send(message).unwrap();
        let woken: Vec<_> = waits.iter().map(|(_, woken)| woken.get()).collect();
        let expected: Vec<_> = (0..4).map(|place| usize::from(place <= message)).collect();
        assert_eq!(woken, expected);
    }
    let late = receiver.try_recv();
    assert_eq!(late, Err(TryRecvError::Empty), "the messages are granted");
    for (message, (recv, _)) in waits.iter_mut().take(3).enumerate() {
        assert_eq!(poll(recv), Poll::Ready(Some(message)));
    }
}

/// Whether the dropped receive is queued or was woken.
#[test]
fn a_dropped_receive_passes_its_message_on() {
    for is_woken in [false, true] {
        let (sender, receiver) = mpmc::channel(1);
        let (first_woken, first_waker) = Wakes::new();
        let (woken, waker) = Wakes::new();
        let mut first = Box::pin(receiver.recv());
        let mut second = Box::pin(receiver.recv());
        assert!(poll_with(&mut first, &first_waker).is_pending());
        assert!(poll_with(&mut second, &waker).is_pending());
        if is_woken {
            sender.try_send(1).unwrap();
            assert_eq!((first_woken.get(), woken.get()), (1, 0));
            drop(first);
        } else {
            drop(first);
            sender.try_send(1).unwrap();
            assert_eq!(first_woken.get(), 0);
        }
        assert_eq!(woken.get(), 1);
        assert_eq!(poll(&mut second), Poll::Ready(Some(1)));
        drop(first_waker);
        first_woken.assert_released();
    }
}

/// The last receive that waits is dropped after it was woken: the message is free again.
#[test]
fn a_message_of_a_dropped_receive_stays_in_the_channel() {
    let (sender, receiver) = mpmc::channel(1);
    let mut recv = Box::pin(receiver.recv());
    assert!(poll(&mut recv).is_pending());
    sender.try_send(1).unwrap();
    drop(recv);
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(receiver.try_recv(), Ok(1));
}

#[test]
fn a_dropped_send_passes_its_room_on_and_drops_its_message() {
    for is_woken in [false, true] {
        let dropped = Dropped::new();
        let (sender, receiver) = mpmc::channel(1);
        assert!(sender.try_send(dropped.value()).is_ok());
        let (woken, waker) = Wakes::new();
        let mut first = Box::pin(sender.send(dropped.value()));
        let mut second = Box::pin(sender.send(dropped.value()));
        assert!(poll(&mut first).is_pending());
        assert!(poll_with(&mut second, &waker).is_pending());
        if is_woken {
            drop(receiver.try_recv().unwrap());
            drop(first);
        } else {
            drop(first);
            drop(receiver.try_recv().unwrap());
        }
        assert_eq!(dropped.count(), 2);
        assert_eq!(woken.get(), 1);
        assert!(matches!(poll(&mut second), Poll::Ready(Ok(()))));
        assert_eq!(receiver.len(), 1);
    }
}

#[test]
fn the_close_returns_unsent_messages_and_keeps_sent_ones() {
    for ends in [false, true] {
        let (sender, receiver) = mpmc::channel(1);
        let other = sender.clone();
        let (woken, waker) = Wakes::new();
        sender.try_send(1).unwrap();
        let mut queued = Box::pin(other.send(2));
        assert!(poll_with(&mut queued, &waker).is_pending());
        assert!(if ends {
            sender.close()
        } else {
            receiver.close()
        });
        assert!(!sender.close() && !receiver.close());
        assert_eq!(woken.get(), 1);
        assert_eq!(poll(&mut queued), Poll::Ready(Err(SendError(2))));
        assert_eq!(sender.try_send(3), Err(TrySendError::Closed(3)));
        assert_eq!(block_on(sender.send(3)), Err(SendError(3)));
        assert!(receiver.is_closed() && other.is_closed());
        assert_eq!(block_on(receiver.recv()), Some(1));
        assert_eq!(block_on(receiver.recv()), None);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
}

/// A send that was granted room, and is polled after the close.
#[test]
fn a_send_that_was_woken_before_the_close_is_refused() {
    let (sender, receiver) = mpmc::channel(1);
    sender.try_send(1).unwrap();
    let mut send = Box::pin(sender.send(2));
    assert!(poll(&mut send).is_pending());
    assert_eq!(receiver.try_recv(), Ok(1));
    receiver.close();
    assert_eq!(poll(&mut send), Poll::Ready(Err(SendError(2))));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

/// After the close a message is free, even if it was granted to a receive that is not polled.
#[test]
fn the_close_frees_granted_messages() {
    let (sender, receiver) = mpmc::channel(1);
    let mut woken = Box::pin(receiver.recv());
    assert!(poll(&mut woken).is_pending());
    sender.try_send(1).unwrap();
    drop(sender);
    assert_eq!(block_on(receiver.recv()), Some(1));
    assert_eq!(poll(&mut woken), Poll::Ready(None));
}

#[test]
fn the_last_end_of_a_side_closes_the_channel() {
    let (woken, waker) = Wakes::new();
    let (sender, receiver) = mpmc::channel::<u32>(1);
    let (second, other) = (sender.clone(), receiver.clone());
    assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 2));
    assert!(sender.same_channel(&second) && receiver.same_channel(&other));
    assert!(!sender.same_channel(&mpmc::channel(1).0));
    let mut waits = [Box::pin(receiver.recv()), Box::pin(other.recv())];
    for wait in &mut waits {
        assert!(poll_with(wait, &waker).is_pending());
    }
    drop(sender);
    assert_eq!((woken.get(), receiver.sender_count()), (0, 1));
    drop(second);
    assert_eq!(woken.get(), 2);
    for wait in &mut waits {
        assert_eq!(poll(wait), Poll::Ready(None));
    }

    let (sender, receiver) = mpmc::channel(1);
    sender.try_send(1).unwrap();
    let other = receiver.clone();
    let mut send = Box::pin(sender.send(2));
    assert!(poll_with(&mut send, &waker).is_pending());
    drop(receiver);
    assert_eq!((woken.get(), sender.receiver_count()), (2, 1));
    drop(other);
    assert_eq!(woken.get(), 3);
    assert_eq!(poll(&mut send), Poll::Ready(Err(SendError(2))));
    assert!(sender.is_empty(), "its messages are dropped");
}

#[test]
fn weak_ends_do_not_keep_the_channel_open() {
    let (sender, receiver) = mpmc::channel(1);
    let (weak, weak_receiver) = (sender.downgrade(), receiver.downgrade());
    weak.clone().upgrade().unwrap().try_send(1).unwrap();
    assert_eq!(weak_receiver.clone().upgrade().unwrap().try_recv(), Ok(1));
    assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 1));
    drop(sender);
    assert!(receiver.is_closed() && weak.upgrade().is_none());
    assert!(weak_receiver.upgrade().is_some());
    drop(receiver);
    assert!(weak_receiver.upgrade().is_none());
}

#[test]
fn messages_are_dropped_once_with_the_last_receiver() {
    let dropped = Dropped::new();
    let (sender, receiver) = mpmc::unbounded_channel();
    for _ in 0..50 {
        assert!(sender.try_send(dropped.value()).is_ok());
    }
    let other = receiver.clone();
    drop(receiver);
    assert_eq!(dropped.count(), 0);
    drop(other);
    assert_eq!(dropped.count(), 50);
    assert!(sender.try_send(dropped.value()).is_err());
    assert_eq!(dropped.count(), 51);
}

#[test]
fn messages_whose_drops_panic_do_not_affect_others() {
    let dropped = Dropped::new();
    let (sender, receiver) = mpmc::unbounded_channel();
    for place in 0..20 {
        let panics = (place % 5 == 0).then(|| PanicsOnDrop);
        assert!(sender.try_send((panics, dropped.value())).is_ok());
    }
    catch_unwind(AssertUnwindSafe(|| drop(receiver))).unwrap_err();
    assert_eq!(dropped.count(), 20);
    assert!(sender.is_closed());
}

/// The waker of the send that gets the room panics: the receive has received nothing.
#[test]
fn a_waker_that_panics_loses_no_message() {
    let (sender, receiver) = mpmc::channel(1);
    sender.try_send(1).unwrap();
    let mut send = Box::pin(sender.send(2));
    assert!(poll_with(&mut send, &panicking_waker()).is_pending());
    catch_unwind(AssertUnwindSafe(|| receiver.try_recv())).unwrap_err();
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(poll(&mut send), Poll::Ready(Ok(())));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(receiver.try_recv(), Ok(2));
}

/// The same with another receiver that waits: it gets the message.
#[test]
fn a_message_that_is_put_back_goes_to_a_waiting_receiver() {
    let (sender, receiver) = mpmc::channel(1);
    sender.try_send(1).unwrap();
    let mut send = Box::pin(sender.send(2));
    let (woken, waker) = Wakes::new();
    let waiting = receiver.clone();
    let wait = Box::leak(Box::new(Box::pin(async move { waiting.recv().await })));
    let wait = Mutex::new(Some((wait, waker)));
    let panics = calling(move || {
        // The channel is empty for a moment, so the receive waits.
        let (wait, waker) = wait.lock().take().unwrap();
        assert!(poll_with(wait, &waker).is_pending());
        panic!("on purpose")
    });
    assert!(poll_with(&mut send, &panics).is_pending());
    catch_unwind(AssertUnwindSafe(|| receiver.try_recv())).unwrap_err();
    assert_eq!(woken.get(), 1);
}

#[test]
fn a_waker_that_panics_in_the_close_does_not_prevent_others() {
    for panicking in [0, 31, 32, 99] {
        let (sender, receiver) = mpmc::channel::<u32>(1);
        let (woken, good) = Wakes::new();
        let bad = panicking_waker();
        let mut waits: Vec<_> = (0..100).map(|_| Box::pin(receiver.recv())).collect();
        for (index, wait) in waits.iter_mut().enumerate() {
            let waker = if index == panicking { &bad } else { &good };
            assert!(poll_with(wait, waker).is_pending());
        }
        catch_unwind(AssertUnwindSafe(|| sender.close())).unwrap_err();
        assert_eq!(woken.get(), 99);
        assert!(waits.iter_mut().all(|wait| poll(wait) == Poll::Ready(None)));
    }
}

/// A waker that sends, receives and drops waits, which would panic under the channel's lock.
#[test]
fn wakers_may_use_the_channel() {
    let (sender, receiver) = mpmc::unbounded_channel();
    let ends = (sender.clone(), receiver.clone());
    let received = Arc::new(AtomicUsize::new(0));
    let waker = calling({
        let received = received.clone();
        move || {
            assert!(poll(&mut Box::pin(ends.1.recv())).is_pending());
            ends.0.try_send(7).unwrap();
            received.fetch_add(ends.1.try_recv().unwrap(), Ordering::Relaxed);
        }
    });
    let mut recv = Box::pin(receiver.recv());
    assert!(poll_with(&mut recv, &waker).is_pending());
    sender.try_send(1).unwrap();
    // The first message is granted, but the two are equal to the channel: the first one is taken.
    assert_eq!(received.load(Ordering::Relaxed), 1);
    assert_eq!(poll(&mut recv), Poll::Ready(Some(7)));
}

/// The wake-up that a poll may miss between its two looks under the lock.
#[test]
fn a_message_that_is_sent_while_a_receive_clones_its_waker_is_received() {
    let (sender, receiver) = mpmc::unbounded_channel();
    let (_, waker) = Hooked::new(move || sender.try_send(1).unwrap());
    assert_eq!(
        poll_with(&mut Box::pin(receiver.recv()), &waker),
        Poll::Ready(Some(1))
    );
}

#[test]
fn a_receive_that_is_polled_with_another_waker_wakes_that_one() {
    let (sender, receiver) = mpmc::unbounded_channel();
    let (old, old_waker) = Hooked::counting();
    let (new, new_waker) = Hooked::counting();
    let mut recv = Box::pin(receiver.recv());
    for _ in 0..3 {
        assert!(poll_with(&mut recv, &old_waker).is_pending());
    }
    assert_eq!(
        (old.cloned(), old.wakers()),
        (1, 2),
        "an equal waker is kept"
    );
    assert!(poll_with(&mut recv, &new_waker).is_pending());
    assert_eq!((old.wakers(), new.wakers()), (1, 2));
    sender.try_send(1).unwrap();
    assert_eq!((old.woken(), new.woken()), (0, 1));
    assert_eq!(poll(&mut recv), Poll::Ready(Some(1)));
    assert_eq!(new.wakers(), 1);
}

#[test]
fn operations_that_are_always_ready_yield() {
    let (sender, receiver) = mpmc::unbounded_channel();
    assert_eq!(yields(|| sender.send(1)), 1000 / 128);
    assert_eq!(yields(|| receiver.recv()), 1000 / 128);
    assert!(receiver.is_empty(), "a yield loses no message");
    drop(sender);
    assert_eq!(yields(|| receiver.recv()), 1000 / 128);
}

#[test]
#[should_panic(expected = "must not block")]
fn blocking_inside_a_poll_panics() {
    let (_sender, receiver) = mpmc::unbounded_channel::<u32>();
    raddle_leaf::coop::budget(|| receiver.blocking_recv());
}

#[test]
#[should_panic(expected = "the capacity of a bounded channel is 0")]
fn a_capacity_of_0_panics() {
    drop(mpmc::channel::<u32>(0));
}

/// A burst leaves no memory behind in an empty channel.
#[test]
fn an_empty_channel_frees_the_memory_of_a_burst() {
    let (sender, receiver) = mpmc::unbounded_channel::<[u64; 8]>();
    let before = crate::held::held();
    for _ in 0..100_000 {
        sender.try_send([0; 8]).unwrap();
    }
    while receiver.try_recv().is_ok() {}
    assert!(crate::held::held() - before <= 256 * 64);
}

/// Threads that send, receive, give up and clone, on a channel of each kind.
#[test]
fn threads_receive_every_message_once() {
    const THREADS: usize = 4;
    const MESSAGES: usize = if cfg!(miri) { 50 } else { 5_000 };
    for capacity in [Some(1), Some(2), Some(100), None] {
        let ends: (Sender<usize>, Receiver<usize>) =
            capacity.map_or_else(mpmc::unbounded_channel, mpmc::channel);
        let (sender, receiver) = ends;
        let mut received: Vec<usize> = thread::scope(|scope| {
            for number in 0..THREADS {
                let sender = sender.clone();
                scope.spawn(move || send_all(&sender, number * MESSAGES..(number + 1) * MESSAGES));
            }
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    let receiver = receiver.clone();
                    scope.spawn(move || receive_all(&receiver))
                })
                .collect();
            drop((sender, receiver));
            let threads = threads.into_iter();
            threads.flat_map(|thread| thread.join().unwrap()).collect()
        });
        received.sort_unstable();
        assert!(received.iter().copied().eq(0..THREADS * MESSAGES));
    }
}

/// Sends in turns by `try_send`, by a send whose future is dropped first, and by a blocking send.
fn send_all(sender: &Sender<usize>, messages: std::ops::Range<usize>) {
    for message in messages {
        match message % 3 {
            0 => match sender.try_send(message) {
                Ok(()) => {}
                Err(refused) => sender.blocking_send(refused.into_inner()).unwrap(),
            },
            // The message is only sent if the poll is ready.
            1 => {
                let polled = poll(&mut Box::pin(sender.send(message)));
                match polled {
                    Poll::Ready(sent) => sent.unwrap(),
                    Poll::Pending => sender.clone().blocking_send(message).unwrap(),
                }
            }
            _ => sender.blocking_send(message).unwrap(),
        }
    }
}

/// Receives until the channel ends, partly by receives that are dropped while they wait.
fn receive_all(receiver: &Receiver<usize>) -> Vec<usize> {
    let mut received: Vec<usize> = Vec::new();
    let mut last: [Option<usize>; 8] = [None; 8];
    let messages = if cfg!(miri) { 50 } else { 5_000 };
    loop {
        let message = match received.len() % 3 {
            0 => {
                let polled = poll(&mut Box::pin(receiver.recv()));
                match polled {
                    Poll::Ready(message) => message,
                    Poll::Pending => receiver.blocking_recv(),
                }
            }
            1 => receiver
                .try_recv()
                .ok()
                .or_else(|| receiver.blocking_recv()),
            _ => receiver.clone().blocking_recv(),
        };
        let Some(message) = message else {
            return received;
        };
        // The messages of one sender reach each receiver in order.
        let sender = &mut last[message / messages];
        assert!(sender.is_none_or(|former| former < message));
        *sender = Some(message);
        received.push(message);
    }
}

/// Receivers and senders that come and go while messages are sent, and a close at any moment: each
/// message is received or returned.
#[test]
fn a_close_against_threads_loses_no_message() {
    for round in 0..if cfg!(miri) { 3 } else { 200 } {
        let (sender, receiver) = mpmc::channel(2);
        let sent = AtomicUsize::new(0);
        let received: BTreeSet<usize> = thread::scope(|scope| {
            for number in 0..3 {
                let (sender, sent) = (sender.clone(), &sent);
                scope.spawn(move || {
                    let mut message = number;
                    while sender.blocking_send(message).is_ok() {
                        sent.fetch_add(1, Ordering::Relaxed);
                        message += 3;
                    }
                });
            }
            let threads: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| receiver.blocking_recv()).collect()))
                .collect();
            thread::sleep(Duration::from_micros(50 * round));
            sender.close();
            let parts = threads.into_iter().map(|thread| thread.join().unwrap());
            parts.flat_map(|part: Vec<usize>| part).collect()
        });
        assert_eq!(received.len(), sent.load(Ordering::Relaxed));
    }
}
