//! The timers, as their owner sees them: the code that parks.

use raddle_primitives::sync::Arc;

use crate::config::Config;
use crate::deadline::NEVER;
use crate::driver::UnparkFn;
use crate::handle::Handle;
use crate::instant::Instant;
use crate::shard::Shard;
use crate::shared::Shared;

/// Timer wheels and their clock, owned by the thread (or the driver) that waits.
///
/// The owner repeats three steps: call [`next_deadline`](Self::next_deadline), park until then at
/// the latest, call [`fire_due`](Self::fire_due). A wait that counts in milliseconds must round
/// **up**, or it returns before a timer is due.
///
/// Dropping it calls [`shutdown`](Self::shutdown).
///
/// ```
/// use std::pin::pin;
/// use std::sync::Arc;
/// use std::thread;
/// use std::time::Duration;
///
/// use raddle_timer::{Timers, sleep};
///
/// let owner = thread::current();
/// let mut timers = Timers::new(Arc::new(move || owner.unpark()));
/// let handle = timers.handle();
/// let _entered = handle.enter();
/// let mut future = pin!(sleep(Duration::from_millis(2)));
/// assert!(raddle_testing::poll(future.as_mut()).is_pending());
/// while let Some(deadline) = timers.next_deadline() {
///     thread::park_timeout(deadline.saturating_duration_since(timers.now()));
///     timers.fire_due();
/// }
/// assert!(raddle_testing::poll(future).is_ready());
/// ```
#[derive(Debug)]
pub struct Timers {
    shared: Arc<Shared>,
    shards: Box<[Arc<Shard>]>,
}

impl Timers {
    /// Makes timers that run with the system's clock, in milliseconds.
    ///
    /// `unpark` must make the owner's current or next park return. It is called, from any thread
    /// and without a lock held, when a timer is set that is earlier than the last result of
    /// `next_deadline`, and when a paused clock is advanced, is resumed, or is no longer
    /// [held](Handle::hold_auto_advance).
    pub fn new(unpark: UnparkFn) -> Self {
        Self::sharded(1, unpark)
    }

    /// Like [`new`](Self::new), in `count` shards, each with a wheel, a lock and a reference count
    /// of its own: threads that have entered handles of different shards do not contend. The owner
    /// serves all shards.
    ///
    /// # Panics
    ///
    /// Panics if `count` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use raddle_timer::{Timers, sleep};
    ///
    /// let timers = Timers::sharded(2, Arc::new(|| {}));
    /// let sleeps: Vec<_> = timers
    ///     .handles()
    ///     .map(|handle| {
    ///         // In a program, each of two threads does this.
    ///         let _entered = handle.enter();
    ///         Box::pin(sleep(Duration::from_millis(1)))
    ///     })
    ///     .collect();
    /// # drop(sleeps);
    /// ```
    #[track_caller]
    pub fn sharded(count: usize, unpark: UnparkFn) -> Self {
        Self::with_config(Config::new().shards(count), unpark)
    }

    /// Like [`new`](Self::new), with settings.
    ///
    /// # Panics
    ///
    /// Panics if the number of shards is zero.
    #[track_caller]
    pub fn with_config(config: Config, unpark: UnparkFn) -> Self {
        let count = config.shards;
        assert!(count > 0, "timers need at least one shard; use 1 or more");
        let shared = Arc::new(Shared::new(config, unpark));
        Self {
            shards: (0..count)
                .map(|_| Arc::new(Shard::new(Arc::clone(&shared))))
                .collect(),
            shared,
        }
    }

    /// Returns a handle of the first shard.
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.shards[0]))
    }

    /// Returns a handle of each shard.
    pub fn handles(&self) -> impl Iterator<Item = Handle> {
        self.shards.iter().cloned().map(Handle::new)
    }

    /// Returns the current time of these timers' clock.
    pub fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    /// Returns the time until which the owner may park; `None` means without a limit.
    ///
    /// No timer is due before that instant. It may be earlier than the earliest deadline: then
    /// `fire_due` only moves timers within the wheel. It may be in the past.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        let parked_until = &self.shared.driver.parked_until;
        let tick = parked_until.transition_to_parked(|| {
            let ticks = self.shards.iter().map(|shard| shard.earliest.load());
            ticks.min().unwrap_or(NEVER)
        });
        (tick != NEVER).then(|| self.shared.instant_of(tick))
    }

    /// Wakes the tasks whose deadline has passed, within a shard in the order of the deadlines, and
    /// returns their number.
    ///
    /// Wakers run on the calling thread without a lock held, so they may set, reset and drop
    /// timers. A panic of a waker is caught; the panic hook reports it.
    #[inline]
    pub fn fire_due(&mut self) -> usize {
        self.shared.driver.parked_until.transition_to_awake();
        let now = self.shared.present_tick();
        self.shards.iter().map(|shard| shard.fire(now)).sum()
    }

    /// Returns whether the timers count milliseconds of the system's clock.
    #[inline]
    pub(crate) fn has_defaults(&self) -> bool {
        !self.is_precise() && !self.has_time_source()
    }

    /// Returns whether the timers wait more precisely than a millisecond.
    pub(crate) fn is_precise(&self) -> bool {
        !self.shared.tick.is_millisecond()
    }

    /// Returns whether the time comes from a source other than the system's clock.
    pub(crate) fn has_time_source(&self) -> bool {
        self.shared.clock.has_source()
    }

    /// Returns whether the clock is paused and nothing [holds](Handle::hold_auto_advance) it.
    pub fn may_auto_advance(&self) -> bool {
        self.shared.clock.is_paused() && !self.shared.clock.is_held()
    }

    /// Advances a paused clock to the earliest deadline and fires the timers that are due then;
    /// returns their number. Returns zero if the clock runs, if it is
    /// [held](Handle::hold_auto_advance), or if no timer is set. Call it instead of parking, when
    /// there is nothing else to do, so that time advances for tasks that wait on a paused clock.
    pub fn auto_advance(&mut self) -> usize {
        while self.may_auto_advance() {
            let Some(deadline) = self.next_deadline() else {
                break;
            };
            self.shared.clock.advance_to(deadline);
            // None are due at a tick at which timers only change their level.
            let fired = self.fire_due();
            if fired > 0 {
                return fired;
            }
        }
        0
    }

    /// Ends every timer that has not fired and wakes the task that waits for it. From then on,
    /// polling such a timer or a new one panics; dropping it does not. A panic of a waker is
    /// caught.
    pub fn shutdown(&mut self) {
        for shard in &self.shards {
            shard.shut_down();
        }
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        self.shutdown();
    }
}
