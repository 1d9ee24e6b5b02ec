//! Handles: which one is current, which clock applies, what may move between threads.

use std::future::Ready;
use std::panic::catch_unwind;
use std::pin::pin;
use std::task::Waker;
use std::time::Duration;

use raddle_primitives::current::{self, HandleFrame};
use raddle_testing::poll_with;
use raddle_timer::{
    CurrentHandle, Handle, Instant, Interval, Sleep, Timeout, Timers, interval, interval_at, sleep,
    sleep_until, timeout, timeout_at,
};

use crate::support::{TestTimers, ms};

#[test]
fn creating_a_timer_without_timers_panics_and_names_the_remedy() {
    let makes: [fn(); 7] = [
        || drop(sleep(ms(1))),
        || drop(sleep_until(Instant::now())),
        || drop(timeout(ms(1), std::future::pending::<()>())),
        || drop(timeout_at(Instant::now(), std::future::pending::<()>())),
        || drop(interval(ms(1))),
        || drop(interval_at(Instant::now(), ms(1))),
        || drop(Handle::current()),
    ];
    let all_say = |expected: &str| {
        for make in makes {
            let panic = catch_unwind(make).expect_err("there are no timers");
            let message = panic.downcast_ref::<&str>().expect("a plain message");
            assert_eq!(*message, expected);
        }
        assert!(Handle::try_current().is_none());
    };
    let outside = "no timers on this thread, which is outside a runtime; create the timer inside \
        `rt.block_on(async { sleep(duration).await })` or after `let _guard = rt.enter()`; \
        without a runtime, enter a raddle_timer::Handle";
    all_say(outside);
    {
        let timers = TestTimers::paused();
        let _outer = timers.handle.enter();
        let _without = current::enter(HandleFrame(None::<CurrentHandle>));
        all_say("no timers in this runtime; call Builder::enable_time or Builder::enable_all");
    }
    all_say(outside);
}

#[test]
fn guards_nest() {
    let (first, second) = (TestTimers::paused(), TestTimers::paused());
    second.handle.advance(Duration::from_secs(1_000));
    let outer = first.handle.enter();
    assert_eq!(Instant::now(), first.handle.now());
    {
        let _inner = second.handle.enter();
        assert_eq!(Instant::now(), second.handle.now());
        assert_eq!(Handle::current().now(), second.handle.now());
    }
    assert_eq!(Instant::now(), first.handle.now());
    {
        let _none = current::enter(HandleFrame(None::<CurrentHandle>));
        assert!(Handle::try_current().is_none());
        let _inner = second.handle.enter();
        assert_eq!(Instant::now(), second.handle.now());
    }
    assert_eq!(Instant::now(), first.handle.now());
    drop(outer);
    assert!(Handle::try_current().is_none());
}

#[test]
fn a_paused_clock_moves_only_by_advance() {
    let driver = TestTimers::running();
    assert!(!driver.handle.is_paused());
    let _entered = driver.handle.enter();
    let before = Instant::now();
    driver.handle.pause();
    assert!(driver.handle.is_paused());
    let stopped = Instant::now();
    assert!(stopped >= before);
    std::thread::sleep(ms(2));
    assert_eq!(Instant::now(), stopped);
    driver.handle.advance(Duration::from_secs(3_600));
    assert_eq!(Instant::now(), stopped + Duration::from_secs(3_600));
    assert_eq!(stopped.elapsed(), Duration::from_secs(3_600));
    driver.handle.resume();
    assert!(!driver.handle.is_paused());
    assert!(Instant::now() >= stopped + Duration::from_secs(3_600));
    driver.handle.pause();
    assert!(Instant::now() >= stopped + Duration::from_secs(3_600));
}

#[test]
#[should_panic(expected = "the clock is not paused")]
fn a_running_clock_cannot_be_advanced() {
    TestTimers::running().handle.advance(ms(1));
}

#[test]
#[should_panic(expected = "the clock is paused already")]
fn a_paused_clock_cannot_be_paused() {
    TestTimers::paused().handle.pause();
}

#[test]
#[should_panic(expected = "the clock is not paused")]
fn a_running_clock_cannot_be_resumed() {
    TestTimers::running().handle.resume();
}

#[test]
#[should_panic(expected = "cannot be advanced that far")]
fn a_clock_has_an_end() {
    TestTimers::paused().handle.advance(Duration::MAX);
}

#[test]
fn arithmetic_of_instants_saturates_or_panics_on_overflow() {
    let now = Instant::now();
    let later = now + ms(5);
    assert_eq!(now - later, Duration::ZERO);
    assert_eq!(later - now, ms(5));
    assert_eq!(now.duration_since(later), Duration::ZERO);
    assert_eq!(now.checked_duration_since(later), None);
    assert_eq!(later.duration_since(now), ms(5));
    assert_eq!(later.checked_duration_since(now), Some(ms(5)));
    assert_eq!(later.checked_sub(ms(5)), Some(now));
    assert_eq!(later.saturating_duration_since(now), ms(5));
    assert_eq!(now.checked_add(Duration::MAX), None);
    assert_eq!(now.checked_sub(Duration::MAX), None);
    let mut moved = now;
    moved += ms(7);
    moved -= ms(2);
    assert_eq!(moved, later);
    assert_eq!(later - ms(5), now);
    assert_eq!(Instant::from_std(now.into_std()), now);
    assert_eq!(Instant::from(std::time::Instant::from(now)), now);
}

#[test]
fn types_are_send_and_sync_where_those_of_tokio_are() {
    fn shared<T: Send + Sync>() {}
    shared::<Sleep>();
    shared::<Timeout<Ready<()>>>();
    shared::<Interval>();
    shared::<Handle>();
    shared::<Timers>();
    fn unpin<T: Unpin>() {}
    unpin::<Interval>();
}

#[test]
fn a_sleep_moves_between_threads() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut sleep = Box::pin(sleep(ms(1)));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    let mut sleep = std::thread::spawn(move || {
        assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
        sleep
    })
    .join()
    .expect("the other thread polls");
    driver.advance(ms(1));
    assert!(poll_with(pin!(sleep.as_mut()), Waker::noop()).is_ready());
}

#[test]
fn a_paused_clock_moves_to_the_earliest_deadline_by_itself() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let start = Instant::now();
    assert_eq!(driver.timers.auto_advance(), 0);
    let (mut first, mut second) = (pin!(sleep(ms(70_000))), pin!(sleep(ms(70_001))));
    assert!(poll_with(first.as_mut(), Waker::noop()).is_pending());
    assert!(poll_with(second.as_mut(), Waker::noop()).is_pending());

    let hold = handle.hold_auto_advance();
    assert!(!driver.timers.may_auto_advance());
    assert_eq!(driver.timers.auto_advance(), 0);
    driver.unparks();
    drop(hold);
    assert_eq!(driver.unparks(), 1);

    assert_eq!(driver.timers.auto_advance(), 1);
    assert_eq!(start.elapsed(), ms(70_000));
    assert!(first.is_elapsed() && !second.is_elapsed());
    handle.resume();
    assert_eq!(driver.timers.auto_advance(), 0);
    assert!(!second.is_elapsed());
    driver.unparks();
    drop(handle.hold_auto_advance());
    assert_eq!(driver.unparks(), 0);
}

/// The owner calls it in place of parking: it has nothing else to do, and would call again.
#[test]
fn a_paused_clock_moves_on_past_a_deadline_that_was_pushed_back() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let start = Instant::now();
    let mut sleep = pin!(sleep(ms(10)));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    sleep.as_mut().reset(start + ms(70_000));
    assert_eq!(driver.timers.auto_advance(), 1);
    assert!(sleep.is_elapsed());
    assert_eq!(start.elapsed(), ms(70_000));
}

#[test]
fn fire_due_of_a_handle_returns_the_number_of_fired_timers() {
    let driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut sleeps: Vec<_> = [1, 1, 2].map(|millis| Box::pin(sleep(ms(millis)))).into();
    for sleep in &mut sleeps {
        assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    }
    assert_eq!(handle.fire_due(), 0);
    handle.advance(ms(1));
    assert_eq!(handle.fire_due(), 2);
    handle.advance(ms(1));
    assert_eq!(handle.fire_due(), 1);
    assert!(sleeps.iter().all(|sleep| sleep.is_elapsed()));
}

/// A timer that is dropped where other timers are current leaves its handle to none of them.
#[test]
fn a_timer_belongs_to_the_timers_that_are_current_where_it_is_made() {
    let (first, second) = (TestTimers::paused(), TestTimers::paused());
    let _outer = first.handle.enter();
    let of_first = sleep(ms(1));
    let _inner = second.handle.enter();
    drop(of_first);
    let mut of_second = pin!(sleep(ms(1)));
    assert!(poll_with(of_second.as_mut(), Waker::noop()).is_pending());
    assert!(second.timers.next_deadline().is_some());
    assert_eq!(first.timers.next_deadline(), None);
}
