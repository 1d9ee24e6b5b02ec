use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_testing::Wakes;

use super::*;
use crate::hooked::Hooked;

#[test]
fn an_advance_wakes_the_waiters_of_every_shard() {
    let sequence = Sequence::new();
    let (count, waker) = Wakes::new();
    let mut all: Vec<_> = (0..100).map(|i| Box::pin(sequence.changed(0, i))).collect();
    for changed in &mut all {
        let poll = changed.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending());
    }
    sequence.wake(sequence.advance());
    assert_eq!(count.get(), 100);
    for changed in &mut all {
        let poll = changed.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!(
            poll,
            Poll::Ready(Now {
                count: 1,
                closed: false
            })
        );
    }
    assert!(sequence.advance().is_empty());
}

#[test]
fn a_waiter_that_leaves_is_not_woken_and_the_others_stay() {
    let sequence = Sequence::new();
    let ((gone, first), (stays, second)) = (Wakes::new(), Wakes::new());
    let mut leaves = Box::pin(sequence.changed(0, 0));
    let mut waits = pin!(sequence.changed(0, 0));
    assert!(
        leaves
            .as_mut()
            .poll(&mut Context::from_waker(&first))
            .is_pending()
    );
    assert!(
        waits
            .as_mut()
            .poll(&mut Context::from_waker(&second))
            .is_pending()
    );
    drop(leaves);
    sequence.wake(sequence.close());
    assert_eq!((gone.get(), stays.get()), (0, 1));
}

#[test]
fn the_last_waiter_that_leaves_clears_the_bit() {
    let sequence = Sequence::new();
    let (_, waker) = Wakes::new();
    {
        let mut changed = pin!(sequence.changed(0, 1));
        assert!(
            changed
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    assert!(sequence.advance().is_empty());
}

#[test]
fn the_waker_of_the_last_poll_is_woken() {
    let sequence = Sequence::new();
    let ((before, first), (after, second)) = (Wakes::new(), Wakes::new());
    let mut changed = pin!(sequence.changed(0, 0));
    for waker in [&first, &second, &second] {
        assert!(
            changed
                .as_mut()
                .poll(&mut Context::from_waker(waker))
                .is_pending()
        );
    }
    sequence.wake(sequence.advance());
    assert_eq!((before.get(), after.get()), (0, 1));
}

#[test]
fn dropping_a_released_wait_does_not_affect_later_waits() {
    let sequence = Sequence::new();
    let ((_, first), (other, second)) = (Wakes::new(), Wakes::new());
    let mut late = Box::pin(sequence.changed(0, 0));
    assert!(
        late.as_mut()
            .poll(&mut Context::from_waker(&first))
            .is_pending()
    );
    sequence.wake(sequence.advance());
    let mut next = pin!(sequence.changed(1, 0));
    assert!(
        next.as_mut()
            .poll(&mut Context::from_waker(&second))
            .is_pending()
    );
    drop(late);
    sequence.wake(sequence.advance());
    assert_eq!(other.get(), 1);
}

#[test]
fn a_poll_with_the_same_waker_clones_nothing() {
    let sequence = Sequence::new();
    let (counts, waker) = Hooked::counting();
    let mut changed = pin!(sequence.changed(0, 0));
    let cx = &mut Context::from_waker(&waker);
    for _ in 0..3 {
        assert!(changed.as_mut().poll(cx).is_pending());
        assert_eq!((counts.cloned(), counts.wakers()), (1, 2));
    }
    sequence.wake(sequence.advance());
    assert_eq!((counts.woken(), counts.wakers()), (1, 1));
    assert!(changed.as_mut().poll(cx).is_ready());
    assert_eq!(counts.cloned(), 1, "the count has changed");
}

/// Covers the first poll, and a poll with another waker. The bit of the shard stays set only if
/// another future waits in the shard.
#[test]
fn an_advance_in_the_middle_of_a_poll_is_seen() {
    for waits in [false, true] {
        for wakes in [false, true] {
            for others in [0, 1] {
                let sequence = Arc::new(Sequence::new());
                let (counts, waker) = Hooked::new({
                    let sequence = sequence.clone();
                    move || {
                        let waiting = sequence.advance();
                        if wakes {
                            sequence.wake(waiting);
                        }
                    }
                });
                let (woken, other) = Wakes::new();
                let mut late = Box::pin(sequence.changed(1, 0));
                let mut changed = Box::pin(sequence.changed(0, 0));
                if waits {
                    let cx = &mut Context::from_waker(Waker::noop());
                    assert!(changed.as_mut().poll(cx).is_pending());
                }
                let cx = &mut Context::from_waker(&waker);
                // Before the advance has visited the shard, the future is queued like others.
                let is_listed = waits && !wakes;
                assert_eq!(changed.as_mut().poll(cx).is_pending(), is_listed);
                assert!(!is_listed || changed.as_mut().poll(cx).is_ready());
                if others > 0 {
                    let cx = &mut Context::from_waker(&other);
                    assert!(late.as_mut().poll(cx).is_pending());
                }
                drop(changed);
                assert_eq!((counts.woken(), counts.wakers()), (0, 1));
                let waiting = sequence.advance();
                assert_eq!(waiting.is_empty(), others == 0);
                sequence.wake(waiting);
                assert_eq!(woken.get(), others);
            }
        }
    }
}

/// An advance releases the waiters of its shards after it has changed the count.
#[test]
fn a_wait_released_by_an_earlier_advance_waits_again() {
    let sequence = Sequence::new();
    let ((_, first), (woken, second)) = (Wakes::new(), Wakes::new());
    let mut former = pin!(sequence.changed(0, 0));
    let mut next = pin!(sequence.changed(1, 0));
    assert!(
        former
            .as_mut()
            .poll(&mut Context::from_waker(&first))
            .is_pending()
    );
    let waiting = sequence.advance();
    let cx = &mut Context::from_waker(&second);
    assert!(next.as_mut().poll(cx).is_pending());
    sequence.wake(waiting);
    assert_eq!(woken.get(), 1);
    assert!(next.as_mut().poll(cx).is_pending());
    sequence.wake(sequence.advance());
    assert_eq!(woken.get(), 2);
    assert!(next.as_mut().poll(cx).is_ready());
}

/// The first advance has changed the count, and has not woken the waiters yet.
#[test]
fn a_wait_that_need_not_queue_keeps_the_bit_of_the_waiters() {
    let sequence = Arc::new(Sequence::new());
    let (late_wakes, other) = Wakes::new();
    let mut late = pin!(sequence.changed(0, 0));
    let cx = &mut Context::from_waker(&other);
    assert!(late.as_mut().poll(cx).is_pending());
    let (_, waker) = Hooked::new({
        let sequence = sequence.clone();
        move || {
            let _waiting = sequence.advance();
        }
    });
    let mut over = pin!(sequence.changed(0, 0));
    assert!(
        over.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
    );
    sequence.wake(sequence.advance());
    assert_eq!(late_wakes.get(), 1);
    assert!(late.as_mut().poll(cx).is_ready());
}
