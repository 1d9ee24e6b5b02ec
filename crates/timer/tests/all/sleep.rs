//! Sleeps: their deadlines, their resets, and dropping them at any time.

use std::future::pending;
use std::pin::pin;
use std::task::{Poll, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_testing::{Wakes, poll_with};
use raddle_timer::{Instant, Sleep, sleep, sleep_until, timeout};

use crate::support::{TestTimers, ms};

#[test]
fn a_sleep_fires_at_its_deadline_and_not_before() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    for millis in [1, 2, 63, 64, 65, 1_000, 4_096, 100_000, 300_000_000] {
        let (count, waker) = Wakes::new();
        let mut sleep = pin!(sleep(ms(millis)));
        assert!(poll_with(sleep.as_mut(), &waker).is_pending());
        driver.advance(ms(millis - 1));
        assert_eq!(count.get(), 0);
        assert!(!sleep.is_elapsed());
        assert_eq!(driver.advance(ms(1)), 1);
        assert_eq!(count.get(), 1);
        assert!(sleep.is_elapsed());
        assert!(poll_with(sleep.as_mut(), &waker).is_ready());
        assert!(poll_with(sleep.as_mut(), &waker).is_ready());
    }
}

#[test]
fn a_sleep_is_not_early_by_a_fraction_of_a_millisecond() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut sleep = pin!(sleep(Duration::from_micros(1_500)));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    assert_eq!(driver.advance(Duration::from_micros(1_499)), 0);
    assert_eq!(driver.advance(Duration::from_micros(501)), 1);
}

#[test]
fn a_deadline_a_nanosecond_after_a_tick_fires_at_the_next_tick() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    for _ in 0..1_000 {
        let mut sleep = pin!(sleep(ms(1) + Duration::from_nanos(1)));
        assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
        assert_eq!(driver.advance(ms(1)), 0);
        assert_eq!(driver.advance(ms(1)), 1);
    }
}

/// tokio 3069.
#[test]
fn a_sleep_of_zero_is_ready_at_once_while_the_clock_stands_at_a_tick() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    assert!(poll_with(pin!(sleep(Duration::ZERO)), Waker::noop()).is_ready());
    driver.advance(ms(7));
    assert!(poll_with(pin!(sleep(Duration::ZERO)), Waker::noop()).is_ready());
    assert_eq!(driver.timers.next_deadline(), None);
}

/// Issue 31: a program that yields by such a sleep did not yield.
#[test]
fn a_sleep_or_timeout_of_zero_between_two_ticks_waits_for_the_next_one() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    driver.advance(Duration::from_micros(1_300));
    let mut zero = pin!(sleep(Duration::ZERO));
    let mut until = pin!(sleep_until(Instant::now()));
    let mut timeout = pin!(timeout(Duration::ZERO, pending::<()>()));
    let waker = Waker::noop();
    assert!(!zero.is_elapsed());
    assert!(poll_with(zero.as_mut(), waker).is_pending());
    assert!(poll_with(until.as_mut(), waker).is_pending());
    assert!(poll_with(timeout.as_mut(), waker).is_pending());
    assert_eq!(driver.advance(Duration::from_micros(700)), 3);
    assert!(poll_with(zero, waker).is_ready());
    assert!(poll_with(until, waker).is_ready());
    assert!(poll_with(timeout, waker).is_ready());
}

#[test]
fn a_deadline_in_the_past_fires_at_the_next_turn() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    handle.advance(ms(100));
    let past = Instant::now() - ms(50);
    let mut first = pin!(sleep_until(past));
    let _ = poll_with(first.as_mut(), Waker::noop());
    driver.timers.fire_due();
    assert!(poll_with(first, Waker::noop()).is_ready());
    let mut second = pin!(sleep_until(past));
    assert!(poll_with(second.as_mut(), Waker::noop()).is_ready());
    let before_the_start = Instant::now() - ms(1_000);
    let (count, waker) = Wakes::new();
    let mut third = pin!(sleep_until(before_the_start));
    assert!(poll_with(third.as_mut(), &waker).is_ready());
    assert!(third.is_elapsed());
    assert_eq!(std::sync::Arc::strong_count(&count), 2, "keeps no waker");
}

#[test]
fn the_longest_duration_waits_for_thirty_years() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let mut sleep = pin!(sleep(Duration::MAX));
    assert!(poll_with(sleep.as_mut(), &waker).is_pending());
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    driver.advance(29 * year);
    assert_eq!(count.get(), 0);
    driver.advance(year);
    assert_eq!(count.get(), 1);
}

#[test]
fn a_reset_to_later_keeps_the_waker() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let mut sleep = pin!(sleep(ms(10)));
    assert!(poll_with(sleep.as_mut(), &waker).is_pending());
    let later = Instant::now() + ms(500);
    sleep.as_mut().reset(later);
    assert_eq!(sleep.deadline(), later);
    assert_eq!(driver.advance(ms(499)), 0);
    assert_eq!(driver.advance(ms(1)), 1);
    assert_eq!(count.get(), 1);
    assert!(poll_with(sleep, &waker).is_ready());
}

#[test]
fn a_reset_to_sooner_keeps_the_waker() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let mut sleep = pin!(sleep(ms(10_000)));
    assert!(poll_with(sleep.as_mut(), &waker).is_pending());
    sleep.as_mut().reset(Instant::now() + ms(5));
    assert_eq!(driver.advance(ms(5)), 1);
    assert_eq!(count.get(), 1);
    assert_eq!(driver.timers.next_deadline(), None);
}

#[test]
fn a_reset_to_the_past_wakes_the_task() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    driver.advance(ms(50));
    let (count, waker) = Wakes::new();
    let mut sleep = pin!(sleep(ms(10)));
    assert!(poll_with(sleep.as_mut(), &waker).is_pending());
    sleep.as_mut().reset(Instant::now() - ms(20));
    assert_eq!(count.get(), 1);
    assert!(poll_with(sleep, &waker).is_ready());
}

#[test]
fn a_reset_after_firing_starts_anew() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let mut sleep = pin!(sleep(ms(1)));
    for round in 1..=3 {
        assert!(poll_with(sleep.as_mut(), &waker).is_pending());
        driver.advance(ms(1));
        assert_eq!(count.get(), round);
        assert!(poll_with(sleep.as_mut(), &waker).is_ready());
        sleep.as_mut().reset(Instant::now() + ms(1));
        assert!(!sleep.is_elapsed());
    }
}

#[test]
fn the_last_waker_is_woken() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (first, first_waker) = Wakes::new();
    let (last, last_waker) = Wakes::new();
    let mut sleep = pin!(sleep(ms(10)));
    assert!(poll_with(sleep.as_mut(), &first_waker).is_pending());
    assert!(poll_with(sleep.as_mut(), &last_waker).is_pending());
    driver.advance(ms(10));
    assert_eq!((first.get(), last.get()), (0, 1));
}

/// A clone may cost an allocation, or a reference count that other threads use too.
#[test]
fn polling_again_with_the_same_waker_clones_no_waker() {
    static CLONES: AtomicUsize = AtomicUsize::new(0);
    fn clone(data: *const ()) -> RawWaker {
        CLONES.fetch_add(1, Ordering::Relaxed);
        RawWaker::new(data, &VTABLE)
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, |_| {}, |_| {}, |_| {});
    // SAFETY: the functions ignore the pointer and may be called anywhere.
    let waker = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) };
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let mut sleep = pin!(sleep(ms(10)));
    for _ in 0..10 {
        assert!(poll_with(sleep.as_mut(), &waker).is_pending());
        assert_eq!(CLONES.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn dropping_a_sleep_drops_its_waker() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let references = || std::sync::Arc::strong_count(&count);
    let before = references();

    let mut cancelled = Box::pin(sleep(ms(10)));
    assert!(poll_with(cancelled.as_mut(), &waker).is_pending());
    assert_eq!(references(), before + 1);
    drop(cancelled);
    assert_eq!(references(), before);
    assert_eq!(driver.timers.next_deadline(), None);

    let mut fired = Box::pin(sleep(ms(10)));
    assert!(poll_with(fired.as_mut(), &waker).is_pending());
    driver.advance(ms(10));
    assert_eq!(references(), before);
    drop(fired);
    assert_eq!(references(), before);
}

/// tokio 3229.
#[test]
fn a_sleep_may_be_dropped_in_the_tick_in_which_it_fires() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    for _ in 0..100 {
        let mut sleeps: Vec<_> = (0..3).map(|millis| Box::pin(sleep(ms(millis)))).collect();
        for sleep in &mut sleeps {
            let _ = poll_with(sleep.as_mut(), Waker::noop());
        }
        handle.advance(ms(1));
        sleeps.truncate(2);
        driver.timers.fire_due();
        drop(sleeps);
        driver.timers.fire_due();
        assert_eq!(driver.timers.next_deadline(), None);
    }
}

#[test]
fn ten_thousand_sleeps_fire_in_order() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let mut sleeps: Vec<_> = (0..10_000_u64)
        .map(|i| Box::pin(sleep(ms(1 + i * 7_919 % 10_000))))
        .collect();
    for sleep in &mut sleeps {
        assert!(poll_with(sleep.as_mut(), &waker).is_pending());
    }
    for fired in 1..=10_000 {
        assert_eq!(driver.advance(ms(1)), 1);
        assert_eq!(count.get(), fired);
    }
    assert!(sleeps.iter().all(|sleep| sleep.is_elapsed()));
}

#[test]
fn ten_thousand_sleeps_of_one_tick_fire_at_once() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut sleeps: Vec<_> = (0..10_000).map(|_| Box::pin(sleep(ms(100)))).collect();
    for sleep in &mut sleeps {
        assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    }
    assert_eq!(driver.advance(ms(100)), 10_000);
}

#[test]
fn a_ready_sleep_uses_up_the_budget() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let (count, waker) = Wakes::new();
    let ready = raddle_leaf::coop::budget(|| {
        (0..1_000)
            .take_while(|_| poll_with(pin!(sleep(Duration::ZERO)), &waker).is_ready())
            .count()
    });
    assert!((1..1_000).contains(&ready), "{ready} polls in one budget");
    assert_eq!(count.get(), 1);
}

#[test]
fn a_pending_poll_costs_no_budget() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let mut sleep = pin!(sleep(ms(1)));
    raddle_leaf::coop::budget(|| {
        for _ in 0..1_000 {
            assert_eq!(poll_with(sleep.as_mut(), Waker::noop()), Poll::Pending);
        }
        assert!(raddle_leaf::coop::has_budget_remaining());
    });
}

#[test]
fn a_sleep_has_at_most_72_bytes() {
    // The caller has a size only where waits are recorded, and the span with the feature `tracing`.
    let others =
        size_of::<raddle_leaf::wait::Caller>() + size_of::<raddle_leaf::wait::ResourceSpan>();
    let size = size_of::<Sleep>() - others;
    assert!(size <= 72, "{size} bytes");
}

#[test]
fn the_present_is_ready_at_once_when_the_clock_was_just_paused() {
    let driver = TestTimers::running();
    let _entered = driver.handle.enter();
    let start = Instant::now();
    while start.elapsed() < ms(2) {
        raddle_primitives::thread::yield_now();
    }
    driver.handle.pause();
    let mut sleep = pin!(sleep_until(Instant::now()));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_ready());
}

/// The slot of a higher level that holds the later timer begins at or before the current time.
#[test]
fn the_present_is_ready_at_once_beside_a_later_timer_of_a_higher_level() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    for beside in 1..130 {
        let mut later = pin!(sleep(ms(beside + 1)));
        assert!(poll_with(later.as_mut(), Waker::noop()).is_pending());
        driver.advance(ms(beside));
        let mut present = pin!(sleep_until(Instant::now()));
        assert!(
            poll_with(present.as_mut(), Waker::noop()).is_ready(),
            "{beside} ms after the start"
        );
    }
}
