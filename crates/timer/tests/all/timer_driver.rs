//! The driver that waits for timers and for an event source at once.

use std::cell::RefCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use raddle_timer::driver::{EventSource, NoEvents, TimerDriver, UnparkFn};
use raddle_timer::{Handle, sleep};

use crate::support::ms;

/// An event source that returns at once, and records the waits that the driver asks for.
#[derive(Default)]
pub(crate) struct FakeSource {
    pub(crate) counts_suspended_time: bool,
    waits: Vec<(Option<Duration>, usize)>,
    /// Called in the next wait.
    during: Option<Box<dyn FnOnce()>>,
    /// The number of woken tasks that the next wait returns.
    ready: usize,
    unparks: Arc<AtomicUsize>,
}

impl EventSource for FakeSource {
    fn wait(&mut self, timeout: Option<Duration>, limit: usize) -> usize {
        self.waits.push((timeout, limit));
        if let Some(call) = self.during.take() {
            call();
        }
        std::mem::take(&mut self.ready)
    }

    fn unparker(&self) -> UnparkFn {
        let unparks = Arc::clone(&self.unparks);
        Arc::new(move || {
            unparks.fetch_add(1, SeqCst);
        })
    }

    fn counts_suspended_time(&self) -> bool {
        self.counts_suspended_time
    }
}

pub(crate) fn handle<S: EventSource>(driver: &TimerDriver<S>) -> Handle {
    driver.handles().next().unwrap()
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The waits since the last call.
pub(crate) fn waits(driver: &mut TimerDriver<FakeSource>) -> Vec<(Option<Duration>, usize)> {
    let mut waits = Vec::new();
    driver.shutdown(|source| waits = std::mem::take(&mut source.waits));
    waits
}

#[test]
fn without_timers_the_event_source_waits_for_the_timeout() {
    let mut driver = TimerDriver::new(FakeSource::default(), 0, true);
    assert_eq!(driver.handles().count(), 0);
    driver.park(None, 7);
    driver.park(Some(ms(3)), 8);
    driver.park(Some(Duration::ZERO), 9);
    let expected = [(None, 7), (Some(ms(3)), 8), (Some(Duration::ZERO), 9)];
    assert_eq!(waits(&mut driver), expected);
}

#[test]
fn a_wait_ends_with_the_next_timer_in_whole_milliseconds() {
    for is_pausable in [false, true] {
        wait_ends_with_the_next_timer(TimerDriver::new(FakeSource::default(), 2, is_pausable));
    }
}

fn wait_ends_with_the_next_timer(mut driver: TimerDriver<FakeSource>) {
    assert_eq!(driver.handles().count(), 2);
    let timers = handle(&driver);
    let _entered = timers.enter();
    driver.park(None, 1);
    let mut late = pin!(sleep(Duration::from_secs(50)));
    assert!(poll(late.as_mut()).is_pending());
    driver.park(None, 1);
    driver.park(Some(ms(5)), 1);
    driver.park(Some(Duration::ZERO), 1);
    let waits = waits(&mut driver);
    assert_eq!(waits[0].0, None);
    let until_timer = waits[1].0.unwrap();
    assert!(
        ms(40_000) < until_timer && until_timer <= ms(50_001),
        "{until_timer:?}"
    );
    assert_eq!(until_timer.subsec_nanos() % 1_000_000, 0);
    assert_eq!(
        (waits[2].0, waits[3].0),
        (Some(ms(5)), Some(Duration::ZERO))
    );
}

#[test]
fn a_park_moves_a_paused_clock_to_the_next_timer() {
    let mut driver = TimerDriver::new(FakeSource::default(), 1, true);
    let timers = handle(&driver);
    let _entered = timers.enter();
    timers.pause();
    let start = timers.now();
    let mut sleep = pin!(sleep(ms(70_000)));
    assert!(poll(sleep.as_mut()).is_pending());
    driver.unparker()();
    // Because of the pending unpark, the driver only checks for ready events.
    driver.park(None, 1);
    assert_eq!(timers.now(), start);
    driver.park(Some(Duration::ZERO), 1);
    assert_eq!(timers.now(), start);
    driver.park(None, 4);
    assert_eq!(timers.now() - start, ms(70_000));
    assert!(poll(sleep.as_mut()).is_ready());
    let zero = Some(Duration::ZERO);
    assert_eq!(waits(&mut driver), [(zero, 1), (zero, 1), (zero, 4)]);
}

#[test]
fn a_ready_event_keeps_a_paused_clock_from_moving() {
    let source = FakeSource {
        ready: 1,
        ..FakeSource::default()
    };
    let mut driver = TimerDriver::new(source, 1, true);
    let timers = handle(&driver);
    let _entered = timers.enter();
    timers.pause();
    let start = timers.now();
    let mut sleep = pin!(sleep(ms(1)));
    assert!(poll(sleep.as_mut()).is_pending());
    driver.park(None, 1);
    assert_eq!(timers.now(), start);
    // The second of these at the latest, if the timer has unparked the driver.
    driver.park(None, 1);
    driver.park(None, 1);
    assert_eq!(timers.now() - start, ms(1));
}

#[test]
fn a_held_clock_does_not_move_and_the_event_source_waits() {
    let mut driver = TimerDriver::new(FakeSource::default(), 1, true);
    let timers = handle(&driver);
    let _entered = timers.enter();
    timers.pause();
    let start = timers.now();
    let mut sleep = pin!(sleep(ms(1)));
    assert!(poll(sleep.as_mut()).is_pending());
    let hold = timers.hold_auto_advance();
    driver.park(None, 1);
    // The call that resumes or advances the clock unparks the driver.
    driver.park(Some(ms(9)), 1);
    assert_eq!(timers.now(), start);
    drop(hold);
    assert_eq!(waits(&mut driver), [(None, 1), (Some(ms(9)), 1)]);
}

#[test]
fn a_timer_that_is_due_by_a_held_clock_fires_without_a_wait() {
    let mut driver = TimerDriver::new(FakeSource::default(), 1, true);
    let timers = handle(&driver);
    let _entered = timers.enter();
    timers.pause();
    let mut sleep = pin!(sleep(ms(1)));
    assert!(poll(sleep.as_mut()).is_pending());
    let hold = timers.hold_auto_advance();
    timers.advance(ms(1));
    driver.park(None, 1);
    drop(hold);
    assert!(poll(sleep.as_mut()).is_ready());
    assert_eq!(waits(&mut driver), [(Some(Duration::ZERO), 1)]);
}

#[test]
fn a_paused_clock_without_a_timer_stays_and_the_event_source_waits() {
    let mut driver = TimerDriver::new(FakeSource::default(), 1, true);
    let timers = handle(&driver);
    timers.pause();
    let start = timers.now();
    driver.park(None, 1);
    assert_eq!(timers.now(), start);
    let expected = [(Some(Duration::ZERO), 1), (None, 1)];
    assert_eq!(waits(&mut driver), expected);
}

#[test]
fn an_earlier_timer_that_is_set_during_a_park_with_a_zero_timeout_does_not_unpark() {
    for (timeout, unparks) in [(Some(Duration::ZERO), 0), (None, 1)] {
        let mut source = FakeSource::default();
        let unparked = Arc::clone(&source.unparks);
        let early = Rc::new(RefCell::new(None));
        let sets = Rc::clone(&early);
        source.during = Some(Box::new(move || {
            let mut early = Box::pin(sleep(ms(10_000)));
            assert!(poll(early.as_mut()).is_pending());
            sets.replace(Some(early));
        }));
        let mut driver = TimerDriver::new(source, 1, false);
        let timers = handle(&driver);
        let _entered = timers.enter();
        let mut late = pin!(sleep(ms(20_000)));
        assert!(poll(late.as_mut()).is_pending());
        driver.park(timeout, 1);
        assert_eq!(unparked.load(SeqCst), unparks);
        assert!(early.take().is_some());
    }
}

#[test]
fn the_unparker_unparks_the_event_source() {
    for is_pausable in [false, true] {
        let driver = TimerDriver::new(FakeSource::default(), 1, is_pausable);
        driver.unparker()();
        assert_eq!(driver.event_source().unparks.load(SeqCst), 1);
    }
}

#[test]
fn a_shutdown_ends_the_event_source_and_then_the_timers() {
    let mut driver = TimerDriver::new(FakeSource::default(), 1, false);
    let timers = handle(&driver);
    let _entered = timers.enter();
    let mut sleep = Box::pin(sleep(ms(1)));
    assert!(poll(sleep.as_mut()).is_pending());
    driver.shutdown(|_| assert!(poll(sleep.as_mut()).is_pending()));
    let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(sleep.as_mut())));
    assert!(polled.is_err(), "the timers have shut down");
}

#[test]
fn a_source_without_events_waits_for_an_unpark_or_its_timeout() {
    let mut source = NoEvents::default();
    let unpark = source.unparker();
    // An unpark before the wait ends it, once.
    unpark();
    assert_eq!(source.wait(None, 1), 0);
    let mut lasts = || {
        let start = Instant::now();
        source.wait(Some(ms(20)), 1);
        start.elapsed() >= ms(20)
    };
    // A wait may end without a reason.
    assert!(lasts() || lasts() || lasts());
    let other = thread::spawn(move || {
        thread::sleep(ms(20));
        unpark();
    });
    source.wait(None, 1);
    other.join().unwrap();
}

#[test]
fn a_driver_without_events_fires_timers() {
    let mut driver = TimerDriver::new(NoEvents::default(), 1, false);
    let timers = handle(&driver);
    let _entered = timers.enter();
    let start = Instant::now();
    let mut sleep = pin!(sleep(ms(20)));
    while poll(sleep.as_mut()).is_pending() {
        driver.park(None, 1);
    }
    assert!(start.elapsed() >= ms(20));
}
