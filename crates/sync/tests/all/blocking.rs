//! Tests of blocking a thread on a future; they include the source file of the crate.

#[path = "../../src/blocking.rs"]
mod source;

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use raddle_primitives::thread;
use source::block_on;

#[test]
fn block_on_returns_the_output_of_a_ready_future() {
    assert_eq!(block_on(async { 7 }), 7);
}

#[test]
fn block_on_polls_again_after_a_wake_by_another_thread() {
    let mut polls = 0;
    let polled = block_on(poll_fn(|cx| {
        polls += 1;
        if polls == 10 {
            return Poll::Ready(polls);
        }
        let waker = cx.waker().clone();
        drop(thread::spawn(move || waker.wake()));
        Poll::Pending
    }));
    assert_eq!(polled, 10);
}

#[test]
fn a_wake_survives_a_future_that_parks_for_itself() {
    let mut polls = 0;
    block_on(poll_fn(|cx| {
        polls += 1;
        if polls == 2 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        thread::park();
        Poll::Pending
    }));
}

#[test]
fn block_on_inside_a_poll_panics() {
    let result = catch_unwind(AssertUnwindSafe(|| {
        raddle_leaf::coop::budget(|| block_on(async {}));
    }));
    let panic = result.expect_err("a budget is in force");
    let message = panic.downcast_ref::<&str>().expect("a constant message");
    assert!(message.contains("must not block"), "{message}");
    raddle_leaf::coop::budget(|| raddle_leaf::coop::unlimited(|| block_on(async {})));
}
