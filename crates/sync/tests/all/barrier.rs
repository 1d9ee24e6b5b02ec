//! Tests of the documented behaviour of a barrier.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Poll, Waker};

use raddle_sync::{Barrier, BarrierWaitResult};
use raddle_testing::{Wakes, calling, ready};
use static_assertions::assert_impl_all;

use crate::common::{poll, poll_with, yields};
use crate::hooked::Hooked;

assert_impl_all!(Barrier: Send, Sync, Unpin, std::panic::UnwindSafe);
assert_impl_all!(BarrierWaitResult: Send, Sync, Clone);

#[test]
fn a_barrier_for_one_or_none_opens_at_once() {
    for size in [0, 1] {
        let barrier = Barrier::new(size);
        for _ in 0..3 {
            assert!(ready(barrier.wait()).is_leader());
        }
    }
}

#[test]
fn a_barrier_opens_for_the_last_arrival_and_closes_again() {
    let barrier = Barrier::new(3);
    for _ in 0..3 {
        let (woken, waker) = Wakes::new();
        let mut first = Box::pin(barrier.wait());
        let mut second = Box::pin(barrier.wait());
        assert!(poll_with(&mut first, &waker).is_pending());
        assert!(poll_with(&mut second, &waker).is_pending());
        assert!(poll_with(&mut first, &waker).is_pending());
        assert_eq!(woken.get(), 0);
        assert!(ready(barrier.wait()).is_leader());
        assert_eq!(woken.get(), 2);
        // A task that waits for the next opening does not delay the released ones.
        let mut next = Box::pin(barrier.wait());
        assert!(poll(&mut next).is_pending());
        assert!(!ready(first).is_leader());
        assert!(!ready(second).is_leader());
        let mut third = Box::pin(barrier.wait());
        assert!(poll(&mut third).is_pending());
        assert!(ready(barrier.wait()).is_leader());
    }
}

#[test]
fn more_waiters_than_a_batch_are_released() {
    let barrier = Barrier::new(101);
    let (woken, waker) = Wakes::new();
    let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(barrier.wait())).collect();
    for wait in &mut waiting {
        assert!(poll_with(wait, &waker).is_pending());
    }
    assert!(ready(barrier.wait()).is_leader());
    assert_eq!(woken.get(), 100);
    assert!(waiting.into_iter().all(|wait| !ready(wait).is_leader()));
}

/// As in Tokio: a wait that was polled and then dropped still counts towards the opening. Its waker
/// is not kept.
#[test]
fn a_wait_dropped_after_its_first_poll_stays_counted() {
    for polls in 0..3 {
        let barrier = Barrier::new(3);
        let (woken, waker) = Wakes::new();
        let mut dropped = Box::pin(barrier.wait());
        for _ in 0..polls {
            assert!(poll_with(&mut dropped, &waker).is_pending());
        }
        drop(dropped);
        let mut stays = Box::pin(barrier.wait());
        assert!(poll_with(&mut stays, &waker).is_pending());
        let mut last = Box::pin(barrier.wait());
        if polls == 0 {
            assert!(poll_with(&mut last, &waker).is_pending());
            last = Box::pin(barrier.wait());
        }
        assert!(ready(last).is_leader());
        assert!(!ready(stays).is_leader());
        assert_eq!(woken.get(), 1);
        // The next round counts from zero.
        let mut next = [Box::pin(barrier.wait()), Box::pin(barrier.wait())];
        assert!(next.iter_mut().all(|next| poll(next).is_pending()));
        assert!(ready(barrier.wait()).is_leader());
    }
}

#[test]
fn a_wait_dropped_after_the_barrier_opened_counts_for_that_round_only() {
    let barrier = Barrier::new(2);
    let mut first = Box::pin(barrier.wait());
    assert!(poll(&mut first).is_pending());
    assert!(ready(barrier.wait()).is_leader());
    drop(first);
    let mut next = Box::pin(barrier.wait());
    assert!(poll(&mut next).is_pending());
    assert!(ready(barrier.wait()).is_leader());
    assert!(!ready(next).is_leader());
}

#[test]
fn only_the_waker_of_the_last_poll_is_woken() {
    let barrier = Barrier::new(2);
    let (old, old_waker) = Wakes::new();
    let (new, new_waker) = Wakes::new();
    let mut wait = Box::pin(barrier.wait());
    assert!(poll_with(&mut wait, &old_waker).is_pending());
    assert!(poll_with(&mut wait, &new_waker).is_pending());
    assert!(ready(barrier.wait()).is_leader());
    assert_eq!((old.get(), new.get()), (0, 1));
}

#[test]
fn a_released_wait_clones_no_waker() {
    let barrier = Barrier::new(2);
    let mut wait = Box::pin(barrier.wait());
    assert!(poll(&mut wait).is_pending());
    assert!(ready(barrier.wait()).is_leader());
    let (counts, waker) = Hooked::counting();
    let Poll::Ready(result) = poll_with(&mut wait, &waker) else {
        panic!("the barrier has opened");
    };
    assert!(!result.is_leader());
    assert_eq!(counts.cloned(), 0);
}

#[test]
fn a_barrier_that_opens_in_the_middle_of_a_poll_lets_the_wait_pass() {
    let barrier = Arc::new(Barrier::new(2));
    let mut wait = Box::pin(barrier.wait());
    assert!(poll(&mut wait).is_pending());
    let (counts, waker) = Hooked::new({
        let barrier = barrier.clone();
        move || assert!(ready(barrier.wait()).is_leader())
    });
    let Poll::Ready(result) = poll_with(&mut wait, &waker) else {
        panic!("the barrier has opened");
    };
    assert!(!result.is_leader());
    assert_eq!((counts.woken(), counts.wakers()), (0, 1));
}

#[test]
fn a_waker_may_panic_or_call_the_barrier() {
    for panicking in [0, 31, 32, 99] {
        let barrier = Arc::new(Barrier::new(101));
        let (woken, good) = Wakes::new();
        let bad = calling({
            let barrier = barrier.clone();
            move || {
                assert!(poll(&mut Box::pin(barrier.wait())).is_pending());
                panic!("on purpose");
            }
        });
        let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(barrier.wait())).collect();
        for (index, wait) in waiting.iter_mut().enumerate() {
            let waker = if index == panicking { &bad } else { &good };
            assert!(poll_with(wait, waker).is_pending());
        }
        assert!(catch_unwind(AssertUnwindSafe(|| ready(barrier.wait()))).is_err());
        assert_eq!(woken.get(), 99);
        assert!(waiting.into_iter().all(|wait| !ready(wait).is_leader()));
    }
}

/// The waiters of another round arrive and leave before all waiters of the first round are woken.
#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_round_wakes_its_waiters_while_the_former_round_is_woken() {
    const OTHERS: usize = 40;
    let barrier: &Barrier = Box::leak(Box::new(Barrier::new(OTHERS + 1)));
    let wait = |waker: &Waker| {
        let mut wait = Box::pin(barrier.wait());
        assert!(poll_with(&mut wait, waker).is_pending());
        wait
    };
    let (woken, waker) = Wakes::new();
    let comes_back = calling(move || {
        let waiting: Vec<_> = (0..OTHERS).map(|_| wait(&waker)).collect();
        assert!(ready(barrier.wait()).is_leader());
        assert_eq!(woken.get(), OTHERS);
        assert!(waiting.into_iter().all(|wait| !ready(wait).is_leader()));
    });
    let (woken, waker) = Wakes::new();
    let first = wait(&comes_back);
    let others: Vec<_> = (1..OTHERS).map(|_| wait(&waker)).collect();
    assert!(ready(barrier.wait()).is_leader());
    assert_eq!(woken.get(), OTHERS - 1);
    assert!(!ready(first).is_leader());
    assert!(others.into_iter().all(|wait| !ready(wait).is_leader()));
}

#[test]
fn a_loop_at_a_barrier_for_one_yields() {
    let barrier = Barrier::new(1);
    assert_eq!(yields(|| barrier.wait()), 7);
}

#[test]
fn a_barrier_implements_debug() {
    assert_eq!(format!("{:?}", Barrier::new(3)), "Barrier { size: 3, .. }");
}
