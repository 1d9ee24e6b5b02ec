//! Tests of the documented behaviour of a semaphore.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use raddle_sync::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
use raddle_testing::{Wakes, ready};
use static_assertions::{assert_impl_all, assert_not_impl_any};

use crate::common::{poll, poll_with, yields};
use crate::hooked::Hooked;

assert_impl_all!(Semaphore: Send, Sync, Unpin, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
assert_impl_all!(SemaphorePermit<'static>: Send, Sync, Unpin);
assert_impl_all!(OwnedSemaphorePermit: Send, Sync, Unpin);
assert_impl_all!(AcquireError: Send, Sync, Unpin, std::error::Error);
assert_impl_all!(TryAcquireError: Send, Sync, Unpin, std::error::Error);
assert_not_impl_any!(SemaphorePermit<'static>: Clone);

fn assert_send<T: Send>(value: T) -> T {
    value
}

static STATIC: Semaphore = Semaphore::const_new(1);

#[test]
fn a_static_semaphore_counts() {
    let permit = STATIC.try_acquire().unwrap();
    assert_eq!(STATIC.available_permits(), 0);
    drop(permit);
    assert_eq!(STATIC.available_permits(), 1);
}

#[test]
fn permits_are_acquired_and_released() {
    let semaphore = Semaphore::new(3);
    let one = ready(assert_send(semaphore.acquire())).unwrap();
    let two = ready(assert_send(semaphore.acquire_many(2))).unwrap();
    assert_eq!((one.num_permits(), two.num_permits()), (1, 2));
    assert_eq!(semaphore.available_permits(), 0);
    assert_eq!(
        semaphore.try_acquire().unwrap_err(),
        TryAcquireError::NoPermits
    );
    drop(two);
    assert_eq!(semaphore.available_permits(), 2);
    assert_eq!(
        semaphore.try_acquire_many(3).unwrap_err(),
        TryAcquireError::NoPermits
    );
    drop(one);
    assert_eq!(semaphore.try_acquire_many(3).unwrap().num_permits(), 3);
    assert_eq!(semaphore.available_permits(), 3);
}

#[test]
fn owned_permits_keep_the_semaphore_alive() {
    let semaphore = Arc::new(Semaphore::new(4));
    let permits = [
        ready(assert_send(semaphore.clone().acquire_owned())).unwrap(),
        semaphore.clone().try_acquire_owned().unwrap(),
        semaphore.clone().try_acquire_many_owned(1).unwrap(),
        ready(semaphore.clone().acquire_many_owned(1)).unwrap(),
    ];
    assert!(semaphore.clone().try_acquire_owned().is_err());
    let weak = Arc::downgrade(&semaphore);
    drop(semaphore);
    assert!(Arc::ptr_eq(permits[0].semaphore(), permits[3].semaphore()));
    assert_eq!(weak.upgrade().unwrap().available_permits(), 0);
    drop(permits);
    assert!(weak.upgrade().is_none());
}

#[test]
fn permits_can_be_added_and_forgotten() {
    let semaphore = Semaphore::new(0);
    semaphore.add_permits(5);
    semaphore.try_acquire_many(2).unwrap().forget();
    assert_eq!(semaphore.available_permits(), 3);
    assert_eq!(semaphore.forget_permits(1), 1);
    assert_eq!(semaphore.forget_permits(10), 2);
    assert_eq!(semaphore.forget_permits(1), 0);
    assert_eq!(semaphore.available_permits(), 0);
}

#[test]
fn permits_can_be_merged_and_split() {
    let semaphore = Arc::new(Semaphore::new(5));
    let mut permit = semaphore.try_acquire_many(2).unwrap();
    permit.merge(semaphore.try_acquire_many(3).unwrap());
    assert_eq!(permit.num_permits(), 5);
    assert!(permit.split(6).is_none());
    let three = permit.split(3).unwrap();
    assert_eq!((permit.num_permits(), three.num_permits()), (2, 3));
    drop(permit);
    assert_eq!(semaphore.available_permits(), 2);
    drop(three);

    let mut owned = semaphore.clone().try_acquire_many_owned(1).unwrap();
    owned.merge(semaphore.clone().try_acquire_many_owned(4).unwrap());
    assert!(owned.split(6).is_none());
    let all = owned.split(5).unwrap();
    assert_eq!((owned.num_permits(), all.num_permits()), (0, 5));
    drop(owned);
    assert_eq!(semaphore.available_permits(), 0);
    all.forget();
    assert_eq!(semaphore.available_permits(), 0);
}

#[test]
#[should_panic(expected = "different semaphores")]
fn permits_of_two_semaphores_cannot_be_merged() {
    let (one, two) = (Semaphore::new(1), Semaphore::new(1));
    let mut permit = one.try_acquire().unwrap();
    permit.merge(two.try_acquire().unwrap());
}

#[test]
fn a_semaphore_holds_at_most_max_permits() {
    assert_eq!(Semaphore::MAX_PERMITS, usize::MAX >> 3, "as in Tokio");
    let semaphore = Semaphore::new(Semaphore::MAX_PERMITS);
    assert_eq!(semaphore.available_permits(), Semaphore::MAX_PERMITS);
    let permit = semaphore.try_acquire().unwrap();
    semaphore.add_permits(1);
    let result = std::panic::catch_unwind(|| semaphore.add_permits(1));
    assert!(result.is_err());
    permit.forget();
    assert_eq!(semaphore.available_permits(), Semaphore::MAX_PERMITS);
    assert!(std::panic::catch_unwind(|| Semaphore::new(Semaphore::MAX_PERMITS + 1)).is_err());
}

#[test]
fn waiters_are_served_in_order_also_if_the_first_needs_more_permits() {
    let semaphore = Semaphore::new(2);
    let held = semaphore.try_acquire_many(2).unwrap();
    let (first_woken, first_waker) = Wakes::new();
    let (second_woken, second_waker) = Wakes::new();
    let mut first = Box::pin(semaphore.acquire_many(2));
    let mut second = Box::pin(semaphore.acquire());
    assert!(poll_with(&mut first, &first_waker).is_pending());
    assert!(poll_with(&mut second, &second_waker).is_pending());

    // One permit is enough for the second waiter, but the first is in front of it.
    let mut held = held;
    drop(held.split(1));
    assert_eq!((first_woken.get(), second_woken.get()), (0, 0));
    assert_eq!(semaphore.available_permits(), 0);
    assert_eq!(semaphore.forget_permits(1), 0);
    assert!(semaphore.try_acquire().is_err());
    assert!(poll(&mut Box::pin(semaphore.acquire())).is_pending());

    drop(held);
    assert_eq!((first_woken.get(), second_woken.get()), (1, 0));
    drop(ready(first).unwrap());
    assert_eq!(second_woken.get(), 1);
    drop(ready(second).unwrap());
    assert_eq!(semaphore.available_permits(), 2);
}

#[test]
fn acquiring_zero_permits_succeeds_until_the_close() {
    let semaphore = Semaphore::new(0);
    let mut waiting = Box::pin(semaphore.acquire());
    assert!(poll(&mut waiting).is_pending());
    assert_eq!(ready(semaphore.acquire_many(0)).unwrap().num_permits(), 0);
    semaphore.add_permits(1);
    assert!(poll(&mut waiting).is_ready());
    semaphore.close();
    assert!(ready(semaphore.acquire_many(0)).is_err());
}

#[test]
fn one_release_serves_all_waiters_that_it_can() {
    let semaphore = Semaphore::new(0);
    let wakers: Vec<_> = (0..100).map(|_| Wakes::new()).collect();
    let mut waiting: Vec<_> = wakers
        .iter()
        .map(|(_, waker)| {
            let mut acquire = Box::pin(semaphore.acquire());
            assert!(poll_with(&mut acquire, waker).is_pending());
            acquire
        })
        .collect();
    semaphore.add_permits(70);
    for (index, (counter, _)) in wakers.iter().enumerate() {
        assert_eq!(counter.get(), usize::from(index < 70));
    }
    let mut permits = Vec::new();
    for acquire in waiting.drain(..70) {
        permits.push(ready(acquire).unwrap());
    }
    drop(permits);
    for acquire in waiting {
        drop(ready(acquire).unwrap());
    }
    assert_eq!(semaphore.available_permits(), 70);
}

#[test]
fn closing_refuses_present_and_later_waiters() {
    let semaphore = Arc::new(Semaphore::new(1));
    let held = semaphore.try_acquire().unwrap();
    let (counter, waker) = Wakes::new();
    let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(semaphore.acquire())).collect();
    for acquire in &mut waiting {
        assert!(poll_with(acquire, &waker).is_pending());
    }
    assert!(!semaphore.is_closed());
    semaphore.close();
    semaphore.close();
    assert!(semaphore.is_closed());
    assert_eq!(counter.get(), 100);
    for acquire in waiting {
        assert_eq!(
            ready(acquire).unwrap_err().to_string(),
            "the semaphore is closed"
        );
    }
    assert!(ready(semaphore.acquire()).is_err());
    assert!(ready(semaphore.clone().acquire_owned()).is_err());
    assert_eq!(
        semaphore.try_acquire().unwrap_err(),
        TryAcquireError::Closed
    );
    drop(held);
    assert_eq!(semaphore.available_permits(), 1);
    assert_eq!(
        semaphore.try_acquire().unwrap_err(),
        TryAcquireError::Closed
    );
}

/// All waiters are served before the close, and refused at their next polls.
#[test]
fn a_served_waiter_is_refused_after_a_close_and_returns_its_permit() {
    let semaphore = Semaphore::new(0);
    let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(semaphore.acquire())).collect();
    for acquire in &mut waiting {
        assert!(poll(acquire).is_pending());
    }
    semaphore.add_permits(5);
    semaphore.close();
    assert_eq!(semaphore.available_permits(), 0);
    for acquire in waiting {
        assert!(ready(acquire).is_err());
    }
    assert_eq!(semaphore.available_permits(), 5);
}

#[test]
fn blocking_acquire_waits_in_the_same_queue() {
    let semaphore = Arc::new(Semaphore::new(1));
    let permit = semaphore.blocking_acquire().unwrap();
    assert!(std::ptr::eq(permit.semaphore(), &*semaphore));
    let thread = {
        let semaphore = semaphore.clone();
        std::thread::spawn(move || {
            let permits = semaphore.blocking_acquire_many_owned(2).unwrap();
            permits.num_permits()
        })
    };
    semaphore.add_permits(1);
    drop(permit);
    assert_eq!(thread.join().unwrap(), 2);
    drop(semaphore.clone().blocking_acquire_owned().unwrap());
    assert_eq!(semaphore.blocking_acquire_many(2).unwrap().num_permits(), 2);
    semaphore.close();
    assert!(semaphore.blocking_acquire().is_err());
}

#[test]
#[should_panic(expected = "must not block")]
fn blocking_inside_a_poll_panics() {
    let semaphore = Semaphore::new(1);
    let _permit = raddle_leaf::coop::budget(|| semaphore.blocking_acquire());
}

#[test]
fn only_the_waker_of_the_last_poll_is_woken() {
    let semaphore = Semaphore::new(0);
    let (old, old_waker) = Wakes::new();
    let (new, new_waker) = Wakes::new();
    let mut acquire = Box::pin(semaphore.acquire());
    assert!(poll_with(&mut acquire, &old_waker).is_pending());
    assert!(poll_with(&mut acquire, &new_waker).is_pending());
    drop(old_waker);
    assert_eq!(Arc::strong_count(&old), 1, "the old waker is kept");
    assert!(poll_with(&mut acquire, &new_waker).is_pending());
    semaphore.add_permits(1);
    assert_eq!((old.get(), new.get()), (0, 1));
    assert!(poll(&mut acquire).is_ready());
}

#[test]
fn a_poll_with_the_same_waker_clones_nothing() {
    let semaphore = Semaphore::new(0);
    let (counts, waker) = Hooked::counting();
    let mut acquire = Box::pin(semaphore.acquire());
    for _ in 0..3 {
        assert!(poll_with(&mut acquire, &waker).is_pending());
        assert_eq!((counts.cloned(), counts.wakers()), (1, 2));
    }
    semaphore.add_permits(1);
    assert_eq!((counts.woken(), counts.wakers()), (1, 1));
    let (counts, waker) = Hooked::counting();
    assert!(poll_with(&mut acquire, &waker).is_ready());
    assert_eq!(counts.cloned(), 0, "the waiter was served");
}

/// Covers the first poll, and a poll with another waker.
#[test]
fn a_release_or_a_close_in_the_middle_of_a_poll_is_seen() {
    for waits in [false, true] {
        for close in [false, true] {
            let semaphore = Arc::new(Semaphore::new(0));
            let (counts, waker) = Hooked::new({
                let semaphore = semaphore.clone();
                move || match close {
                    true => semaphore.close(),
                    false => semaphore.add_permits(1),
                }
            });
            let mut acquire = Box::pin(semaphore.acquire());
            if waits {
                assert!(poll(&mut acquire).is_pending());
            }
            let Poll::Ready(acquired) = poll_with(&mut acquire, &waker) else {
                panic!("the waiter was served or refused");
            };
            assert_eq!(acquired.is_err(), close);
            assert_eq!((counts.woken(), counts.wakers()), (0, 1));
            drop(acquired);
            drop(acquire);
            assert_eq!(semaphore.available_permits(), usize::from(!close));
        }
    }
}

/// Without budget, a waiter whose permits are available yields; one that has to wait enters the
/// wait list.
#[test]
fn a_poll_without_budget_waits_only_for_permits() {
    let semaphore = Semaphore::new(1);
    let (counts, waker) = Hooked::counting();
    let mut one = Box::pin(semaphore.acquire());
    let mut two = Box::pin(semaphore.acquire_many(2));
    raddle_leaf::coop::budget(|| {
        while raddle_leaf::coop::has_budget_remaining() {
            ready(raddle_leaf::coop::consume_budget());
        }
        assert!(poll_with(&mut one, &waker).is_pending());
        assert_eq!((counts.woken(), counts.cloned()), (1, 0));
        assert_eq!(semaphore.available_permits(), 1);

        assert!(poll_with(&mut two, &waker).is_pending());
        assert_eq!((counts.woken(), counts.cloned()), (1, 1));
        assert!(poll_with(&mut two, &waker).is_pending());
        assert_eq!((counts.woken(), counts.cloned()), (2, 1));

        assert!(poll_with(&mut one, &waker).is_pending());
        assert_eq!((counts.woken(), counts.cloned()), (2, 2));
        semaphore.add_permits(1);
        assert_eq!(counts.woken(), 3, "the two permits");
        assert!(poll_with(&mut two, &waker).is_pending());
        assert_eq!(counts.woken(), 4);
    });
    drop(ready(two).unwrap());
    drop(ready(one).unwrap());
    assert_eq!(semaphore.available_permits(), 2);
}

/// Three futures wait for two permits each. The second is dropped in each of its states; the third
/// gets its permits.
#[test]
fn an_acquisition_dropped_at_any_poll_loses_nothing() {
    for dropped_at in ["unpolled", "queued", "first in line", "served", "never"] {
        let semaphore = Semaphore::new(2);
        let held = semaphore.try_acquire_many(2).unwrap();
        let (woken, waker) = Wakes::new();
        let mut first = Box::pin(semaphore.acquire_many(2));
        let mut middle = Some(Box::pin(semaphore.acquire_many(2)));
        let mut last = Box::pin(semaphore.acquire_many(2));

        assert!(poll(&mut first).is_pending());
        middle = middle.filter(|_| dropped_at != "unpolled");
        if let Some(middle) = &mut middle {
            assert!(poll(middle).is_pending());
        }
        assert!(poll_with(&mut last, &waker).is_pending());
        middle = middle.filter(|_| dropped_at != "queued");
        drop(held);
        middle = middle.filter(|_| dropped_at != "first in line");
        assert_eq!(woken.get(), 0, "{dropped_at}");
        drop(ready(first).unwrap());
        middle = middle.filter(|_| dropped_at != "served");
        if let Some(middle) = middle {
            drop(ready(middle).unwrap());
        }
        assert_eq!(woken.get(), 1, "{dropped_at}");
        drop(ready(last).unwrap());
        assert_eq!(semaphore.available_permits(), 2);
    }
}

#[test]
fn dropping_the_first_waiter_serves_the_next() {
    let semaphore = Semaphore::new(1);
    let (woken, waker) = Wakes::new();
    let mut greedy = Box::pin(semaphore.acquire_many(2));
    let mut modest = Box::pin(semaphore.acquire());
    assert!(poll(&mut greedy).is_pending());
    assert!(poll_with(&mut modest, &waker).is_pending());
    drop(greedy);
    assert_eq!(woken.get(), 1);
    assert!(poll(&mut modest).is_ready());
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn a_loop_over_free_permits_yields() {
    let semaphore = Semaphore::new(1);
    assert_eq!(yields(async || drop(semaphore.acquire().await)), 7);
    let owned = Arc::new(Semaphore::new(1));
    assert_eq!(yields(|| owned.clone().acquire_owned()), 7);
}

#[test]
fn a_poll_that_waits_costs_no_budget() {
    let semaphore = Semaphore::new(0);
    raddle_leaf::coop::budget(|| {
        let mut acquire = Box::pin(semaphore.acquire());
        for _ in 0..1000 {
            assert!(poll(&mut acquire).is_pending());
        }
        semaphore.add_permits(1);
        assert!(poll(&mut acquire).is_ready());
    });
}

#[test]
fn a_semaphore_and_its_permits_implement_debug() {
    let semaphore = Semaphore::new(3);
    assert!(format!("{semaphore:?}").contains("permits: 3"));
    let permit = semaphore.try_acquire().unwrap();
    assert!(format!("{permit:?}").contains("permits: 1"));
    let mut future = pin!(semaphore.acquire());
    assert!(
        future
            .as_mut()
            .poll(&mut std::task::Context::from_waker(Waker::noop()))
            .is_ready()
    );
}
