//! Wakers that use the timers while they are woken, cloned or dropped.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

use raddle_primitives::sync::Mutex;
use raddle_testing::{Wakes, poll_with};
use raddle_timer::{Handle, Instant, Sleep, sleep};

use crate::support::{TestTimers, ms};

type Sleeps = Arc<Mutex<Vec<Pin<Box<Sleep>>>>>;

/// Runs a closure at each wake.
struct OnWake<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for OnWake<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

fn on_wake(f: impl Fn() + Send + Sync + 'static) -> Waker {
    Waker::from(Arc::new(OnWake(f)))
}

/// Makes 100 sleeps of one tick, more than one batch, each with its waker.
fn sleeps_of_one_tick(sleeps: &Sleeps, waker: &Waker) {
    let mut sleeps = sleeps.lock();
    for _ in 0..100 {
        let mut sleep = Box::pin(sleep(ms(5)));
        assert!(poll_with(sleep.as_mut(), waker).is_pending());
        sleeps.push(sleep);
    }
}

#[test]
fn a_waker_may_drop_timers_of_the_same_tick() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let sleeps = Sleeps::default();
    let (woken, counter) = Wakes::new();
    let waker = on_wake({
        let sleeps = Arc::clone(&sleeps);
        move || {
            counter.wake_by_ref();
            sleeps.lock().pop();
        }
    });
    sleeps_of_one_tick(&sleeps, &waker);
    let fired = driver.advance(ms(5));
    assert_eq!(fired, woken.get());
    // A whole batch fires before the first drop; later ones find fewer.
    assert!((33..100).contains(&fired), "{fired} fired");
    assert_eq!(driver.timers.next_deadline(), None);
}

#[test]
fn a_waker_may_set_timers() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let sleeps = Sleeps::default();
    let added = Sleeps::default();
    let waker = on_wake({
        let added = Arc::clone(&added);
        move || {
            for millis in [0, 1, 100] {
                let mut sleep = Box::pin(sleep(ms(millis)));
                let _ = poll_with(sleep.as_mut(), Waker::noop());
                added.lock().push(sleep);
            }
        }
    });
    sleeps_of_one_tick(&sleeps, &waker);
    assert_eq!(driver.advance(ms(5)), 100);
    assert_eq!(driver.unparks(), 0);
    assert_eq!(driver.advance(ms(1)), 100);
    assert_eq!(driver.advance(ms(99)), 100);
}

#[test]
fn a_waker_may_reset_timers_of_the_same_tick() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let sleeps = Sleeps::default();
    let waker = on_wake({
        let sleeps = Arc::clone(&sleeps);
        move || {
            for (index, sleep) in sleeps.lock().iter_mut().enumerate() {
                let distance = if index % 2 == 0 { ms(0) } else { ms(7) };
                sleep.as_mut().reset(Instant::now() + distance);
            }
        }
    });
    sleeps_of_one_tick(&sleeps, &waker);
    driver.advance(ms(5));
    driver.advance(ms(7));
    for sleep in &mut *sleeps.lock() {
        let _ = poll_with(sleep.as_mut(), Waker::noop());
    }
    driver.advance(ms(7));
    let mut sleeps = sleeps.lock();
    assert!(
        sleeps
            .iter_mut()
            .all(|sleep| poll_with(sleep.as_mut(), Waker::noop()).is_ready())
    );
}

#[test]
fn a_waker_may_drop_timers_during_the_shutdown() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let sleeps = Sleeps::default();
    let (woken, counter) = Wakes::new();
    let waker = on_wake({
        let sleeps = Arc::clone(&sleeps);
        move || {
            counter.wake_by_ref();
            sleeps.lock().pop();
        }
    });
    sleeps_of_one_tick(&sleeps, &waker);
    driver.timers.shutdown();
    assert!((33..100).contains(&woken.get()));
    assert_eq!(driver.timers.next_deadline(), None);
}

#[test]
fn a_waker_that_panics_does_not_prevent_other_wakes() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (woken, waker) = Wakes::new();
    let panics = on_wake(|| panic!("a waker's own panic"));
    let mut sleeps: Vec<_> = (0..100).map(|_| Box::pin(sleep(ms(5)))).collect();
    for (index, sleep) in sleeps.iter_mut().enumerate() {
        let waker = if index == 3 || index == 40 {
            &panics
        } else {
            &waker
        };
        assert!(poll_with(sleep.as_mut(), waker).is_pending());
    }
    handle.advance(ms(5));
    assert_eq!(driver.timers.fire_due(), 100);
    assert_eq!(woken.get(), 98);
}

/// A waker whose every operation sets, resets and drops a timer, which deadlocks if any of them
/// runs under the timers' lock.
fn reentrant_waker() -> Waker {
    fn use_timers() {
        let mut sleep = Box::pin(sleep(ms(1)));
        let _ = poll_with(sleep.as_mut(), Waker::noop());
        sleep.as_mut().reset(Instant::now());
    }
    fn clone(data: *const ()) -> RawWaker {
        use_timers();
        RawWaker::new(data, &VTABLE)
    }
    fn act(_: *const ()) {
        use_timers();
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, act, act, act);
    // SAFETY: the functions ignore the pointer and may be called anywhere.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) }
}

/// tokio 5578.
#[test]
fn no_operation_of_a_waker_runs_under_the_lock() {
    let mut driver = TestTimers::paused();
    let handle: Handle = driver.handle.clone();
    let _entered = handle.enter();
    let waker = reentrant_waker();
    let mut fired = Box::pin(sleep(ms(5)));
    let mut cancelled = Box::pin(sleep(ms(5)));
    let mut changed = Box::pin(sleep(ms(5)));
    let mut sooner = Box::pin(sleep(ms(5)));
    for sleep in [&mut fired, &mut cancelled, &mut changed, &mut sooner] {
        assert!(poll_with(sleep.as_mut(), &waker).is_pending());
    }
    drop(cancelled);
    assert!(poll_with(changed.as_mut(), Waker::noop()).is_pending());
    assert!(poll_with(changed.as_mut(), &waker).is_pending());
    sooner.as_mut().reset(Instant::now());
    driver.advance(ms(5));
    assert!(fired.is_elapsed() && changed.is_elapsed() && sooner.is_elapsed());
}
