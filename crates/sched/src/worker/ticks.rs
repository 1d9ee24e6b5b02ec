//! How often a busy worker looks beyond its own queue.

use std::cell::Cell;
use std::time::Duration;

/// How long the steps between two looks at the driver should take at most. With
/// polls that take longer than usual the looks are closer. A server's polls, of
/// some 10 us with their system calls, are not: each look is a system call too.
const TARGET: Duration = Duration::from_millis(3);

/// What is due before the next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// A look into the injection queue before the worker's own.
    pub(super) injection: bool,
    /// A look at the driver.
    pub(super) events: bool,
}

/// Counts steps. Both kinds of turn are at most their configured number of
/// steps apart; that number is scaled down so that the time between two looks at
/// the driver comes back to [`TARGET`] when it has been longer.
pub(super) struct Ticks {
    /// Steps until the nearest turn: all that an ordinary step touches.
    left: Cell<u32>,
    /// What `left` was after the last turn.
    span: Cell<u32>,
    /// Steps, from the last turn, to the next of each kind.
    to_injection: Cell<u32>,
    to_events: Cell<u32>,
    /// As configured.
    injection_interval: u32,
    event_interval: u32,
    /// The number of steps between two looks at the driver now.
    scaled: Cell<u32>,
    /// How long the worker had been busy at the last look.
    looked_at: Cell<Duration>,
}

impl Ticks {
    pub(super) fn new(injection_interval: u32, event_interval: u32) -> Self {
        let turns = Self {
            left: Cell::new(0),
            span: Cell::new(0),
            to_injection: Cell::new(injection_interval),
            to_events: Cell::new(event_interval),
            injection_interval,
            event_interval,
            scaled: Cell::new(event_interval),
            looked_at: Cell::new(Duration::ZERO),
        };
        turns.start_span();
        turns
    }

    /// Counts a step. Whether a turn is due before it.
    #[inline]
    pub(super) fn step(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(left);
        left == 0
    }

    /// Counts a step that is made in the middle of another, unless a turn is due first. Returns
    /// whether it was counted.
    #[inline]
    pub(super) fn nested_step(&self) -> bool {
        match self.left.get() {
            // The next step has the turn.
            1 => false,
            left => {
                self.left.set(left - 1);
                true
            }
        }
    }

    /// Says what is due, and counts anew. `busy` is how long the worker has been
    /// at work in all, if that is to be taken into account.
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
        // A turn that was far off comes nearer too when polls turn out slow.
        let share = u64::from(self.injection_interval) * u64::from(scaled);
        let injection = share.div_ceil(u64::from(self.event_interval)) as u32;
        self.to_injection.set(match due.injection {
            true => injection,
            false => to_injection.min(injection),
        });
        self.to_events.set(match due.events {
            true => scaled,
            false => to_events,
        });
        self.start_span();
        due
    }

    /// Makes a look at the driver due before the next step.
    pub(super) fn look_next(&self) {
        let taken = self.span.get() - self.left.get();
        self.to_injection.set(self.to_injection.get() - taken);
        self.to_events.set(1);
        self.start_span();
    }

    fn scale(&self, busy: Duration) {
        let time = busy.saturating_sub(self.looked_at.replace(busy));
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
