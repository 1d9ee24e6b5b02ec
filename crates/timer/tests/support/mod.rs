//! Timers with a stopped clock, driven by the test.

#![allow(dead_code, reason = "each test file uses a part")]

use std::sync::Arc;
use std::time::Duration;

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_timer::{Handle, Timers};

/// Milliseconds.
pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) struct Driver {
    pub(crate) timers: Timers,
    pub(crate) handle: Handle,
    unparks: Arc<AtomicUsize>,
}

impl Driver {
    /// Timers whose clock stands still.
    pub(crate) fn paused() -> Self {
        let driver = Self::running();
        driver.handle.pause();
        driver
    }

    /// Timers that run with the system's clock.
    pub(crate) fn running() -> Self {
        let unparks = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&unparks);
        let timers = Timers::new(Arc::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        }));
        Self {
            handle: timers.handle(),
            timers,
            unparks,
        }
    }

    /// How often the owner was unparked since the last call.
    pub(crate) fn unparks(&self) -> usize {
        self.unparks.swap(0, Ordering::Relaxed)
    }

    /// Moves the clock and fires what is due.
    pub(crate) fn advance(&mut self, duration: Duration) -> usize {
        self.handle.advance(duration);
        self.unparks();
        self.timers.fire_due()
    }

    /// Moves the clock from deadline to deadline until something fires, and
    /// says how often it had to park for that.
    pub(crate) fn advance_until_fired(&mut self) -> usize {
        for parks in 1..100 {
            let next = self.timers.next_deadline().expect("a timer is set");
            if self.advance(next - self.handle.now()) > 0 {
                return parks;
            }
        }
        panic!("nothing fires");
    }
}
