//! Time-outs.

use std::future::{pending, poll_fn, ready};
use std::io;
use std::pin::pin;
use std::task::{Poll, Waker};
use std::time::Duration;

use raddle_testing::{Wakes, poll_with};
use raddle_timer::{Instant, timeout, timeout_at};

use crate::support::{TestTimers, ms};

#[test]
fn a_ready_future_wins_and_touches_no_timer() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    for duration in [Duration::ZERO, ms(1), Duration::MAX] {
        let mut timeout = pin!(timeout(duration, ready(7)));
        assert_eq!(
            poll_with(timeout.as_mut(), Waker::noop()),
            Poll::Ready(Ok(7))
        );
        assert_eq!(driver.timers.next_deadline(), None);
    }
}

#[test]
fn a_future_that_is_late_elapses() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let mut timeout = pin!(timeout_at(Instant::now() + ms(5), pending::<()>()));
    assert!(poll_with(timeout.as_mut(), &waker).is_pending());
    driver.advance(ms(5));
    assert_eq!(count.get(), 1);
    let Poll::Ready(Err(elapsed)) = poll_with(timeout, &waker) else {
        panic!("the deadline has come");
    };
    assert_eq!(elapsed.to_string(), "deadline has elapsed");
    assert_eq!(io::Error::from(elapsed).kind(), io::ErrorKind::TimedOut);
}

#[test]
fn a_timeout_of_zero_polls_the_future_once() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let mut timeout = pin!(timeout(Duration::ZERO, pending::<()>()));
    assert!(matches!(
        poll_with(timeout.as_mut(), Waker::noop()),
        Poll::Ready(Err(_))
    ));
}

#[test]
fn the_longest_duration_never_elapses() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut timeout = pin!(timeout(Duration::MAX, pending::<()>()));
    assert!(poll_with(timeout.as_mut(), Waker::noop()).is_pending());
    driver.advance(Duration::from_secs(1_000_000));
    assert!(poll_with(timeout.as_mut(), Waker::noop()).is_pending());
}

#[test]
fn a_timeout_elapses_though_the_future_uses_up_the_budget() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let greedy = poll_fn(|cx| {
        loop {
            match raddle_leaf::coop::poll_proceed(cx) {
                Poll::Ready(coop) => coop.made_progress(),
                Poll::Pending => return Poll::<()>::Pending,
            }
        }
    });
    let mut timeout = pin!(timeout(ms(1), greedy));
    let mut turn = || raddle_leaf::coop::budget(|| poll_with(timeout.as_mut(), Waker::noop()));
    assert!(turn().is_pending());
    assert_eq!(driver.advance(ms(1)), 1);
    assert!(matches!(turn(), Poll::Ready(Err(_))));
}

#[test]
fn a_ready_timeout_uses_up_the_budget() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let elapsed = raddle_leaf::coop::budget(|| {
        (0..1_000)
            .take_while(|_| {
                let timeout = pin!(timeout(Duration::ZERO, pending::<()>()));
                poll_with(timeout, Waker::noop()).is_ready()
            })
            .count()
    });
    assert!((1..1_000).contains(&elapsed), "{elapsed} in one budget");
}

#[test]
fn get_mut_and_into_inner_return_the_future() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let mut timeout = timeout(ms(1), ready(1));
    assert!(format!("{:?}", timeout.get_ref()).contains('1'));
    *timeout.get_mut() = ready(2);
    assert_eq!(timeout.into_inner().into_inner(), 2);
}
