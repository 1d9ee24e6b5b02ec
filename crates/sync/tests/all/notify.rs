//! Tests of which waiter a notification wakes, and where it goes if that waiter is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;

use raddle_primitives::sync::Mutex;
use raddle_sync::Notify;
use raddle_sync::futures::{Notified, OwnedNotified};
use raddle_testing::{Wakes, calling, poll, poll_with, ready};

use crate::hooked::Hooked;
use crate::polling::{calling_on_drop, waits, yields};

/// Makes waiting futures, queued in this order.
fn line(notify: &Notify, len: usize) -> Vec<Pin<Box<Notified<'_>>>> {
    let mut line: Vec<_> = (0..len).map(|_| Box::pin(notify.notified())).collect();
    for notified in &mut line {
        assert!(poll(notified.as_mut()).is_pending());
    }
    line
}

/// Returns which of the futures are ready.
fn ready_of(line: &mut [Pin<Box<Notified<'_>>>]) -> Vec<usize> {
    let ready = |(at, notified): (usize, &mut Pin<Box<Notified<'_>>>)| {
        poll(notified.as_mut()).is_ready().then_some(at)
    };
    line.iter_mut().enumerate().filter_map(ready).collect()
}

#[test]
fn one_permit_is_stored() {
    let notify = Notify::new();
    assert!(waits(notify.notified()));
    notify.notify_one();
    notify.notify_one();
    notify.notify_last();
    ready(notify.notified());
    assert!(waits(notify.notified()));
}

#[test]
fn a_static_notify_works() {
    static NOTIFY: Notify = Notify::const_new();
    NOTIFY.notify_one();
    ready(NOTIFY.notified());
}

#[test]
fn the_first_in_line_is_notified_first() {
    let notify = Notify::new();
    let mut line = line(&notify, 4);
    notify.notify_one();
    notify.notify_one();
    assert_eq!(ready_of(&mut line[2..]), []);
    assert_eq!(ready_of(&mut line), [0, 1]);
    assert!(waits(notify.notified()), "no notification is stored");
}

#[test]
fn the_last_in_line_is_notified_by_notify_last() {
    let notify = Notify::new();
    let mut line = line(&notify, 4);
    notify.notify_last();
    notify.notify_last();
    notify.notify_one();
    assert_eq!(ready_of(&mut line), [0, 2, 3]);
}

#[test]
fn the_place_in_line_is_that_of_the_first_poll() {
    let notify = Notify::new();
    let mut made_first = pin!(notify.notified());
    let mut polled_first = pin!(notify.notified());
    assert!(poll(polled_first.as_mut()).is_pending());
    assert!(poll(made_first.as_mut()).is_pending());
    notify.notify_one();
    assert!(poll(made_first.as_mut()).is_pending());
    assert!(poll(polled_first.as_mut()).is_ready());
}

#[test]
fn notify_waiters_reaches_all_existing_futures() {
    let notify = Notify::new();
    let unpolled = notify.notified();
    let mut line = line(&notify, 100);
    notify.notify_waiters();
    assert!(waits(notify.notified()), "no notification is stored");
    assert_eq!(ready_of(&mut line).len(), 100);
    ready(unpolled);
}

#[test]
fn notify_waiters_reaches_unpolled_futures() {
    let notify = Notify::new();
    let unpolled = notify.notified();
    notify.notify_waiters();
    ready(unpolled);
}

#[test]
fn a_future_reached_by_notify_waiters_leaves_the_permit() {
    let notify = Notify::new();
    let called = notify.notified();
    notify.notify_one();
    notify.notify_waiters();
    ready(called);
    ready(notify.notified());
}

#[test]
fn a_completed_notified_stays_ready() {
    let notify = Notify::new();
    notify.notify_one();
    let mut notified = pin!(notify.notified());
    assert!(poll(notified.as_mut()).is_ready());
    assert!(poll(notified.as_mut()).is_ready());
}

#[test]
fn an_enabled_notified_keeps_its_place_in_the_queue() {
    let notify = Notify::new();
    let mut first = pin!(notify.notified());
    assert!(!first.as_mut().enable());
    let mut second = pin!(notify.notified());
    assert!(poll(second.as_mut()).is_pending());
    notify.notify_one();
    assert!(first.as_mut().enable());
    assert!(poll(first.as_mut()).is_ready());
    assert!(poll(second.as_mut()).is_pending());
}

#[test]
fn enabling_takes_the_permit() {
    let notify = Notify::new();
    notify.notify_one();
    let mut notified = pin!(notify.notified());
    assert!(notified.as_mut().enable());
    assert!(waits(notify.notified()));
    assert!(poll(notified.as_mut()).is_ready());
}

#[test]
fn an_enabled_future_is_woken_after_it_was_polled() {
    let notify = Notify::new();
    let (woken, waker) = Wakes::new();
    let mut notified = pin!(notify.notified());
    assert!(!notified.as_mut().enable());
    assert!(poll_with(notified.as_mut(), &waker).is_pending());
    notify.notify_one();
    assert_eq!(woken.get(), 1);
}

#[test]
fn the_waker_of_the_last_poll_is_woken() {
    let notify = Notify::new();
    let ((before, first), (after, second)) = (Wakes::new(), Wakes::new());
    let mut notified = pin!(notify.notified());
    for waker in [&first, &first, &second, &second] {
        assert!(poll_with(notified.as_mut(), waker).is_pending());
    }
    notify.notify_waiters();
    assert_eq!((before.get(), after.get()), (0, 1));
}

#[test]
fn a_poll_with_the_same_waker_clones_nothing() {
    let notify = Notify::new();
    let (counts, waker) = Hooked::counting();
    let mut notified = pin!(notify.notified());
    for _ in 0..3 {
        assert!(poll_with(notified.as_mut(), &waker).is_pending());
        assert!(!notified.as_mut().enable());
        assert_eq!((counts.cloned(), counts.wakers()), (1, 2));
    }
    notify.notify_one();
    assert_eq!((counts.woken(), counts.wakers()), (1, 1));
    assert!(poll_with(notified.as_mut(), &waker).is_ready());
    notify.notify_one();
    assert!(poll_with(pin!(notify.notified()), &waker).is_ready());
    assert_eq!(counts.cloned(), 1, "the futures were notified");
}

/// Covers the first poll, and a poll with another waker.
#[test]
fn a_notification_in_the_middle_of_a_poll_is_seen() {
    for is_queued in [false, true] {
        for all in [false, true] {
            let notify = Arc::new(Notify::new());
            let (counts, waker) = Hooked::new({
                let notify = notify.clone();
                move || match all {
                    true => notify.notify_waiters(),
                    false => notify.notify_one(),
                }
            });
            let mut notified = Box::pin(notify.notified());
            if is_queued {
                assert!(poll(notified.as_mut()).is_pending());
            }
            assert!(poll_with(notified.as_mut(), &waker).is_ready());
            assert_eq!((counts.woken(), counts.wakers()), (0, 1));
            drop(notified);
            assert!(waits(notify.notified()), "the notification was taken");
        }
    }
}

/// A future is dropped unpolled, waiting or notified: its notification goes to another future, now
/// or later.
#[test]
fn dropping_a_notified_future_loses_no_notification() {
    for others in 0..3 {
        for polled in [false, true] {
            for notified in [false, true] {
                let notify = Notify::new();
                let mut dropped = Box::pin(notify.notified());
                if polled {
                    assert!(poll(dropped.as_mut()).is_pending());
                }
                let mut line = line(&notify, others);
                if notified {
                    notify.notify_one();
                }
                drop(dropped);
                if !notified {
                    notify.notify_one();
                }
                if others > 0 {
                    assert_eq!(ready_of(&mut line), [0]);
                } else {
                    ready(notify.notified());
                }
                drop(line);
                assert!(waits(notify.notified()), "one notification was passed on");
            }
        }
    }
}

#[test]
fn dropping_a_notified_future_wakes_the_next_waiter() {
    let notify = Notify::new();
    let (woken, waker) = Wakes::new();
    let mut dropped = Box::pin(notify.notified());
    assert!(poll(dropped.as_mut()).is_pending());
    let mut next = pin!(notify.notified());
    assert!(poll_with(next.as_mut(), &waker).is_pending());
    notify.notify_one();
    drop(dropped);
    assert_eq!(woken.get(), 1);
}

#[test]
fn dropping_a_future_passes_notify_last_on_to_the_last() {
    let notify = Notify::new();
    let mut line = line(&notify, 4);
    notify.notify_last();
    drop(line.pop());
    assert_eq!(ready_of(&mut line), [2]);
}

#[test]
fn dropping_a_future_passes_no_notify_waiters_on() {
    let notify = Notify::new();
    let called = line(&notify, 1);
    notify.notify_waiters();
    let mut late = line(&notify, 1);
    drop(called);
    assert_eq!(ready_of(&mut late), []);
}

#[test]
fn owned_notified_futures_behave_the_same() {
    let notify = Arc::new(Notify::new());
    let mut first = Box::pin(notify.clone().notified_owned());
    let mut second = Box::pin(notify.clone().notified_owned());
    assert!(!first.as_mut().enable());
    assert!(poll(second.as_mut()).is_pending());
    notify.notify_one();
    drop(first);
    assert!(second.as_mut().enable());
    assert!(poll(second.as_mut()).is_ready());
    let unpolled = notify.clone().notified_owned();
    notify.notify_waiters();
    drop(notify);
    ready(unpolled);
}

#[test]
fn a_waker_that_panics_does_not_prevent_other_wakes() {
    let notify = Notify::new();
    let (woken, waker) = Wakes::new();
    let mut line: Vec<_> = (0..100).map(|_| Box::pin(notify.notified())).collect();
    for (at, notified) in line.iter_mut().enumerate() {
        let panics = calling(|| panic!("planted"));
        let waker = if at == 40 { &panics } else { &waker };
        assert!(poll_with(notified.as_mut(), waker).is_pending());
    }
    let result = catch_unwind(AssertUnwindSafe(|| notify.notify_waiters()));
    assert!(result.is_err());
    assert_eq!(woken.get(), 99);
    assert_eq!(ready_of(&mut line).len(), 100);
    notify.notify_one();
    ready(notify.notified());
}

#[test]
fn a_panic_of_a_waker_leaves_the_notify_usable() {
    let notify = Notify::new();
    let mut notified = Box::pin(notify.notified());
    let panics = calling(|| panic!("planted"));
    assert!(poll_with(notified.as_mut(), &panics).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| notify.notify_one())).is_err());
    assert!(poll(notified.as_mut()).is_ready());
    assert!(waits(notify.notified()));
}

#[test]
fn wakers_may_call_back() {
    let notify = Arc::new(Notify::new());
    let inner = notify.clone();
    let waker = calling(move || {
        inner.notify_one();
        inner.notify_waiters();
        ready(inner.notified());
    });
    let mut notified = pin!(notify.notified());
    assert!(poll_with(notified.as_mut(), &waker).is_pending());
    notify.notify_one();
    let mut again = pin!(notify.notified());
    assert!(poll_with(again.as_mut(), &waker).is_pending());
    notify.notify_waiters();
    assert!(poll(again.as_mut()).is_ready());
}

#[test]
fn the_drop_of_a_waker_may_call_back() {
    let notify = Arc::new(Notify::new());
    let make = || {
        let inner = notify.clone();
        calling_on_drop(move || {
            inner.notify_one();
            waits(inner.notified());
        })
    };
    // The waker is replaced by another poll, or dropped with its future.
    let mut notified = Box::pin(notify.notified());
    assert!(poll_with(notified.as_mut(), &make()).is_pending());
    assert!(poll_with(notified.as_mut(), &make()).is_pending());
    // The drop above notified the waiting future itself.
    assert!(poll(notified.as_mut()).is_ready());
    let mut notified = Box::pin(notify.notified());
    assert!(poll_with(notified.as_mut(), &make()).is_pending());
    drop(notified);
}

#[test]
fn a_waker_may_call_back_to_others_that_wait() {
    let notify = Arc::new(Notify::new());
    // During the wake-up, another future begins to wait.
    let inner = notify.clone();
    let waker = calling(move || assert!(waits(inner.notified())));
    let mut notified = Box::pin(notify.notified());
    assert!(poll_with(notified.as_mut(), &waker).is_pending());
    notify.notify_waiters();
    assert!(poll(notified.as_mut()).is_ready());
    // During the drop, another waiting future is notified.
    let inner = notify.clone();
    let waker = calling_on_drop(move || inner.notify_one());
    let mut notified = Box::pin(notify.notified());
    assert!(poll_with(notified.as_mut(), &waker).is_pending());
    drop(waker);
    let mut other = line(&notify, 1);
    drop(notified);
    assert_eq!(ready_of(&mut other), [0]);
}

/// The waker of one future may drop another future of the list.
#[test]
fn a_waker_may_drop_another_waiter() {
    let notify = Arc::new(Notify::new());
    let other: Arc<Mutex<Option<Pin<Box<OwnedNotified>>>>> = Arc::default();
    let held = other.clone();
    let waker = calling(move || drop(held.lock().take()));
    let mut first = pin!(notify.notified());
    assert!(poll_with(first.as_mut(), &waker).is_pending());
    let mut second = Box::pin(notify.clone().notified_owned());
    assert!(poll(second.as_mut()).is_pending());
    *other.lock() = Some(second);
    notify.notify_waiters();
    assert!(poll(first.as_mut()).is_ready());
    assert!(other.lock().is_none());
}

#[test]
fn a_loop_over_ready_notifications_yields() {
    let notify = Notify::new();
    yields(async {
        loop {
            notify.notify_one();
            notify.notified().await;
        }
    });
    let notify = Arc::new(notify);
    yields(async {
        loop {
            notify.notify_one();
            notify.clone().notified_owned().await;
        }
    });
}

#[test]
fn a_poll_without_budget_keeps_the_notification() {
    let notify = Notify::new();
    notify.notify_one();
    let mut notified = pin!(notify.notified());
    raddle_leaf::coop::budget(|| {
        while raddle_leaf::coop::has_budget_remaining() {
            ready(raddle_leaf::coop::consume_budget());
        }
        assert!(poll(notified.as_mut()).is_pending());
    });
    assert!(poll(notified.as_mut()).is_ready());
}

#[test]
fn futures_are_send_and_sync() {
    fn both<T: Send + Sync>() {}
    both::<Notify>();
    both::<Notified<'_>>();
    both::<OwnedNotified>();
}

/// Two threads notify each other in turn, 10,000 times.
#[test]
fn two_threads_notify_each_other_in_turn() {
    let (ping, pong) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let answers = std::thread::spawn({
        let (ping, pong) = (ping.clone(), pong.clone());
        move || {
            for _ in 0..10_000 {
                futures_lite::future::block_on(ping.notified());
                pong.notify_one();
            }
        }
    });
    for _ in 0..10_000 {
        ping.notify_one();
        futures_lite::future::block_on(pong.notified());
    }
    answers.join().unwrap();
}
