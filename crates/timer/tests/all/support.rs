//! Timers with a paused clock, driven by the test.

use std::sync::Arc;
use std::time::Duration;

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_timer::{Handle, Timers};

/// Milliseconds.
pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Microseconds.
pub(crate) const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

pub(crate) struct TestTimers {
    pub(crate) timers: Timers,
    pub(crate) handle: Handle,
    unparks: Arc<AtomicUsize>,
}

impl TestTimers {
    /// Makes timers whose clock is paused.
    pub(crate) fn paused() -> Self {
        let driver = Self::running();
        driver.handle.pause();
        driver
    }

    /// Makes timers that use the system's clock.
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

    /// Returns how often the owner was unparked since the last call.
    pub(crate) fn unparks(&self) -> usize {
        self.unparks.swap(0, Ordering::Relaxed)
    }

    /// Advances the clock and fires the timers that are due.
    pub(crate) fn advance(&mut self, duration: Duration) -> usize {
        self.handle.advance(duration);
        self.unparks();
        self.timers.fire_due()
    }

    /// Advances the clock from deadline to deadline until a timer fires, and returns how often the
    /// driver parked.
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
