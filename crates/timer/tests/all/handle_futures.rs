//! The futures that a handle makes, on threads that have entered no handle.

use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Poll, Waker};
use std::time::Duration;

use raddle_testing::{Wakes, poll_once, poll_with};
use raddle_timer::driver::{NoEvents, TimerDriver};
use raddle_timer::{Handle, Instant, sleep};

use crate::support::{TestTimers, ms};

#[test]
fn a_sleep_of_a_handle_fires_at_its_deadline() {
    let mut driver = TestTimers::paused();
    let start = driver.handle.now();
    // The owner is about to park.
    assert_eq!(driver.timers.next_deadline(), None);
    let (count, waker) = Wakes::new();
    let mut after = pin!(driver.handle.sleep(ms(10)));
    let mut at = pin!(driver.handle.sleep_until(start + ms(10)));
    assert_eq!(
        (after.deadline(), at.deadline()),
        (start + ms(10), start + ms(10))
    );
    assert!(poll_with(after.as_mut(), &waker).is_pending());
    assert!(poll_with(at.as_mut(), &waker).is_pending());
    assert_eq!(driver.unparks(), 1);
    assert_eq!(driver.advance(ms(9)), 0);
    assert_eq!(driver.advance(ms(1)), 2);
    assert_eq!(count.get(), 2);
    assert!(poll_with(after, &waker).is_ready() && poll_with(at, &waker).is_ready());
}

#[test]
fn an_interval_of_a_handle_ticks_at_multiples_of_its_period() {
    let mut driver = TestTimers::paused();
    let start = driver.handle.now();
    let mut now = driver.handle.interval(ms(5));
    let mut later = driver.handle.interval_at(start + ms(3), ms(4));
    assert_eq!(poll_once(now.tick()), Poll::Ready(start));
    assert_eq!(poll_once(later.tick()), Poll::Pending);
    driver.advance(ms(3));
    assert_eq!(poll_once(later.tick()), Poll::Ready(start + ms(3)));
    driver.advance(ms(2));
    assert_eq!(poll_once(now.tick()), Poll::Ready(start + ms(5)));
    driver.advance(ms(2));
    assert_eq!(poll_once(later.tick()), Poll::Ready(start + ms(7)));
    now.reset();
    driver.advance(ms(4));
    assert_eq!(poll_once(now.tick()), Poll::Pending);
    driver.advance(ms(1));
    assert_eq!(poll_once(now.tick()), Poll::Ready(start + ms(12)));
}

#[test]
fn a_timeout_of_a_handle_ends_a_future_that_is_late() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let deadline = handle.now() + ms(2);
    assert_eq!(
        poll_once(handle.timeout(ms(2), ready(7))),
        Poll::Ready(Ok(7))
    );
    assert_eq!(
        poll_once(handle.timeout_at(deadline, ready(8))),
        Poll::Ready(Ok(8))
    );
    let mut after = pin!(handle.timeout(ms(2), pending::<()>()));
    let mut at = pin!(handle.timeout_at(deadline, pending::<()>()));
    assert!(poll_with(after.as_mut(), Waker::noop()).is_pending());
    assert!(poll_with(at.as_mut(), Waker::noop()).is_pending());
    assert_eq!(driver.advance(ms(2)), 2);
    assert!(matches!(
        poll_with(after, Waker::noop()),
        Poll::Ready(Err(_))
    ));
    assert!(matches!(poll_with(at, Waker::noop()), Poll::Ready(Err(_))));
}

#[test]
fn a_future_of_a_handle_ignores_the_handle_that_is_current() {
    let (mut own, other) = (TestTimers::paused(), TestTimers::paused());
    let _entered = other.handle.enter();
    let mut of_own = pin!(own.handle.sleep(ms(1)));
    let mut of_other = pin!(sleep(ms(1)));
    assert!(poll_with(of_own.as_mut(), Waker::noop()).is_pending());
    assert!(poll_with(of_other.as_mut(), Waker::noop()).is_pending());
    assert_eq!(own.advance(ms(1)), 1);
    assert!(of_own.is_elapsed() && !of_other.is_elapsed());
}

#[test]
fn a_deadline_in_the_past_is_ready_and_one_in_centuries_is_not() {
    let mut driver = TestTimers::paused();
    driver.advance(ms(1_000));
    let handle = driver.handle.clone();
    let past = handle.now() - ms(10);
    assert!(poll_once(handle.sleep_until(past)).is_ready());
    assert!(poll_once(handle.sleep(Duration::ZERO)).is_ready());
    assert!(poll_once(handle.timeout_at(past, pending::<()>())).is_ready());
    let mut interval = handle.interval_at(past, ms(3));
    assert_eq!(poll_once(interval.tick()), Poll::Ready(past));
    let mut never = pin!(handle.sleep(Duration::MAX));
    assert!(poll_with(never.as_mut(), Waker::noop()).is_pending());
    assert_eq!(
        driver.advance(Duration::from_secs(60 * 60 * 24 * 365 * 29)),
        0
    );
    assert!(poll_with(never.as_mut(), Waker::noop()).is_pending());
    // Its deadline can be moved like that of any other.
    never.as_mut().reset(handle.now() + ms(1));
    assert_eq!(driver.advance(ms(1)), 1);
    assert!(poll_once(handle.timeout(Duration::MAX, pending::<()>())).is_pending());
    let mut slow = handle.interval(Duration::MAX);
    assert!(poll_once(slow.tick()).is_ready());
    assert!(poll_once(slow.tick()).is_pending());
}

#[test]
fn a_sleep_of_a_handle_can_be_reset_before_and_after_it_has_fired() {
    let mut driver = TestTimers::paused();
    let start = driver.handle.now();
    let mut sleep = pin!(driver.handle.sleep(ms(10)));
    sleep.as_mut().reset(start + ms(2));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    assert_eq!(driver.advance(ms(2)), 1);
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_ready());
    sleep.as_mut().reset(start + ms(5));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    assert_eq!(driver.advance(ms(3)), 1);
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_ready());
}

/// What the future of each method does after the timers have gone.
#[test]
fn a_future_of_a_handle_whose_timers_have_shut_down_panics_when_it_is_polled() {
    type Poll = fn(&Handle);
    let polls: [(&str, Poll); 6] = [
        ("sleep", |timers| {
            let _ = poll_once(timers.sleep(ms(1)));
        }),
        ("sleep_until", |timers| {
            let _ = poll_once(timers.sleep_until(timers.now() + ms(1)));
        }),
        ("timeout", |timers| {
            drop(poll_once(timers.timeout(ms(1), pending::<()>())));
        }),
        ("timeout_at", |timers| {
            let deadline = timers.now() + ms(1);
            drop(poll_once(timers.timeout_at(deadline, pending::<()>())));
        }),
        ("interval", |timers| {
            let mut interval = timers.interval(ms(1));
            assert!(poll_once(interval.tick()).is_ready());
            let _ = poll_once(interval.tick());
        }),
        ("interval_at", |timers| {
            let start = timers.now() + ms(1);
            let _ = poll_once(timers.interval_at(start, ms(1)).tick());
        }),
    ];
    let TestTimers { timers, handle, .. } = TestTimers::paused();
    let (count, waker) = Wakes::new();
    let mut waiting = Box::pin(handle.sleep(ms(1)));
    assert!(poll_with(waiting.as_mut(), &waker).is_pending());
    // Making and dropping them needs no timers.
    let unpolled = handle.sleep(ms(1));
    drop(timers);
    assert_eq!(count.get(), 1, "the waiting task is woken");
    let poll_waiting = || poll_with(waiting.as_mut(), &waker);
    catch_unwind(AssertUnwindSafe(poll_waiting)).expect_err("the timers have shut down");
    drop((waiting, unpolled));
    for (name, poll) in polls {
        let polled = catch_unwind(AssertUnwindSafe(|| poll(&handle)));
        let panic = polled.expect_err(name);
        let message = panic.downcast_ref::<String>().expect("a text");
        assert!(
            message.starts_with("the timers have shut down"),
            "{name}: {message}"
        );
    }
}

#[test]
fn a_period_of_zero_panics() {
    let driver = TestTimers::paused();
    let makes: [fn(&Handle); 2] = [
        |timers| drop(timers.interval(Duration::ZERO)),
        |timers| drop(timers.interval_at(Instant::now(), Duration::ZERO)),
    ];
    for make in makes {
        let made = catch_unwind(AssertUnwindSafe(|| make(&driver.handle)));
        let panic = made.expect_err("the period is zero");
        assert_eq!(
            panic.downcast_ref::<&str>(),
            Some(&"period must be non-zero")
        );
    }
}

/// Many threads without a context set timers that one thread serves, and drop some of them.
#[test]
fn threads_that_have_entered_nothing_share_the_timers_of_a_driver() {
    let mut driver = TimerDriver::new(NoEvents::default(), 2, false);
    let handles = Vec::from_iter(driver.handles());
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let timers = handles[number % 2].clone();
            std::thread::spawn(move || {
                for round in 0..20 {
                    let start = timers.now();
                    let _ = poll_once(timers.sleep(ms(1)));
                    let wait = ms(round % 4);
                    raddle_testing::block_on(timers.sleep(wait));
                    assert!(timers.now() >= start + wait);
                    let late = timers.timeout(ms(1), pending::<()>());
                    raddle_testing::block_on(late).expect_err("it never ends");
                }
            })
        })
        .collect();
    while threads.iter().any(|thread| !thread.is_finished()) {
        driver.park(Some(ms(5)), usize::MAX);
    }
    for thread in threads {
        thread.join().expect("no assertion of the thread fails");
    }
}
