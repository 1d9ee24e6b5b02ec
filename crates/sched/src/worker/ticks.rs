//! How often a busy worker checks the driver and the injection queue.

use std::cell::Cell;
use std::time::Duration;

/// The longest time that the steps between two polls of the driver should take. With slower tasks
/// the worker polls the driver after fewer steps. The tasks of a server, whose polls take about
/// 10 us with their system calls, do not reach it: each poll of the driver is a system call too.
const TARGET: Duration = Duration::from_millis(3);

/// What is due before the next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// Taking from the injection queue before the worker's own queue.
    pub(super) injection: bool,
    /// Polling the driver.
    pub(super) events: bool,
}

/// Counts steps. Ticks of each kind are at most their configured number of steps apart. This number
/// is scaled down when the time between two polls of the driver exceeds [`TARGET`].
pub(crate) struct Ticks {
    /// Steps until the next tick: all that an ordinary step touches.
    left: Cell<u32>,
    /// The value of `left` after the last tick.
    span: Cell<u32>,
    /// Steps from the last tick to the next one of each kind.
    to_injection: Cell<u32>,
    to_events: Cell<u32>,
    /// As configured.
    injection_interval: u32,
    event_interval: u32,
    /// The current number of steps between two polls of the driver.
    scaled: Cell<u32>,
    /// The total busy time at the last poll of the driver.
    busy_at_last_poll: Cell<Duration>,
}

impl Ticks {
    pub(super) fn new(injection_interval: u32, event_interval: u32) -> Self {
        let ticks = Self {
            left: Cell::new(0),
            span: Cell::new(0),
            to_injection: Cell::new(injection_interval),
            to_events: Cell::new(event_interval),
            injection_interval,
            event_interval,
            scaled: Cell::new(event_interval),
            busy_at_last_poll: Cell::new(Duration::ZERO),
        };
        ticks.start_span();
        ticks
    }

    /// Counts a step. Returns whether a tick is due before it.
    #[inline]
    pub(super) fn step(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(left);
        left == 0
    }

    /// Counts a poll in the middle of a step, unless a tick is due first. Returns whether it was
    /// counted.
    #[inline]
    pub(crate) fn nested_step(&self) -> bool {
        match self.left.get() {
            // The next step has the tick.
            1 => false,
            left => {
                self.left.set(left - 1);
                true
            }
        }
    }

    /// Returns what is due, and starts to count again. `busy` returns the total busy time of the
    /// worker, or `None` if time is not measured.
    pub(super) fn take(&self, busy: impl FnOnce() -> Option<Duration>) -> Due {
        let span = self.span.get();
        let to_injection = self.to_injection.get() - span;
        let to_events = self.to_events.get() - span;
        let due = Due {
            injection: to_injection == 0,
            events: to_events == 0,
        };
        if due.events {
            if let Some(busy) = busy() {
                self.scale(busy);
            }
        }
        let scaled = self.scaled.get();
        // A tick that was far off comes nearer too when polls turn out slow.
        let share = u64::from(self.injection_interval) * u64::from(scaled);
        let injection = share.div_ceil(u64::from(self.event_interval)) as u32;
        self.to_injection.set(match due.injection {
            true => injection,
            false => to_injection.min(injection),
        });
        self.to_events
            .set(if due.events { scaled } else { to_events });
        self.start_span();
        due
    }

    /// Makes a poll of the driver due before the next step.
    pub(crate) fn force_tick(&self) {
        let taken = self.span.get() - self.left.get();
        self.to_injection.set(self.to_injection.get() - taken);
        self.to_events.set(1);
        self.start_span();
    }

    fn scale(&self, busy: Duration) {
        let time = busy.saturating_sub(self.busy_at_last_poll.replace(busy));
        let scaled = self.scaled.get();
        self.scaled.set(if time > TARGET {
            let fitting = u128::from(scaled) * TARGET.as_nanos() / time.as_nanos();
            (fitting as u32).max(1)
        } else {
            scaled.saturating_mul(2).min(self.event_interval)
        });
    }

    fn start_span(&self) {
        let span = self.to_injection.get().min(self.to_events.get());
        self.span.set(span);
        self.left.set(span);
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
