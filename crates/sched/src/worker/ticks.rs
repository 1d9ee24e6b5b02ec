//! How often a busy worker checks the driver and the injection queue.

use std::cell::Cell;
use std::time::Duration;

/// The longest time that the steps between two ticks should take, and about the time between two
/// polls of the driver, each of which is a system call.
const TARGET: Duration = Duration::from_millis(1);

/// The default `event_interval` of a worker that is stepped, and of one that is alone in its shard.
pub(crate) const DEFAULT_EVENT_INTERVAL: u32 = 61;

/// What is due before the next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// Taking from the injection queue before the worker's own queue.
    pub(super) injection: bool,
    /// Polling the driver.
    pub(super) events: bool,
}

/// Counts steps. Ticks of each kind are at most their configured number of steps apart, and fewer
/// while these would take longer than [`TARGET`].
pub(crate) struct Ticks {
    /// Steps until the next tick: all that an ordinary step touches.
    left: Cell<u32>,
    /// The value of `left` after the last tick.
    span: Cell<u32>,
    /// Steps from the last tick to the next one of each kind.
    to_injection: Cell<u32>,
    to_events: Cell<u32>,
    injection_interval: u32,
    /// `None` if only the time between two polls of the driver counts.
    event_interval: Option<u32>,
    /// How many steps as slow as those before the last tick fit into [`TARGET`].
    fitting: Cell<u32>,
    /// The highest number of steps from the last tick to the next.
    scaled: Cell<u32>,
    /// The total busy time at the last tick, and at the last poll of the driver.
    busy_at_tick: Cell<Duration>,
    busy_at_driver_poll: Cell<Duration>,
}

impl Ticks {
    pub(super) fn new(injection_interval: u32, event_interval: Option<u32>) -> Self {
        let ticks = Self {
            left: Cell::new(0),
            span: Cell::new(0),
            to_injection: Cell::new(injection_interval),
            to_events: Cell::new(event_interval.unwrap_or(DEFAULT_EVENT_INTERVAL)),
            injection_interval,
            event_interval,
            fitting: Cell::new(u32::MAX),
            scaled: Cell::new(injection_interval),
            busy_at_tick: Cell::new(Duration::ZERO),
            busy_at_driver_poll: Cell::new(Duration::ZERO),
        };
        ticks.start_span(injection_interval);
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

    /// Returns what is due, and starts to count again. `busy` is the total busy time of the worker,
    /// or `None` if time is not measured.
    pub(super) fn take(&self, busy: Option<Duration>) -> Due {
        let span = self.span.get();
        let to_injection = self.to_injection.get().saturating_sub(span);
        let to_events = self.to_events.get().saturating_sub(span);
        let limit = busy.map_or(u32::MAX, |busy| self.scale(span, busy));
        let is_late = busy.is_some_and(|busy| busy >= self.busy_at_driver_poll.get() + TARGET);
        let due = Due {
            // One tick serves for both if they would follow each other. A worker that is stepped
            // keeps to its numbers.
            injection: to_injection <= u32::from(to_events == 0 && busy.is_some()),
            events: to_events == 0 || is_late,
        };
        // Not before each step: a task from there goes before all others.
        let injection = self.injection_interval.min(limit.max(2));
        self.to_injection.set(match due.injection {
            true => injection,
            false => to_injection.min(injection),
        });
        self.to_events.set(to_events);
        if due.events {
            self.busy_at_driver_poll.set(busy.unwrap_or_default());
            self.to_events.set(match (self.event_interval, busy) {
                (Some(interval), _) => interval,
                (None, Some(_)) => u32::MAX,
                (None, None) => DEFAULT_EVENT_INTERVAL,
            });
        }
        self.start_span(limit);
        due
    }

    /// Records that the worker has polled the driver, so that the time of that does not count.
    pub(super) fn restart_clock(&self, busy: Duration) {
        self.busy_at_tick.set(busy);
        self.busy_at_driver_poll.set(busy);
    }

    /// Makes a poll of the driver due before the next step.
    pub(crate) fn force_tick(&self) {
        let taken = self.span.get() - self.left.get();
        self.to_injection.set(self.to_injection.get() - taken);
        self.to_events.set(1);
        self.start_span(1);
    }

    /// Whether the steps before the last tick took longer than [`TARGET`] on average.
    pub(super) fn has_slow_polls(&self) -> bool {
        self.fitting.get() == 0
    }

    /// Returns the highest number of steps to the next tick: as many as take [`TARGET`] if each
    /// takes as long as before this tick or before the last one, whichever was slower, but at most
    /// twice as many as before. A fast step between slow ones changes nothing.
    fn scale(&self, span: u32, busy: Duration) -> u32 {
        let time = busy.saturating_sub(self.busy_at_tick.replace(busy));
        let fitting = u128::from(span) * TARGET.as_nanos() / time.as_nanos().max(1);
        let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
        let most = self.scaled.get().saturating_mul(2);
        let scaled = fitting
            .min(self.fitting.replace(fitting))
            .clamp(1, most.min(self.injection_interval));
        self.scaled.set(scaled);
        scaled
    }

    fn start_span(&self, limit: u32) {
        let span = self.to_injection.get().min(self.to_events.get()).min(limit);
        self.span.set(span);
        self.left.set(span);
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
