use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::*;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counted() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    (count.clone(), Waker::from(count))
}

fn woken(count: &Count) -> usize {
    count.0.load(Ordering::Relaxed)
}

#[test]
fn an_advance_wakes_every_crowd() {
    let sequence = Sequence::new();
    let (count, waker) = counted();
    let mut all: Vec<_> = (0..100).map(|i| Box::pin(sequence.changed(0, i))).collect();
    for changed in &mut all {
        let poll = changed.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending());
    }
    sequence.wake(sequence.advance());
    assert_eq!(woken(&count), 100);
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
    let ((gone, first), (stays, second)) = (counted(), counted());
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
    assert_eq!((woken(&gone), woken(&stays)), (0, 1));
}

#[test]
fn the_last_who_leaves_clears_the_bit() {
    let sequence = Sequence::new();
    let (_, waker) = counted();
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
    let ((before, first), (after, second)) = (counted(), counted());
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
    assert_eq!((woken(&before), woken(&after)), (0, 1));
}

#[test]
fn a_node_of_a_former_round_leaves_alone() {
    let sequence = Sequence::new();
    let ((_, first), (other, second)) = (counted(), counted());
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
    assert_eq!(woken(&other), 1);
}
