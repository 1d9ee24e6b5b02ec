//! Models of a timer: its owner against the thread that fires.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::thread;
use raddle_timer::{Handle, Sleep, Timers, sleep};

const TICK: Duration = Duration::from_millis(1);

/// Counts its wake-ups, in the model's own terms.
struct Count(AtomicUsize);

impl Count {
    fn new() -> (StdArc<Self>, Waker) {
        let count = StdArc::new(Self(AtomicUsize::new(0)));
        (StdArc::clone(&count), Waker::from(count))
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Count {
    fn wake(self: StdArc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes timers whose clock is paused, and that no driver waits for.
fn paused() -> (Timers, Handle) {
    let timers = Timers::new(StdArc::new(|| {}));
    let handle = timers.handle();
    handle.pause();
    (timers, handle)
}

fn poll(sleep: Pin<&mut Sleep>, waker: &Waker) -> Poll<()> {
    sleep.poll(&mut Context::from_waker(waker))
}

/// Polls. Returns `None` if that panicked because the timers have shut down. Any other panic is the
/// model's own report.
fn try_poll(sleep: Pin<&mut Sleep>, waker: &Waker) -> Option<Poll<()>> {
    match catch_unwind(AssertUnwindSafe(|| poll(sleep, waker))) {
        Ok(polled) => Some(polled),
        Err(panic) => match panic.downcast_ref::<String>() {
            Some(message) if message.starts_with("the timers have shut down") => None,
            _ => resume_unwind(panic),
        },
    }
}

/// A sleep of one tick that `waker` waits for, and that is due.
fn due(handle: &Handle, waker: &Waker) -> Pin<Box<Sleep>> {
    let _entered = handle.enter();
    let mut sleep = Box::pin(sleep(TICK));
    assert!(poll(sleep.as_mut(), waker).is_pending());
    handle.advance(TICK);
    sleep
}

/// Fires the timers on another thread, and returns them.
fn fire(mut timers: Timers) -> thread::JoinHandle<(Timers, usize)> {
    thread::spawn(move || {
        let fired = timers.fire_due();
        (timers, fired)
    })
}

#[test]
fn fire_against_drop() {
    model::check(|| {
        let (timers, handle) = paused();
        let (count, waker) = Count::new();
        let sleep = due(&handle, &waker);
        let firing = fire(timers);
        drop(sleep);
        let (timers, fired) = firing.join().unwrap();
        assert_eq!(count.get(), fired);
        assert_eq!(timers.next_deadline(), None);
        assert_eq!(StdArc::strong_count(&count), 2);
    });
}

#[test]
fn fire_against_drop_of_a_neighbour() {
    model::Model::new().preemptions(3).check(|| {
        let (timers, handle) = paused();
        let (count, waker) = Count::new();
        let (first, second) = {
            let _entered = handle.enter();
            let (mut first, mut second) = (Box::pin(sleep(TICK)), Box::pin(sleep(TICK)));
            assert!(poll(first.as_mut(), &waker).is_pending());
            assert!(poll(second.as_mut(), &waker).is_pending());
            handle.advance(TICK);
            (first, second)
        };
        let firing = fire(timers);
        drop(first);
        let (_timers, fired) = firing.join().unwrap();
        assert!(second.is_elapsed());
        assert_eq!(count.get(), fired);
    });
}

#[test]
fn fire_against_reset_to_later() {
    model::check(|| {
        let (timers, handle) = paused();
        let (count, waker) = Count::new();
        let mut sleep = due(&handle, &waker);
        let firing = fire(timers);
        let later = sleep.deadline() + TICK;
        sleep.as_mut().reset(later);
        let (mut timers, fired) = firing.join().unwrap();
        assert_eq!(count.get(), fired);
        assert!(!sleep.is_elapsed());
        if fired == 0 {
            // Still armed, with the waker it had.
            handle.advance(TICK);
            assert_eq!(timers.fire_due(), 1);
            assert_eq!(count.get(), 1);
        } else {
            assert!(poll(sleep.as_mut(), &waker).is_pending());
        }
    });
}

/// The owner sees without the lock that the timer has fired, and writes to the fields that the
/// firer has read.
#[test]
fn fire_against_reset_and_poll() {
    model::check(|| {
        let (timers, handle) = paused();
        let (_, first) = Count::new();
        let (count, second) = Count::new();
        let mut sleep = due(&handle, &first);
        let firing = fire(timers);
        let later = sleep.deadline() + TICK;
        sleep.as_mut().reset(later);
        assert!(poll(sleep.as_mut(), &second).is_pending());
        let (mut timers, _) = firing.join().unwrap();
        handle.advance(TICK);
        assert_eq!(timers.fire_due(), 1);
        assert_eq!(count.get(), 1);
    });
}

#[test]
fn fire_against_reset_to_sooner() {
    model::check(|| {
        let (timers, handle) = paused();
        let (count, waker) = Count::new();
        let mut sleep = {
            let _entered = handle.enter();
            let mut sleep = Box::pin(sleep(3 * TICK));
            assert!(poll(sleep.as_mut(), &waker).is_pending());
            sleep
        };
        handle.advance(2 * TICK);
        let firing = fire(timers);
        let sooner = sleep.deadline() - TICK;
        sleep.as_mut().reset(sooner);
        let (mut timers, _) = firing.join().unwrap();
        timers.fire_due();
        assert!(sleep.is_elapsed());
        assert_eq!(count.get(), 1);
    });
}

/// The timer is due by its former deadline: the firer may take it out after the owner has found
/// that the new one is sooner, and before the owner has the lock.
#[test]
fn fire_of_a_due_timer_against_reset_to_sooner() {
    model::check(|| {
        let (timers, handle) = paused();
        let (count, waker) = Count::new();
        let mut sleep = {
            let _entered = handle.enter();
            let mut sleep = Box::pin(sleep(2 * TICK));
            assert!(poll(sleep.as_mut(), &waker).is_pending());
            sleep
        };
        handle.advance(2 * TICK);
        let firing = fire(timers);
        let sooner = sleep.deadline() - TICK;
        sleep.as_mut().reset(sooner);
        let (mut timers, _) = firing.join().unwrap();
        assert_eq!(timers.fire_due(), 0);
        assert_eq!(count.get(), 1);
        assert!(poll(sleep.as_mut(), &waker).is_ready());
        drop((sleep, waker));
        assert_eq!(StdArc::strong_count(&count), 1);
    });
}

#[test]
fn fire_against_poll_with_another_waker() {
    model::check(|| {
        let (timers, handle) = paused();
        let (_, first) = Count::new();
        let (count, second) = Count::new();
        let mut sleep = due(&handle, &first);
        let firing = fire(timers);
        let polled = poll(sleep.as_mut(), &second);
        let (_timers, fired) = firing.join().unwrap();
        assert_eq!(fired, 1);
        match polled {
            Poll::Ready(()) => assert_eq!(count.get(), 0),
            Poll::Pending => assert_eq!(count.get(), 1),
        }
        assert!(poll(sleep.as_mut(), &second).is_ready());
    });
}

#[test]
fn fire_against_poll_with_the_same_waker() {
    model::check(|| {
        let (timers, handle) = paused();
        let (count, waker) = Count::new();
        let mut sleep = due(&handle, &waker);
        let firing = fire(timers);
        let _ = poll(sleep.as_mut(), &waker);
        firing.join().unwrap();
        assert_eq!(count.get(), 1);
        assert!(poll(sleep.as_mut(), &waker).is_ready());
    });
}

/// The driver parks as `Timers` documents; the timer that is set meanwhile is due. If no thread
/// unparked the driver the model would end in a deadlock.
#[test]
fn insert_against_a_parking_driver() {
    model::Model::new().preemptions(3).check(|| {
        let driver = thread::current();
        let mut timers = Timers::new(StdArc::new(move || driver.unpark()));
        let handle = timers.handle();
        handle.pause();
        let elapsed = Arc::new(AtomicBool::new(false));
        let user = thread::spawn({
            let elapsed = Arc::clone(&elapsed);
            let handle = handle.clone();
            move || {
                let _entered = handle.enter();
                let mut sleep = Box::pin(raddle_timer::sleep_until(handle.now() + TICK));
                let (count, waker) = Count::new();
                assert!(poll(sleep.as_mut(), &waker).is_pending());
                elapsed.store(true, Ordering::Release);
                (sleep, count)
            }
        });
        let deadline = loop {
            match timers.next_deadline() {
                None => thread::park(),
                Some(deadline) => break deadline,
            }
        };
        handle.advance(deadline - handle.now());
        assert_eq!(timers.fire_due(), 1);
        let (sleep, count) = user.join().unwrap();
        assert!(sleep.is_elapsed());
        assert_eq!(count.get(), 1);
    });
}

#[test]
fn shutdown_against_poll() {
    model::check(|| {
        let (mut timers, handle) = paused();
        let (count, waker) = Count::new();
        let ending = thread::spawn(move || {
            timers.shutdown();
            timers
        });
        let mut sleep = {
            let _entered = handle.enter();
            Box::pin(sleep(TICK))
        };
        let polled = try_poll(sleep.as_mut(), &waker);
        let _timers = ending.join().unwrap();
        // The shutdown wakes the waker of a poll that did not see it.
        assert_eq!(count.get(), usize::from(polled.is_some()));
        assert_eq!(try_poll(sleep.as_mut(), &waker), None);
    });
}

#[test]
fn shutdown_against_reset_and_poll() {
    model::check(|| {
        let (mut timers, handle) = paused();
        let (first_count, first) = Count::new();
        let (second_count, second) = Count::new();
        let mut sleep = due(&handle, &first);
        let ending = thread::spawn(move || {
            timers.shutdown();
            timers
        });
        let later = sleep.deadline() + TICK;
        sleep.as_mut().reset(later);
        let polled = try_poll(sleep.as_mut(), &second);
        let _timers = ending.join().unwrap();
        match polled {
            Some(_) => assert_eq!((first_count.get(), second_count.get()), (0, 1)),
            None => assert_eq!((first_count.get(), second_count.get()), (1, 0)),
        }
    });
}

#[test]
fn shutdown_against_drop() {
    model::check(|| {
        let (timers, handle) = paused();
        let (count, waker) = Count::new();
        let sleep = due(&handle, &waker);
        let ending = thread::spawn(move || drop(timers));
        drop(sleep);
        ending.join().unwrap();
        assert!(count.get() <= 1);
        assert_eq!(StdArc::strong_count(&count), 2);
    });
}

/// A driver that finds the last hold of a paused clock released, and would let time pass, sees what
/// the holder did before. All interleavings are explored.
#[test]
fn releasing_a_clock_hold_publishes_earlier_writes() {
    struct Work(UnsafeCell<u32>);
    // SAFETY: the hold orders the accesses; the model checks that it does.
    unsafe impl Sync for Work {}
    // SAFETY: as above.
    unsafe impl Send for Work {}
    model::check(|| {
        let (timers, handle) = paused();
        let hold = handle.hold_auto_advance();
        let work = Arc::new(Work(UnsafeCell::new(0)));
        let driver = thread::spawn({
            let work = Arc::clone(&work);
            move || {
                if timers.may_auto_advance() {
                    // SAFETY: the holder is done.
                    assert_eq!(work.0.with(|work| unsafe { *work }), 1);
                }
            }
        });
        // SAFETY: the driver accesses it only once the hold is gone.
        work.0.with_mut(|work| unsafe { *work = 1 });
        drop(hold);
        driver.join().unwrap();
    });
}

/// A driver that finds the last hold of a paused clock released does not see what its holder does
/// afterwards.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_work_after_the_hold_was_released_is_caught() {
    model::check(|| {
        let (timers, handle) = paused();
        let hold = handle.hold_auto_advance();
        let race = model::Race::new();
        let theirs = race.clone();
        let driver = thread::spawn(move || {
            if timers.may_auto_advance() {
                theirs.second();
            }
        });
        drop(hold);
        race.first();
        driver.join().unwrap();
    });
}
