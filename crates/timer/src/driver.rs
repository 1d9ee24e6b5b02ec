//! Waiting for timers and for another event source at once.

use std::fmt;
use std::time::Duration;

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex, Rank};

use crate::config::Config;
use crate::handle::Handle;
use crate::timers::Timers;

/// The longest wait for a timer if time can pass that the event source does not count.
const MAX_UNCOUNTED_WAIT: Duration = Duration::from_secs(1);

/// A function, callable from any thread, that makes the current or next wait of a thread return.
pub type UnparkFn = std::sync::Arc<dyn Fn() + Send + Sync>;

/// An event source, such as a reactor, in which the owner of timers waits.
///
/// ```
/// use std::pin::pin;
/// use std::sync::Arc;
/// use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
/// use std::time::Duration;
///
/// use raddle_timer::driver::{EventSource, TimerDriver, UnparkFn};
///
/// /// Waits for a signal from another thread.
/// struct Signals {
///     sender: SyncSender<()>,
///     receiver: Receiver<()>,
/// }
///
/// impl EventSource for Signals {
///     fn wait(&mut self, timeout: Option<Duration>, _limit: usize) -> usize {
///         let _is_unparked = match timeout {
///             Some(timeout) => self.receiver.recv_timeout(timeout).is_ok(),
///             None => self.receiver.recv().is_ok(),
///         };
///         0
///     }
///
///     fn unparker(&self) -> UnparkFn {
///         let sender = self.sender.clone();
///         // If the channel is full, the next wait returns at once anyway.
///         Arc::new(move || drop(sender.try_send(())))
///     }
/// }
///
/// let (sender, receiver) = sync_channel(1);
/// let mut driver = TimerDriver::new(Signals { sender, receiver }, 1, false);
/// let timers = driver.handles().next().unwrap();
/// let _entered = timers.enter();
/// let mut sleep = pin!(raddle_timer::sleep(Duration::from_millis(1)));
/// assert!(raddle_testing::poll(sleep.as_mut()).is_pending());
/// while driver.park(None, usize::MAX).timers == 0 {}
/// assert!(raddle_testing::poll(sleep).is_ready());
/// ```
pub trait EventSource {
    /// Waits until it is unparked or has an event, for at most `timeout` (`None`: without a limit).
    /// Wakes at most `limit` tasks, and returns their number. May return spuriously.
    fn wait(&mut self, timeout: Option<Duration>, limit: usize) -> usize;

    /// Returns a function, callable from any thread, that makes the current or next `wait` return.
    fn unparker(&self) -> UnparkFn;

    /// Returns whether the timeout of `wait` also counts the time during which the system was
    /// suspended. Default: false. Then a driver of timers that
    /// [count it](crate::Config::include_suspended_time) waits for a second at most.
    fn counts_suspended_time(&self) -> bool {
        false
    }
}

/// Timers together with another event source; [`park`](Self::park) waits for both.
///
/// If the clock is [paused](Handle::pause), a park that would wait for a timer advances the clock
/// to the earliest deadline instead, when there is nothing else to do.
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Waker};
/// use std::time::Duration;
/// use raddle_timer::driver::{NoEvents, TimerDriver};
///
/// let mut driver = TimerDriver::new(NoEvents::default(), 1, true);
/// let timers = driver.handles().next().unwrap();
/// let _entered = timers.enter();
/// timers.pause();
/// let mut sleep = pin!(raddle_timer::sleep(Duration::from_secs(3600)));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(sleep.as_mut().poll(&mut cx).is_pending());
/// driver.park(None, usize::MAX);
/// assert!(sleep.as_mut().poll(&mut cx).is_ready());
/// ```
pub struct TimerDriver<S> {
    event_source: S,
    timers: Option<Timers>,
    /// `Some` if the clock can be paused.
    unparked: Option<Arc<Unparked>>,
}

/// The numbers of tasks and timers that a [`TimerDriver::park`] has woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// The number of tasks that the event source has woken.
    pub tasks: usize,
    /// The number of timers that have fired.
    pub timers: usize,
}

/// Set when the driver is unparked: then a paused clock is not advanced. The driver clears it when
/// it has handled the unpark.
#[derive(Default)]
struct Unparked(AtomicBool);

impl<S: EventSource> TimerDriver<S> {
    /// Makes a driver that waits in `event_source`, with timers in `shards` shards, or without
    /// timers if that is zero. The clock may be paused if `is_pausable` is true.
    pub fn new(event_source: S, shards: usize, is_pausable: bool) -> Self {
        Self::with_config(event_source, Config::new().shards(shards), is_pausable)
    }

    /// Like [`new`](Self::new), with settings for the timers.
    ///
    /// With a finer [resolution](Config::resolution) than a millisecond, the event source gets the
    /// exact timeout. It decides how precisely it waits.
    pub fn with_config(event_source: S, config: Config, is_pausable: bool) -> Self {
        let mut driver = Self {
            event_source,
            timers: None,
            unparked: is_pausable.then(Arc::default),
        };
        if config.shards > 0 {
            driver.timers = Some(Timers::with_config(config, driver.unparker()));
        }
        driver
    }

    /// Returns the event source in which the driver waits.
    pub fn event_source(&self) -> &S {
        &self.event_source
    }

    /// Returns a handle of each shard of the timers.
    pub fn handles(&self) -> impl Iterator<Item = Handle> {
        self.timers.iter().flat_map(Timers::handles)
    }

    /// Returns a function, callable from any thread, that makes the current or next
    /// [`park`](Self::park) return.
    pub fn unparker(&self) -> UnparkFn {
        let unpark_source = self.event_source.unparker();
        match self.unparked.clone() {
            None => unpark_source,
            Some(unparked) => std::sync::Arc::new(move || {
                unparked.set();
                unpark_source();
            }),
        }
    }

    /// Waits until it is unparked, a timer is due, or the event source has an event, for at most
    /// `timeout` (`None`: without a limit; zero: does not wait). Wakes at most `limit` tasks of the
    /// event source, and fires all timers that are due. Returns their numbers.
    pub fn park(&mut self, timeout: Option<Duration>, limit: usize) -> Woken {
        let waits = timeout != Some(Duration::ZERO);
        if waits && self.may_auto_advance() {
            if let Some(woken) = self.auto_advance(limit) {
                return woken;
            }
        }
        let timeout = self.until_deadline(timeout);
        let tasks = self.event_source.wait(timeout, limit);
        let timers = self.timers.as_mut().map_or(0, Timers::fire_due);
        Woken { tasks, timers }
    }

    /// Ends every timer that has not fired, like [`Timers::shutdown`], after `shut_down_source` has
    /// shut down the event source.
    pub fn shutdown(&mut self, shut_down_source: impl FnOnce(&mut S)) {
        shut_down_source(&mut self.event_source);
        if let Some(timers) = &mut self.timers {
            timers.shutdown();
        }
    }

    /// Returns whether the clock may be advanced instead of waiting.
    fn may_auto_advance(&self) -> bool {
        let timers = self.timers.as_ref();
        self.unparked.is_some() && timers.is_some_and(Timers::may_auto_advance)
    }

    /// Advances the clock until a timer or event is ready. Returns what was woken, or `None` if no
    /// timer is set.
    fn auto_advance(&mut self, limit: usize) -> Option<Woken> {
        // Ready events come before future ones. Work that held the clock has unparked the driver
        // before it released the hold, so the flag is read last.
        let tasks = self.event_source.wait(Some(Duration::ZERO), limit);
        let unparked = self.unparked.as_ref();
        if tasks > 0 || unparked.is_some_and(|unparked| unparked.take()) {
            return Some(Woken { tasks, timers: 0 });
        }
        let timers = self.timers.as_mut().map_or(0, Timers::auto_advance);
        (timers > 0).then_some(Woken { tasks, timers })
    }

    /// Returns the next wait for a timer that is due after `left`.
    #[cold]
    fn special_wait(&self, timers: &Timers, left: Duration) -> Duration {
        let left = match timers.is_precise() {
            true => left,
            false => whole_milliseconds(left),
        };
        if timers.has_time_source() && !self.event_source.counts_suspended_time() {
            return left.min(MAX_UNCOUNTED_WAIT);
        }
        left
    }

    /// Returns `timeout`, limited by the next timer.
    fn until_deadline(&self, timeout: Option<Duration>) -> Option<Duration> {
        let Some(timers) = &self.timers else {
            return timeout;
        };
        if timeout == Some(Duration::ZERO) {
            return timeout;
        }
        let Some(deadline) = timers.next_deadline() else {
            return timeout;
        };
        let left = deadline.saturating_duration_since(timers.now());
        if !left.is_zero() && self.unparked.is_some() && timers.handle().is_paused() {
            // The call that resumes or advances the clock unparks the driver.
            return timeout;
        }
        let left = match timers.has_defaults() {
            true => whole_milliseconds(left),
            false => self.special_wait(timers, left),
        };
        Some(timeout.map_or(left, |timeout| timeout.min(left)))
    }
}

/// Rounds up: selectors count in milliseconds, and a driver that wakes too early would park again
/// at once.
fn whole_milliseconds(duration: Duration) -> Duration {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

impl<S> fmt::Debug for TimerDriver<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerDriver")
            .field("timers", &self.timers)
            .finish_non_exhaustive()
    }
}

impl Unparked {
    fn set(&self) {
        // ORDERING: pairs with `take`: the worker sees why it was unparked.
        self.0.store(true, Ordering::Release);
    }

    fn take(&self) -> bool {
        // ORDERING: pairs with `set`.
        self.0.swap(false, Ordering::Acquire)
    }
}

/// An event source without events, to wait only for timers and an unpark.
#[derive(Debug, Default)]
pub struct NoEvents(Arc<UnparkFlag>);

/// A flag that a thread can wait for. It stays set until a wait clears it.
#[derive(Debug)]
struct UnparkFlag {
    state: Mutex<FlagState>,
    condvar: Condvar,
}

#[derive(Debug, Default)]
struct FlagState {
    is_set: bool,
    /// Whether a thread waits for the condition variable. Each notification of one is a system
    /// call, even if no thread waits.
    has_waiter: bool,
}

impl Default for UnparkFlag {
    fn default() -> Self {
        let rank = Rank::leaf("unpark flag of a timer driver");
        Self {
            state: Mutex::ranked(rank, FlagState::default()),
            condvar: Condvar::new(),
        }
    }
}

impl EventSource for NoEvents {
    fn wait(&mut self, timeout: Option<Duration>, _limit: usize) -> usize {
        let flag = &*self.0;
        let mut state = flag.state.lock();
        // Even a wait that ends at once is a system call.
        if !state.is_set && timeout != Some(Duration::ZERO) {
            state.has_waiter = true;
            state = match timeout {
                None => flag.condvar.wait(state),
                Some(timeout) => flag.condvar.wait_timeout(state, timeout).0,
            };
        }
        *state = FlagState::default();
        0
    }

    fn unparker(&self) -> UnparkFn {
        let flag = Arc::clone(&self.0);
        std::sync::Arc::new(move || {
            let mut state = flag.state.lock();
            state.is_set = true;
            // The first of several unparks notifies.
            let has_waiter = std::mem::take(&mut state.has_waiter);
            drop(state);
            if has_waiter {
                flag.condvar.notify_one();
            }
        })
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
