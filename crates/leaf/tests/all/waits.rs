//! Which waits the polls of a thread record.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use raddle_leaf::wait::{
    Caller, PollFrame, Resource, Wait, current_task, enable, located, note, withdraw,
};
use raddle_testing::Wakes;

/// Polls a future once with a waker, and returns the waits of the poll.
fn poll_once<F: Future>(future: Pin<&mut F>, task: u64, waker: &Waker) -> Vec<Wait> {
    enable();
    let own = Waker::noop().data().addr();
    let _ = PollFrame::begin(task, Some(own));
    let _ = future.poll(&mut Context::from_waker(waker));
    PollFrame::resume(task).finish(|waits| waits.to_vec())
}

fn waits_of<F: Future>(future: F) -> Vec<Wait> {
    poll_once(pin!(future), 1, Waker::noop())
}

/// A future that records itself, without a location.
async fn leaf(resource: Resource) {
    poll_fn(|cx| {
        note(cx, "leaf", None, resource);
        Poll::<()>::Pending
    })
    .await;
}

fn operations(waits: &[Wait]) -> Vec<&str> {
    waits.iter().map(Wait::operation).collect()
}

#[test]
fn a_pending_operation_is_noted_with_the_line_of_its_call() {
    let line = line!() + 1;
    let waits = waits_of(located("receive", Resource::Messages(8), pending::<()>()));
    assert_eq!(operations(&waits), ["receive"]);
    assert_eq!(waits[0].resource(), Resource::Messages(8));
    assert_eq!(waits[0].location().unwrap().line(), line);
    assert!(waits[0].is_direct());
    assert!(waits[0].to_string().ends_with(", message of channel 0x8"));
}

#[test]
fn the_outermost_operation_counts_and_takes_the_resource_of_its_leaf() {
    let inner = || leaf(Resource::Task(3));
    let waits = waits_of(located("outer", Resource::Unknown, inner()));
    assert_eq!(operations(&waits), ["outer"]);
    assert_eq!(waits[0].resource(), Resource::Task(3));
    let waits = waits_of(located("outer", Resource::Lock(4), inner()));
    assert_eq!(waits[0].resource(), Resource::Lock(4));
    let nested = located("inner", Resource::Unknown, inner());
    let waits = waits_of(located("outer", Resource::Unknown, nested));
    assert_eq!(operations(&waits), ["outer"]);
    assert_eq!(waits[0].resource(), Resource::Task(3));
}

#[test]
fn an_operation_that_is_ready_leaves_no_wait_of_its_leaves() {
    let mut ready_after_a_pending_leaf = {
        let mut leaf = Box::pin(leaf(Resource::Unknown));
        poll_fn(move |cx| {
            assert!(leaf.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
    };
    let before = located("before", Resource::Unknown, pending::<()>());
    let ready = located("ready", Resource::Unknown, async move {
        Pin::new(&mut ready_after_a_pending_leaf).await;
    });
    let (mut before, mut ready) = (Box::pin(before), Box::pin(ready));
    let waits = waits_of(poll_fn(move |cx| {
        assert!(before.as_mut().poll(cx).is_pending());
        assert!(ready.as_mut().poll(cx).is_ready());
        Poll::<()>::Pending
    }));
    assert_eq!(operations(&waits), ["before"]);
}

#[test]
fn a_poll_of_several_operations_notes_each_and_at_most_64() {
    let many = |count| {
        let mut futures: Vec<_> = (0..count)
            .map(|task| Box::pin(located("join", Resource::Task(task), pending::<()>())))
            .collect();
        poll_fn(move |cx| {
            for future in &mut futures {
                assert!(future.as_mut().poll(cx).is_pending());
            }
            Poll::<()>::Pending
        })
    };
    let waits = waits_of(many(3));
    let resources: Vec<_> = waits.iter().map(Wait::resource).collect();
    assert_eq!(resources, [0, 1, 2].map(Resource::Task));
    assert_eq!(waits_of(many(200)).len(), 64);
}

#[test]
fn a_poll_drops_the_waits_of_the_poll_before_it() {
    let mut polls = 0;
    let mut future = pin!(poll_fn(move |cx| {
        polls += 1;
        if polls == 1 {
            note(cx, "first", None, Resource::Unknown);
        }
        Poll::<()>::Pending
    }));
    let waits = poll_once(future.as_mut(), 1, Waker::noop());
    assert_eq!(operations(&waits), ["first"]);
    assert!(poll_once(future.as_mut(), 1, Waker::noop()).is_empty());
}

#[test]
fn a_poll_within_a_poll_has_its_own_waits() {
    let mut inner_waits = Vec::new();
    let outer = poll_fn(|cx| {
        note(cx, "before", None, Resource::Unknown);
        assert_eq!(current_task(), Some(1));
        let inner = poll_fn(|cx| {
            assert_eq!(current_task(), Some(2));
            note(cx, "inside", None, Resource::Unknown);
            Poll::<()>::Pending
        });
        inner_waits = poll_once(pin!(inner), 2, Waker::noop());
        note(cx, "after", None, Resource::Unknown);
        Poll::<()>::Pending
    });
    let waits = waits_of(outer);
    assert_eq!(operations(&waits), ["before", "after"]);
    assert_eq!(operations(&inner_waits), ["inside"]);
    assert_eq!(current_task(), None);
}

#[test]
fn two_observers_of_one_poll_read_the_same_waits() {
    enable();
    let _ = PollFrame::begin(1, None);
    let _ = PollFrame::begin(1, None);
    let mut future = pin!(leaf(Resource::Unknown));
    assert!(
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    for _ in 0..2 {
        PollFrame::resume(1).finish(|waits| assert_eq!(waits.len(), 1));
    }
    PollFrame::resume(1).finish(|waits| assert!(waits.is_empty()));
    assert_eq!(current_task(), None);
}

#[test]
fn an_operation_with_another_waker_than_the_task_is_not_direct() {
    let (_wakes, waker) = Wakes::new();
    let waits = poll_once(pin!(leaf(Resource::Unknown)), 1, &waker);
    assert!(!waits[0].is_direct());
    let future = located("outer", Resource::Unknown, pending::<()>());
    assert!(!poll_once(pin!(future), 1, &waker)[0].is_direct());
}

#[test]
fn a_poll_outside_a_frame_notes_nothing() {
    enable();
    let mut future = pin!(located("lock", Resource::Lock(1), pending::<()>()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut cx).is_pending());
    assert!(waits_of(pending::<()>()).is_empty());
}

#[test]
fn a_caller_is_where_the_tracked_function_is_called() {
    #[track_caller]
    fn make() -> Caller {
        Caller::here()
    }
    let (caller, line) = (make(), line!());
    assert_eq!(caller.location().unwrap().line(), line);
}

#[test]
fn an_operation_that_is_dropped_in_the_poll_is_not_noted() {
    let waits = waits_of(async {
        let mut lock = Box::pin(located("lock", Resource::Lock(8), pending::<()>()));
        let first = poll_fn(|cx| Poll::Ready(lock.as_mut().poll(cx))).await;
        assert!(first.is_pending());
        drop(lock);
        located("receive", Resource::Messages(8), pending::<()>()).await;
    });
    assert_eq!(operations(&waits), ["receive"]);
}

#[test]
fn a_wait_that_is_withdrawn_is_not_noted() {
    let waits = waits_of(async {
        poll_fn(|cx| {
            note(cx, "join", None, Resource::Task(7));
            note(cx, "join", None, Resource::Task(8));
            withdraw("join", Resource::Task(7));
            Poll::<()>::Pending
        })
        .await;
    });
    assert_eq!(waits.len(), 1);
    assert_eq!(waits[0].resource(), Resource::Task(8));
}

#[test]
fn waits_of_two_polls_are_equal_if_they_are_of_one_call() {
    let lock = || located("lock", Resource::Lock(8), pending::<()>());
    let mut first = pin!(lock());
    let poll = |future: Pin<&mut _>| poll_once(future, 1, Waker::noop());
    let waits = poll(first.as_mut());
    assert_eq!(poll(first.as_mut()), waits);
    assert_ne!(poll(pin!(lock())), waits);
}
