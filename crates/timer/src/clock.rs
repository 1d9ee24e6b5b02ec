//! Time: the system's, or a virtual one that only `advance` moves.

use std::time::Duration;

use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Mutex, Rank};

use crate::instant::Instant;

/// The length of a tick.
const TICK_NANOS: u32 = 1_000_000;

/// A clock that runs with the system's until it is first paused.
#[derive(Debug)]
pub(crate) struct Clock {
    /// The instant of tick 0.
    start: Instant,
    /// Set permanently by the first `pause`: from then on `course` determines the time.
    diverted: AtomicBool,
    /// The number of holds: while there is one, a paused clock is not advanced automatically.
    holds: AtomicUsize,
    course: Mutex<Course>,
}

/// The course of time: `base`, plus the system time that has passed since `running_since`.
#[derive(Debug)]
struct Course {
    base: Instant,
    /// The system time at `base`; `None` while the clock is paused.
    running_since: Option<Instant>,
}

impl Course {
    fn now(&self) -> Instant {
        match self.running_since {
            None => self.base,
            Some(since) => self.base + Instant::system().saturating_duration_since(since),
        }
    }
}

impl Clock {
    pub(crate) fn new() -> Self {
        let now = Instant::system();
        Self {
            start: now,
            diverted: AtomicBool::new(false),
            holds: AtomicUsize::new(0),
            course: Mutex::ranked(
                Rank::leaf("clock"),
                Course {
                    base: now,
                    running_since: Some(now),
                },
            ),
        }
    }

    #[inline]
    pub(crate) fn start(&self) -> Instant {
        self.start
    }

    #[inline]
    pub(crate) fn now(&self) -> Instant {
        // ORDERING: the flag only leads to the lock, which orders the rest. A thread that does not
        // see a pause yet reads the time as before it.
        if self.diverted.load(Ordering::Relaxed) {
            self.course_now()
        } else {
            Instant::system()
        }
    }

    #[cold]
    fn course_now(&self) -> Instant {
        self.course.lock().now()
    }

    pub(crate) fn is_paused(&self) -> bool {
        // ORDERING: as in `now`.
        self.diverted.load(Ordering::Relaxed) && self.course.lock().running_since.is_none()
    }

    pub(crate) fn is_held(&self) -> bool {
        // ORDERING: pairs with `release`: a thread that sees the last hold released sees the wakes
        // before it.
        self.holds.load(Ordering::Acquire) > 0
    }

    pub(crate) fn hold(&self) {
        // ORDERING: only `release` publishes data.
        self.holds.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn release(&self) {
        // ORDERING: pairs with `is_held`.
        self.holds.fetch_sub(1, Ordering::Release);
    }

    #[track_caller]
    pub(crate) fn pause(&self) {
        let mut course = self.course.lock();
        if course.running_since.is_none() {
            drop(course);
            panic!("the clock is paused already; call resume first");
        }
        // Pause at a whole tick. Then a timer of n milliseconds is due once the clock is advanced
        // by n milliseconds.
        let now = course.now();
        let part = (now - self.start).subsec_nanos() % TICK_NANOS;
        let rest = (TICK_NANOS - part) % TICK_NANOS;
        course.base = now + Duration::from_nanos(u64::from(rest));
        course.running_since = None;
        // ORDERING: as in `now`.
        self.diverted.store(true, Ordering::Relaxed);
    }

    #[track_caller]
    pub(crate) fn resume(&self) {
        let mut course = self.course.lock();
        if course.running_since.is_some() {
            drop(course);
            panic!("the clock is not paused; call pause first");
        }
        course.running_since = Some(Instant::system());
    }

    #[track_caller]
    pub(crate) fn advance(&self, duration: Duration) {
        let mut course = self.course.lock();
        let advanced = course.base.checked_add(duration);
        match (course.running_since, advanced) {
            (None, Some(advanced)) => course.base = advanced,
            (Some(_), _) => {
                drop(course);
                panic!("the clock is not paused; call pause first");
            }
            (None, None) => {
                drop(course);
                panic!("the clock cannot be advanced that far; advance by less");
            }
        }
    }

    /// Moves a paused clock to `instant`, unless it is already past that.
    pub(crate) fn advance_to(&self, instant: Instant) {
        let mut course = self.course.lock();
        if course.running_since.is_none() {
            course.base = course.base.max(instant);
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
