//! Sockets and timers as the one thing a scheduler parks on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_sched::Unpark;
use raddle_std::sync::atomic::{AtomicBool, Ordering};
use raddle_std::sync::{Condvar, Mutex, Rank};
use raddle_timer::Timers;

use crate::runtime::reactor::{self, Reactor};

/// What a runtime waits with.
pub(crate) struct Driver {
    place: Place,
    timers: Option<Timers>,
    unparked: Option<Arc<Unparked>>,
    max_events: MaxEvents,
}

/// How many events a driver takes from the selector at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxEvents {
    /// When it waits for them.
    pub(crate) waiting: usize,
    /// When the worker is busy and only looks for them.
    pub(crate) busy: usize,
}

/// References to what a driver consists of, as far as it is enabled.
pub(crate) struct DriverHandles {
    pub(crate) reactor: Option<reactor::Handle>,
    pub(crate) timers: Option<raddle_timer::Handle>,
}

/// What a driver waits for, and whether it may be made to wait in virtual time.
#[derive(Clone, Copy)]
pub(crate) struct Enabled {
    pub(crate) io: bool,
    /// In how many shards there are timers; none without any.
    pub(crate) timer_shards: usize,
    /// Whether the clock can be paused.
    pub(crate) pausable: bool,
    pub(crate) max_events: MaxEvents,
}

/// Set when the driver is unparked, which is a reason not to move a paused clock
/// on; cleared by the driver when it has heeded that.
#[derive(Default)]
struct Unparked(AtomicBool);

/// Where the driver waits.
enum Place {
    /// For events: with sockets enabled.
    Reactor(Reactor),
    /// For nothing but an unpark.
    Token(Arc<Token>),
}

/// Wakes the place where the driver waits.
struct Unparker {
    place: UnparkPlace,
    unparked: Option<Arc<Unparked>>,
}

enum UnparkPlace {
    Reactor(reactor::Handle),
    Token(Arc<Token>),
}

/// A flag that can be waited for, and stays set until it has been.
struct Token {
    set: Mutex<bool>,
    condvar: Condvar,
}

impl Default for Token {
    fn default() -> Self {
        Self {
            set: Mutex::ranked(Rank::leaf("token of the driver"), false),
            condvar: Condvar::new(),
        }
    }
}

impl Driver {
    /// # Errors
    ///
    /// If the system has no descriptor for the reactor.
    pub(crate) fn new(enabled: Enabled) -> io::Result<Self> {
        let mut driver = Self {
            place: match enabled.io {
                true => Place::Reactor(Reactor::new()?),
                false => Place::Token(Arc::default()),
            },
            timers: None,
            unparked: enabled.pausable.then(Arc::default),
            max_events: enabled.max_events,
        };
        if enabled.timer_shards > 0 {
            let unparker = driver.make_unparker();
            let unpark = Arc::new(move || unparker.unpark());
            driver.timers = Some(Timers::sharded(enabled.timer_shards, unpark));
        }
        Ok(driver)
    }

    fn make_unparker(&self) -> Unparker {
        Unparker {
            place: self.place.unparker(),
            unparked: self.unparked.clone(),
        }
    }

    /// For each worker that has a shard of the timers to itself; else for all of
    /// them.
    pub(crate) fn handles(&self) -> Vec<DriverHandles> {
        let reactor = match &self.place {
            Place::Reactor(reactor) => Some(reactor.handle()),
            Place::Token(_) => None,
        };
        let handles = |timers| DriverHandles {
            reactor: reactor.clone(),
            timers,
        };
        match &self.timers {
            Some(timers) => timers
                .handles()
                .map(|timers| handles(Some(timers)))
                .collect(),
            None => vec![handles(None)],
        }
    }

    /// Pauses the clock from the start.
    pub(crate) fn pause(&self) {
        if let Some(timers) = &self.timers {
            timers.handle().pause();
        }
    }

    /// Whether time may be made to pass in place of waiting.
    fn may_auto_advance(&self) -> bool {
        self.unparked.is_some()
            && self
                .timers
                .as_ref()
                .is_some_and(|timers| timers.may_auto_advance())
    }

    /// Has time pass until something is ready, and says whether anything is: not
    /// if no timer is set.
    fn auto_advance(&mut self, limit: usize) -> bool {
        // What is ready already comes before what will be. Work that held the
        // clock has unparked before it let go, so the flag is looked at last.
        if self.place.wait(Some(Duration::ZERO), limit) > 0 {
            return true;
        }
        if let Some(unparked) = &self.unparked
            && unparked.take()
        {
            return true;
        }
        let timers = self.timers.as_mut();
        timers.is_some_and(|timers| timers.auto_advance() > 0)
    }

    /// `timeout`, cut short by the next timer.
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
            // Whoever lets time pass unparks.
            return timeout;
        }
        let left = whole_milliseconds(left);
        Some(timeout.map_or(left, |timeout| timeout.min(left)))
    }
}

/// A driver as the scheduler takes it.
pub(crate) fn boxed(driver: Driver) -> Box<dyn raddle_sched::Driver> {
    Box::new(driver)
}

/// Rounded up: the selector counts in milliseconds, and to wake up early would
/// be to park again at once.
fn whole_milliseconds(duration: Duration) -> Duration {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

impl raddle_sched::Driver for Driver {
    fn park(&mut self, timeout: Option<Duration>, limit: usize) {
        let waits = timeout != Some(Duration::ZERO);
        let limit = limit.min(match waits {
            true => self.max_events.waiting,
            false => self.max_events.busy,
        });
        if waits && self.may_auto_advance() && self.auto_advance(limit) {
            return;
        }
        let timeout = self.until_deadline(timeout);
        self.place.wait(timeout, limit);
        if let Some(timers) = &mut self.timers {
            timers.fire_due();
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(self.make_unparker())
    }

    fn shutdown(&mut self) {
        if let Place::Reactor(reactor) = &mut self.place {
            reactor.shutdown();
        }
        if let Some(timers) = &mut self.timers {
            timers.shutdown();
        }
    }
}

impl Place {
    /// Waits, and says how many tasks were woken by events.
    fn wait(&mut self, timeout: Option<Duration>, limit: usize) -> usize {
        match self {
            Place::Reactor(reactor) => match reactor.turn(timeout, limit) {
                Ok(dispatched) => dispatched,
                // The selector's descriptor is not what it was.
                Err(error) => {
                    panic!("the reactor cannot wait for events; let its descriptor be: {error}")
                }
            },
            Place::Token(token) => {
                token.park(timeout);
                0
            }
        }
    }

    fn unparker(&self) -> UnparkPlace {
        match self {
            Place::Reactor(reactor) => UnparkPlace::Reactor(reactor.handle()),
            Place::Token(token) => UnparkPlace::Token(Arc::clone(token)),
        }
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

impl Unpark for Unparker {
    fn unpark(&self) {
        if let Some(unparked) = &self.unparked {
            unparked.set();
        }
        match &self.place {
            UnparkPlace::Reactor(reactor) => reactor.unpark(),
            UnparkPlace::Token(token) => token.unpark(),
        }
    }
}

impl Token {
    /// Waits until the flag is set, at most `timeout`, and clears it. May
    /// return early.
    fn park(&self, timeout: Option<Duration>) {
        let mut set = self.set.lock();
        if !*set {
            set = match timeout {
                None => self.condvar.wait(set),
                Some(timeout) => self.condvar.wait_timeout(set, timeout).0,
            };
        }
        *set = false;
    }

    fn unpark(&self) {
        *self.set.lock() = true;
        self.condvar.notify_one();
    }
}
