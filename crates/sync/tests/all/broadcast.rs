//! Tests of which receiver gets which values, and which values a slow receiver misses.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use raddle_primitives::sync::Mutex;
use raddle_sync::broadcast::error::{RecvError, TryRecvError};
use raddle_sync::broadcast::{self, Receiver, Sender, WeakSender};
use raddle_testing::{Wakes, calling, poll, poll_with, ready};

use crate::polling::{waits, yields};

#[test]
fn every_receiver_gets_every_value() {
    let (sender, mut one) = broadcast::channel(4);
    assert_eq!(sender.send(1).unwrap(), 1);
    let mut two = sender.subscribe();
    assert_eq!(sender.send(2).unwrap(), 2);
    assert_eq!((one.len(), two.len()), (2, 1));
    assert_eq!(ready(one.recv()), Ok(1));
    assert_eq!(ready(one.recv()), Ok(2));
    assert_eq!(two.try_recv(), Ok(2));
    assert_eq!(two.try_recv(), Err(TryRecvError::Empty));
    assert!(one.is_empty() && two.is_empty());
    assert!(waits(one.recv()));
}

#[test]
fn waiters_are_woken() {
    let (sender, receiver) = broadcast::channel(4);
    let (woken, waker) = Wakes::new();
    let mut receivers: Vec<_> = (0..100).map(|_| receiver.resubscribe()).collect();
    let mut waiting: Vec<_> = receivers
        .iter_mut()
        .map(|receiver| Box::pin(receiver.recv()))
        .collect();
    for recv in &mut waiting {
        assert!(poll_with(recv.as_mut(), &waker).is_pending());
    }
    assert_eq!(sender.send(7).unwrap(), 101);
    assert_eq!(woken.get(), 100);
    for recv in &mut waiting {
        assert_eq!(poll(recv.as_mut()), Poll::Ready(Ok(7)));
    }
}

#[test]
fn a_lagging_receiver_learns_the_number_of_missed_values() {
    // The capacity is rounded up to 4.
    let (sender, mut receiver) = broadcast::channel(3);
    for value in 0..4 {
        sender.send(value).unwrap();
    }
    assert_eq!(receiver.try_recv(), Ok(0));
    for value in 4..10 {
        sender.send(value).unwrap();
    }
    assert_eq!(receiver.len(), 9);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(5)));
    assert_eq!(ready(receiver.recv()), Ok(6));
    sender.send(10).unwrap();
    sender.send(11).unwrap();
    assert_eq!(ready(receiver.recv()), Err(RecvError::Lagged(1)));
    drop(sender);
    for value in 8..12 {
        assert_eq!(receiver.blocking_recv(), Ok(value));
    }
    assert_eq!(receiver.blocking_recv(), Err(RecvError::Closed));
}

#[test]
fn a_channel_of_capacity_one_keeps_the_last_value() {
    let (sender, mut receiver) = broadcast::channel(1);
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(1)));
    assert_eq!(receiver.try_recv(), Ok(2));
}

#[test]
#[should_panic(expected = "use at least 1")]
fn a_capacity_of_zero_is_refused() {
    let _ = broadcast::channel::<u32>(0);
}

#[test]
fn a_capacity_that_no_memory_has_is_refused() {
    for capacity in [usize::MAX / 16, usize::MAX / 2, usize::MAX] {
        let refused = std::panic::catch_unwind(|| drop(Sender::<u32>::new(capacity)));
        let message = *refused.unwrap_err().downcast::<String>().unwrap();
        let text = format!("a broadcast channel cannot have {capacity} slots in memory; use less");
        assert_eq!(message, text);
    }
}

#[test]
fn a_send_without_receivers_fails() {
    let sender = Sender::new(4);
    assert_eq!(sender.send(1).unwrap_err().0, 1);
    ready(sender.closed());
    let mut receiver = sender.subscribe();
    sender.send(2).unwrap();
    assert_eq!(receiver.try_recv(), Ok(2));
    drop(receiver);
    assert_eq!(sender.send(3).unwrap_err().0, 3);
    assert_eq!(sender.receiver_count(), 0);
}

#[test]
fn closed_waits_for_the_last_receiver() {
    let (sender, receiver) = broadcast::channel::<u32>(4);
    let other = receiver.resubscribe();
    let (woken, waker) = Wakes::new();
    let mut closed = pin!(sender.closed());
    assert!(poll_with(closed.as_mut(), &waker).is_pending());
    drop(receiver);
    assert!(poll_with(closed.as_mut(), &waker).is_pending());
    drop(other);
    assert_eq!(woken.get(), 1);
    assert!(poll(closed.as_mut()).is_ready());
}

#[test]
fn dropping_the_last_sender_closes_the_channel() {
    let (sender, mut receiver) = broadcast::channel(4);
    let other = sender.clone();
    assert!(sender.same_channel(&other));
    sender.send(1).unwrap();
    drop(sender);
    assert!(!receiver.is_closed());
    drop(other);
    assert!(receiver.is_closed());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(ready(receiver.recv()), Err(RecvError::Closed));
    assert_eq!(ready(receiver.resubscribe().recv()), Err(RecvError::Closed));
}

#[test]
fn closing_wakes_all_waiting_receivers() {
    let (sender, mut receiver) = broadcast::channel::<u32>(4);
    let (woken, waker) = Wakes::new();
    let mut recv = pin!(receiver.recv());
    assert!(poll_with(recv.as_mut(), &waker).is_pending());
    drop(sender);
    assert_eq!(woken.get(), 1);
    assert_eq!(poll(recv.as_mut()), Poll::Ready(Err(RecvError::Closed)));
}

#[test]
fn weak_senders_do_not_keep_the_channel_open() {
    let (sender, receiver) = broadcast::channel::<u32>(4);
    let weak = sender.downgrade();
    let again = weak.clone();
    assert_eq!((sender.strong_count(), sender.weak_count()), (1, 2));
    let upgraded = weak.upgrade().unwrap();
    assert_eq!((weak.strong_count(), weak.weak_count()), (2, 2));
    upgraded.send(1).unwrap();
    drop((sender, again));
    assert!(!receiver.is_closed());
    drop(upgraded);
    assert_eq!(receiver.sender_strong_count(), 0);
    assert_eq!(receiver.sender_weak_count(), 1);
    assert!(receiver.is_closed());
    assert!(weak.upgrade().is_none());
}

#[test]
fn a_sender_counts_the_values_not_yet_received() {
    let (sender, mut one) = broadcast::channel(4);
    let mut two = sender.subscribe();
    assert!(sender.is_empty());
    for sent in 1..10 {
        sender.send(sent).unwrap();
        assert_eq!(sender.len(), sent.min(4));
    }
    assert_eq!(one.try_recv(), Err(TryRecvError::Lagged(5)));
    for left in (0..4).rev() {
        one.try_recv().unwrap();
        assert_eq!((one.len(), sender.len()), (left, 4));
    }
    assert_eq!(two.try_recv(), Err(TryRecvError::Lagged(5)));
    two.try_recv().unwrap();
    assert_eq!(sender.len(), 3);
    drop(two);
    assert!(sender.is_empty());
    assert_eq!(sender.len(), 0);
    assert!(one.same_channel(&one.resubscribe()));
}

#[test]
fn same_channel_and_the_number_of_senders_are_correct() {
    let (sender, receiver) = broadcast::channel::<u32>(4);
    let (other, other_receiver) = broadcast::channel(4);
    assert!(!sender.same_channel(&other));
    assert!(!receiver.same_channel(&other_receiver));
    assert_eq!(receiver.sender_weak_count(), 0);
    let weak: Vec<_> = (0..3).map(|_| sender.downgrade()).collect();
    let clones = [sender.clone(), sender.clone()];
    assert_eq!((sender.strong_count(), sender.weak_count()), (3, 3));
    assert_eq!((weak[0].strong_count(), weak[0].weak_count()), (3, 3));
    assert_eq!(
        (receiver.sender_strong_count(), receiver.sender_weak_count()),
        (3, 3)
    );
    drop((clones, weak));
    assert_eq!((sender.strong_count(), sender.weak_count()), (1, 0));
}

#[test]
fn a_channel_is_empty_when_all_receivers_have_received() {
    let (sender, mut receiver) = broadcast::channel(4);
    for round in 0..10 {
        assert!(sender.is_empty() && receiver.is_empty());
        sender.send(round).unwrap();
        assert!(!sender.is_empty() && !receiver.is_empty());
        assert_eq!(receiver.try_recv(), Ok(round));
    }
}

/// Values that no receiver can receive are not kept.
#[test]
fn values_are_dropped_with_their_last_receiver() {
    let value = Arc::new(());
    let (sender, mut one) = broadcast::channel(4);
    let two = sender.subscribe();
    for _ in 0..6 {
        sender.send(value.clone()).unwrap();
    }
    assert_eq!(Arc::strong_count(&value), 5);
    assert!(one.try_recv().is_err());
    drop(one.try_recv().unwrap());
    assert_eq!(Arc::strong_count(&value), 5);
    drop(two);
    assert_eq!(Arc::strong_count(&value), 4);
    drop(one.try_recv().unwrap());
    assert_eq!(Arc::strong_count(&value), 3);
    drop(one);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn dropping_a_receive_loses_no_value() {
    for polls in 0..3 {
        for sent in [false, true] {
            let (sender, mut receiver) = broadcast::channel(4);
            let mut recv = Box::pin(receiver.recv());
            for _ in 0..polls {
                assert!(poll(recv.as_mut()).is_pending());
            }
            if sent {
                sender.send(1).unwrap();
            }
            drop(recv);
            if !sent {
                sender.send(1).unwrap();
            }
            assert_eq!(receiver.try_recv(), Ok(1));
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        }
    }
}

/// Panics when it is cloned, or in its first drops, as the test configures it.
struct PanicsOnCloneOrDrop {
    at_clone: bool,
    at_drop: Arc<AtomicUsize>,
}

impl Clone for PanicsOnCloneOrDrop {
    fn clone(&self) -> Self {
        assert!(!self.at_clone, "planted");
        Self {
            at_clone: false,
            at_drop: Arc::default(),
        }
    }
}

impl Drop for PanicsOnCloneOrDrop {
    fn drop(&mut self) {
        if self.at_drop.fetch_sub(1, Ordering::Relaxed) > 0 {
            panic!("planted");
        }
        self.at_drop.fetch_add(1, Ordering::Relaxed);
    }
}

fn panicking_value(at_clone: bool, drops: usize) -> PanicsOnCloneOrDrop {
    PanicsOnCloneOrDrop {
        at_clone,
        at_drop: Arc::new(AtomicUsize::new(drops)),
    }
}

impl PanicsOnCloneOrDrop {
    fn forget(self) {
        self.at_drop.store(0, Ordering::Relaxed);
        std::mem::forget(self);
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_clone_that_panics_leaves_the_channel_usable() {
    let (sender, mut one) = broadcast::channel(2);
    let mut two = sender.subscribe();
    sender.send(panicking_value(true, 0)).ok().unwrap();
    sender.send(panicking_value(false, 0)).ok().unwrap();
    assert!(
        catch_unwind(AssertUnwindSafe(|| one
            .try_recv()
            .map(PanicsOnCloneOrDrop::forget)))
        .is_err()
    );
    assert_eq!(one.len(), 1, "the value counts as received");
    one.try_recv().ok().unwrap().forget();
    assert_eq!(sender.len(), 2);
    // The last receiver gets the value itself, not a clone.
    two.try_recv().ok().unwrap().forget();
    two.try_recv().ok().unwrap().forget();
    assert!(sender.is_empty());
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_drop_that_panics_leaves_the_channel_usable() {
    let (sender, mut one) = broadcast::channel(2);
    sender.send(panicking_value(false, 1)).ok().unwrap();
    sender.send(panicking_value(false, 0)).ok().unwrap();
    // Overwrites the first value.
    let result = catch_unwind(AssertUnwindSafe(|| {
        sender.send(panicking_value(false, 0)).is_ok()
    }));
    assert!(result.is_err());
    assert!(matches!(one.try_recv(), Err(TryRecvError::Lagged(1))));
    one.try_recv().ok().unwrap().forget();
    one.try_recv().ok().unwrap().forget();
    assert!(sender.is_empty());
}

#[test]
fn a_receiver_that_is_dropped_drops_all_values_even_if_one_panics() {
    let (sender, receiver) = broadcast::channel(4);
    let dropped = Arc::new(());
    let panics = Arc::new(AtomicBool::new(true));
    #[derive(Clone)]
    struct Value(#[allow(dead_code)] Arc<()>, Arc<AtomicBool>);
    impl Drop for Value {
        fn drop(&mut self) {
            if self.1.swap(false, Ordering::Relaxed) {
                panic!("planted");
            }
        }
    }
    for _ in 0..4 {
        sender
            .send(Value(dropped.clone(), panics.clone()))
            .ok()
            .unwrap();
    }
    let (woken, waker) = Wakes::new();
    let mut closed = pin!(sender.closed());
    assert!(poll_with(closed.as_mut(), &waker).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    assert_eq!(Arc::strong_count(&dropped), 1);
    assert_eq!(woken.get(), 1);
    assert!(sender.is_empty());
}

/// A value that sends another value when it is dropped.
#[derive(Clone)]
struct Echo(Option<Sender<Echo>>);

impl Drop for Echo {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(Echo(None));
            let _ = sender.len();
        }
    }
}

#[test]
fn the_drop_of_a_value_may_call_back() {
    let (sender, receiver) = broadcast::channel(1);
    sender.send(Echo(Some(sender.clone()))).ok().unwrap();
    sender.send(Echo(Some(sender.clone()))).ok().unwrap();
    let second = sender.subscribe();
    sender.send(Echo(Some(sender.clone()))).ok().unwrap();
    drop((receiver, second));
    assert!(sender.is_empty());
}

#[test]
fn wakers_may_call_back_and_panic() {
    let (sender, receiver) = broadcast::channel(4);
    let other = Mutex::new(Some(sender.subscribe()));
    let inner = sender.clone();
    let panics = calling(move || {
        if let Some(mut receiver) = other.lock().take() {
            assert_eq!(receiver.try_recv(), Ok(1));
            inner.send(2).unwrap();
        }
        panic!("planted");
    });
    let (woken, waker) = Wakes::new();
    let mut receivers: Vec<_> = (0..50).map(|_| receiver.resubscribe()).collect();
    let mut waiting: Vec<_> = receivers
        .iter_mut()
        .map(|receiver| Box::pin(receiver.recv()))
        .collect();
    for (at, recv) in waiting.iter_mut().enumerate() {
        let waker = if at == 17 { &panics } else { &waker };
        assert!(poll_with(recv.as_mut(), waker).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send(1))).is_err());
    assert_eq!(woken.get(), 49);
    for recv in &mut waiting {
        assert_eq!(poll(recv.as_mut()), Poll::Ready(Ok(1)));
    }
}

/// RUSTSEC-2025-0023: a value that is `Send` and not `Sync` was cloned by several threads at once.
#[test]
fn no_two_threads_clone_a_value_at_once() {
    struct Unshared {
        /// Makes the type `!Sync`.
        _unshared: Cell<u32>,
        cloning: Arc<AtomicBool>,
    }
    impl Clone for Unshared {
        fn clone(&self) -> Self {
            assert!(
                !self.cloning.swap(true, Ordering::Relaxed),
                "two threads use the value at the same time"
            );
            std::thread::yield_now();
            self.cloning.store(false, Ordering::Relaxed);
            Self {
                _unshared: Cell::new(0),
                // The clone has its own flag.
                cloning: Arc::default(),
            }
        }
    }
    let (sender, receiver) = broadcast::channel(4);
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let mut receiver = receiver.resubscribe();
            std::thread::spawn(move || {
                let mut received = 0;
                loop {
                    match receiver.blocking_recv() {
                        Ok(_) => received += 1,
                        Err(RecvError::Lagged(missed)) => received += missed,
                        Err(RecvError::Closed) => return received,
                    }
                }
            })
        })
        .collect();
    for _ in 0..2000 {
        let value = Unshared {
            _unshared: Cell::new(0),
            cloning: Arc::default(),
        };
        sender.send(value).ok().unwrap();
    }
    drop((sender, receiver));
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 2000);
    }
}

#[test]
fn a_channel_of_send_values_is_send_and_sync() {
    fn both<T: Send + Sync>() {}
    fn send<T: Send>(_: T) {}
    both::<Sender<Cell<u32>>>();
    both::<WeakSender<Cell<u32>>>();
    both::<Receiver<Cell<u32>>>();
    let (sender, mut receiver) = broadcast::channel::<Cell<u32>>(1);
    send(sender.closed());
    send(receiver.recv());
}

#[test]
fn a_receiver_with_many_values_yields() {
    let (sender, mut receiver) = broadcast::channel(4);
    yields(async {
        loop {
            sender.send(1).unwrap();
            receiver.recv().await.unwrap();
        }
    });
    drop(receiver);
    yields(async {
        loop {
            sender.closed().await;
        }
    });
}

#[test]
#[should_panic(expected = "must not block")]
fn blocking_inside_a_poll_is_refused() {
    let (_sender, mut receiver) = broadcast::channel::<u32>(1);
    let _ = raddle_leaf::coop::budget(|| receiver.blocking_recv());
}

/// Each receiver gets the values of each sender in order; the missed ones are counted.
#[test]
fn threads_receive_in_order() {
    let (sender, receiver) = broadcast::channel(16);
    let receivers: Vec<_> = (0..2)
        .map(|_| {
            let mut receiver = receiver.resubscribe();
            std::thread::spawn(move || {
                let (mut last, mut total) = ([0; 2], 0);
                loop {
                    match receiver.blocking_recv() {
                        Ok((sender, number)) => {
                            let last: &mut u32 = &mut last[usize::from(sender)];
                            assert!(number > *last);
                            *last = number;
                            total += 1;
                        }
                        Err(RecvError::Lagged(missed)) => total += missed,
                        Err(RecvError::Closed) => return total,
                    }
                }
            })
        })
        .collect();
    let senders: Vec<_> = (0..2u8)
        .map(|id| {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for number in 1..=3000 {
                    sender.send((id, number)).unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    for thread in senders {
        thread.join().unwrap();
    }
    for thread in receivers {
        assert_eq!(thread.join().unwrap(), 6000);
    }
}
