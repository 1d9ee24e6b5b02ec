//! Tests of which values the receivers of a watch channel see, and when they are notified.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use raddle_sync::watch::{self, Receiver, Ref, Sender};
use raddle_testing::{Wakes, calling, poll, poll_with, ready};

use crate::polling::{self, waits, yields};

#[test]
fn changed_completes_once_for_each_value() {
    let (sender, mut receiver) = watch::channel(1);
    assert!(!receiver.has_changed().unwrap());
    assert!(waits(receiver.changed()));
    sender.send(2).unwrap();
    sender.send(3).unwrap();
    assert!(receiver.has_changed().unwrap());
    assert!(receiver.borrow().has_changed());
    assert!(
        receiver.borrow().has_changed(),
        "borrowing does not mark the value as seen"
    );
    ready(receiver.changed()).unwrap();
    assert_eq!(*receiver.borrow(), 3);
    assert!(!receiver.borrow().has_changed());
    assert!(waits(receiver.changed()));
}

#[test]
fn borrow_and_update_marks_the_value() {
    let (sender, mut receiver) = watch::channel(1);
    sender.send(2).unwrap();
    {
        let value = receiver.borrow_and_update();
        assert_eq!((*value, value.has_changed()), (2, true));
    }
    assert!(!receiver.borrow_and_update().has_changed());
    assert!(waits(receiver.changed()));
}

#[test]
fn mark_changed_and_mark_unchanged_set_and_clear_the_mark() {
    let (sender, mut receiver) = watch::channel(1);
    receiver.mark_changed();
    assert!(receiver.has_changed().unwrap());
    ready(receiver.changed()).unwrap();
    sender.send(2).unwrap();
    receiver.mark_unchanged();
    assert!(waits(receiver.changed()));
    receiver.mark_changed();
    receiver.mark_changed();
    assert!(receiver.borrow_and_update().has_changed());
}

#[test]
fn clones_inherit_the_seen_version() {
    let (sender, mut receiver) = watch::channel(1);
    sender.send(2).unwrap();
    let mut clone = receiver.clone();
    ready(receiver.changed()).unwrap();
    ready(clone.changed()).unwrap();
    assert!(waits(receiver.clone().changed()));
    let mut fresh = sender.subscribe();
    assert!(waits(fresh.changed()));
    assert!(fresh.same_channel(&clone));
    assert!(!fresh.same_channel(&watch::channel(1).1));
}

#[test]
fn all_waiting_receivers_are_woken() {
    let (sender, receiver) = watch::channel(1);
    let (woken, waker) = Wakes::new();
    let mut receivers = vec![receiver; 100];
    let mut waiting: Vec<_> = receivers
        .iter_mut()
        .map(|receiver| Box::pin(receiver.changed()))
        .collect();
    for changed in &mut waiting {
        assert!(poll_with(changed.as_mut(), &waker).is_pending());
    }
    sender.send(2).unwrap();
    assert_eq!(woken.get(), 100);
    for changed in &mut waiting {
        assert!(matches!(poll(changed.as_mut()), Poll::Ready(Ok(()))));
    }
}

#[test]
fn senders_modify_the_value_in_place() {
    let (sender, mut receiver) = watch::channel(vec![1]);
    sender.send_modify(|value| value.push(2));
    assert_eq!(*receiver.borrow_and_update(), [1, 2]);
    assert!(!sender.send_if_modified(|value| {
        value.push(3);
        false
    }));
    assert!(!receiver.has_changed().unwrap());
    assert_eq!(*sender.borrow(), [1, 2, 3]);
    assert!(!sender.borrow().has_changed());
    assert!(sender.send_if_modified(|value| value.pop().is_some()));
    assert!(receiver.has_changed().unwrap());
    assert_eq!(sender.send_replace(vec![]), [1, 2]);
}

#[test]
fn a_send_without_receivers_fails() {
    let sender = Sender::new(1);
    assert!(sender.is_closed());
    assert_eq!(sender.send(2).unwrap_err().0, 2);
    assert_eq!(sender.send_replace(3), 1);
    let receiver = sender.subscribe();
    assert_eq!(*receiver.borrow(), 3);
    assert!(!sender.is_closed());
    sender.send(4).unwrap();
    assert_eq!(*Sender::<u32>::default().borrow(), 0);
}

#[test]
fn closed_waits_for_the_last_receiver() {
    let (sender, receiver) = watch::channel(1);
    let other = receiver.clone();
    let (woken, waker) = Wakes::new();
    let mut closed = pin!(sender.closed());
    assert!(poll_with(closed.as_mut(), &waker).is_pending());
    drop(receiver);
    assert!(poll_with(closed.as_mut(), &waker).is_pending());
    drop(other);
    assert_eq!(woken.get(), 1);
    assert!(poll(closed.as_mut()).is_ready());
    ready(sender.closed());
}

#[test]
fn the_last_value_outlives_its_senders() {
    let (sender, mut receiver) = watch::channel(1);
    let other = sender.clone();
    assert!(sender.same_channel(&other));
    assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 1));
    sender.send(2).unwrap();
    drop(sender);
    assert!(receiver.has_changed().unwrap());
    drop(other);
    assert!(receiver.is_closed());
    assert!(receiver.has_changed().is_err());
    ready(receiver.changed()).unwrap();
    assert_eq!(*receiver.borrow(), 2);
    ready(receiver.changed()).unwrap_err();
}

#[test]
fn closing_wakes_all_waiting_receivers() {
    let (sender, mut receiver) = watch::channel(1);
    let (woken, waker) = Wakes::new();
    let mut changed = pin!(receiver.changed());
    assert!(poll_with(changed.as_mut(), &waker).is_pending());
    drop(sender);
    assert_eq!(woken.get(), 1);
    assert!(matches!(poll(changed.as_mut()), Poll::Ready(Err(_))));
}

#[test]
fn wait_for_waits_for_a_value() {
    let (sender, mut receiver) = watch::channel(1);
    assert_eq!(*ready(receiver.wait_for(|&value| value == 1)).unwrap(), 1);
    {
        let (woken, waker) = Wakes::new();
        let mut waiting = pin!(receiver.wait_for(|&value| value == 3));
        for value in [1, 2, 3] {
            sender.send_replace(value);
            let done = poll_with(waiting.as_mut(), &waker).is_ready();
            assert_eq!(done, value == 3);
        }
        assert_eq!(woken.get(), 2);
    }
    drop(sender);
    assert!(ready(receiver.wait_for(|&value| value == 3)).is_ok());
    assert!(ready(receiver.wait_for(|&value| value == 4)).is_err());
}

#[test]
fn wait_for_checks_the_last_value_after_the_close() {
    let (sender, mut receiver) = watch::channel(1);
    let mut waiting = pin!(receiver.wait_for(|&value| value == 2));
    assert!(poll(waiting.as_mut()).is_pending());
    sender.send(2).unwrap();
    drop(sender);
    assert!(matches!(poll(waiting.as_mut()), Poll::Ready(Ok(_))));
}

/// A future that is dropped at any of its polls has not marked a value as seen without returning
/// it.
#[test]
fn dropping_changed_loses_no_change() {
    for polls in 0..3 {
        for sent in [false, true] {
            let (sender, mut receiver) = watch::channel(1);
            let mut changed = Box::pin(receiver.changed());
            for _ in 0..polls {
                assert!(poll(changed.as_mut()).is_pending());
            }
            if sent {
                sender.send(2).unwrap();
            }
            drop(changed);
            if !sent {
                sender.send(2).unwrap();
            }
            ready(receiver.changed()).unwrap();
            let mut waiting = Box::pin(receiver.wait_for(|&value| value == 3));
            for _ in 0..polls {
                assert!(poll(waiting.as_mut()).is_pending());
            }
            sender.send(3).unwrap();
            drop(waiting);
            ready(receiver.changed()).unwrap();
        }
    }
}

#[test]
fn a_closure_that_panics_leaves_the_channel_usable() {
    let (sender, mut receiver) = watch::channel(1);
    let result = catch_unwind(AssertUnwindSafe(|| {
        sender.send_modify(|value| {
            *value = 2;
            panic!("planted");
        });
    }));
    assert!(result.is_err());
    assert!(!receiver.has_changed().unwrap(), "no receiver is notified");
    assert_eq!(*receiver.borrow(), 2);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _ = ready(receiver.wait_for(|_| panic!("planted")));
    }));
    assert!(result.is_err());
    sender.send(3).unwrap();
    ready(receiver.changed()).unwrap();
}

/// A value that uses its channel or panics when it is dropped.
struct Value(Option<(Sender<Value>, bool)>);

impl Drop for Value {
    fn drop(&mut self) {
        if let Some((sender, panics)) = self.0.take() {
            assert!(sender.borrow().0.is_none(), "the new value was stored");
            sender.send_modify(|_| ());
            assert!(!panics, "planted");
        }
    }
}

#[test]
fn the_drop_of_a_value_may_call_back_and_panic() {
    for panics in [false, true] {
        let (sender, mut receiver) = watch::channel(Value(None));
        let value = Value(Some((sender.clone(), panics)));
        sender.send(value).ok().unwrap();
        ready(receiver.changed()).unwrap();
        let result = catch_unwind(AssertUnwindSafe(|| {
            sender.send(Value(None)).ok().unwrap();
        }));
        assert_eq!(result.is_err(), panics);
        ready(receiver.changed()).unwrap();
        assert!(receiver.borrow().0.is_none());
    }
}

#[test]
fn same_channel_distinguishes_channels() {
    let (sender, receiver) = watch::channel(1);
    let (other, _receiver) = watch::channel(1);
    assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&other));
    assert!(!receiver.is_closed());
}

/// The waker of one receiver's future lets other receivers wait in each shard when it is dropped.
#[test]
fn the_drop_of_a_waker_may_wait_for_a_change() {
    let (sender, mut receiver) = watch::channel(1);
    let others = receiver.clone();
    let waker = polling::calling_on_drop(move || {
        let mut others = vec![others.clone(); 16];
        assert!(others.iter_mut().all(|other| waits(other.changed())));
    });
    let mut changed = Box::pin(receiver.changed());
    assert!(poll_with(changed.as_mut(), &waker).is_pending());
    drop(waker);
    drop(changed);
    // The waker is replaced by another one.
    let others = receiver.clone();
    let waker = polling::calling_on_drop(move || {
        let mut others = vec![others.clone(); 16];
        assert!(others.iter_mut().all(|other| waits(other.changed())));
    });
    let mut changed = Box::pin(receiver.changed());
    assert!(poll_with(changed.as_mut(), &waker).is_pending());
    drop(waker);
    assert!(poll(changed.as_mut()).is_pending());
    sender.send(2).unwrap();
    assert!(poll(changed.as_mut()).is_ready());
}

#[test]
fn wakers_may_call_back_and_panic() {
    let (sender, receiver) = watch::channel(1);
    let sender = Arc::new(sender);
    let inner = sender.clone();
    let panics = calling(move || {
        assert_eq!(*inner.borrow(), 2);
        drop(inner.subscribe());
        inner.send(3).unwrap();
        panic!("planted");
    });
    let (woken, waker) = Wakes::new();
    let mut receivers = vec![receiver; 50];
    let mut waiting: Vec<_> = receivers
        .iter_mut()
        .map(|receiver| Box::pin(receiver.changed()))
        .collect();
    for (at, changed) in waiting.iter_mut().enumerate() {
        let waker = if at == 17 { &panics } else { &waker };
        assert!(poll_with(changed.as_mut(), waker).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send(2))).is_err());
    assert_eq!(woken.get(), 49);
    for changed in &mut waiting {
        assert!(matches!(poll(changed.as_mut()), Poll::Ready(Ok(()))));
    }
    drop(waiting);
    assert_eq!(*receivers[0].borrow(), 3);
}

#[test]
fn two_receivers_borrow_at_the_same_time() {
    let (sender, receiver) = watch::channel(1);
    let (one, two) = (sender.borrow(), receiver.borrow());
    assert_eq!(*one, *two);
    assert_eq!(format!("{one:?}"), "Ref { value: 1, has_changed: false }");
}

#[test]
fn a_loop_over_changes_yields() {
    let (sender, mut receiver) = watch::channel(1);
    yields(async {
        loop {
            sender.send(2).unwrap();
            receiver.changed().await.unwrap();
        }
    });
    yields(async {
        loop {
            receiver.wait_for(|_| true).await.unwrap();
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
fn senders_and_receivers_are_send_and_sync_and_a_borrow_is_not_send() {
    fn both<T: Send + Sync>() {}
    fn send<T: Send>(_: T) {}
    both::<Sender<u32>>();
    both::<Receiver<u32>>();
    let (sender, mut receiver) = watch::channel(1);
    send(sender.closed());
    send(receiver.changed());

    // If a `Ref` were `Send`, this would be ambiguous, and so an error.
    trait AmbiguousIfSend<A> {
        fn check() {}
    }
    struct Invalid;
    impl<T> AmbiguousIfSend<()> for T {}
    impl<T: Send> AmbiguousIfSend<Invalid> for T {}
    let _ = <Ref<'static, u32> as AmbiguousIfSend<_>>::check;
}

/// Each receiver sees increasing values, and all see the last one.
#[test]
fn threads_see_values_in_order() {
    let (sender, receiver) = watch::channel(0);
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let mut receiver = receiver.clone();
            std::thread::spawn(move || {
                futures_lite::future::block_on(async {
                    let mut last = 0;
                    while receiver.changed().await.is_ok() {
                        let value = *receiver.borrow_and_update();
                        assert!(value >= last);
                        last = value;
                    }
                    last
                })
            })
        })
        .collect();
    for value in 1..=5000 {
        sender.send(value).unwrap();
    }
    drop(sender);
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 5000);
    }
}
