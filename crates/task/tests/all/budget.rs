//! Joining tasks uses the budget of a poll.

use std::task::Poll;

use crate::common::{Executor, poll};

#[test]
fn a_join_that_is_ready_takes_from_the_budget() {
    let executor = Executor::new();
    let mut handles: Vec<_> = (0..1_000).map(|_| executor.spawn(async {})).collect();
    executor.run();
    let joined = raddle_leaf::coop::budget(|| {
        let is_pending = |handle| poll(handle).is_pending();
        handles.iter_mut().position(is_pending)
    });
    let joined = joined.expect("the budget has no end");
    assert!(joined > 0);
}

#[test]
fn a_join_that_waits_takes_nothing_from_the_budget() {
    let executor = Executor::new();
    let mut waiting = executor.spawn(std::future::pending::<()>());
    let mut ready = executor.spawn(async {});
    executor.run();
    raddle_leaf::coop::budget(|| {
        for _ in 0..1_000 {
            assert!(poll(&mut waiting).is_pending());
        }
        assert!(matches!(poll(&mut ready), Poll::Ready(Ok(()))));
    });
    waiting.abort();
    executor.run();
}
