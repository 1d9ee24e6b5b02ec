//! Sockets and timers as the one thing a scheduler parks on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_reactor::Reactor;
use raddle_sched::Unpark;
use raddle_std::sync::{Condvar, Mutex};
use raddle_timer::Timers;

/// What a runtime waits with.
pub(crate) struct Driver {
    place: Place,
    timers: Option<Timers>,
}

/// References to what a driver consists of, as far as it is enabled.
pub(crate) struct DriverHandles {
    pub(crate) reactor: Option<raddle_reactor::Handle>,
    pub(crate) timers: Option<raddle_timer::Handle>,
}

/// Where the driver waits.
enum Place {
    /// For events: with sockets enabled.
    Reactor(Reactor),
    /// For nothing but an unpark.
    Token(Arc<Token>),
}

/// Wakes the place where the driver waits.
enum Unparker {
    Reactor(raddle_reactor::Handle),
    Token(Arc<Token>),
}

/// A flag that can be waited for, and stays set until it has been.
#[derive(Default)]
struct Token {
    set: Mutex<bool>,
    condvar: Condvar,
}

impl Driver {
    /// # Errors
    ///
    /// If the system has no descriptor for the reactor.
    pub(crate) fn new(io: bool, time: bool) -> io::Result<Self> {
        let place = match io {
            true => Place::Reactor(Reactor::new()?),
            false => Place::Token(Arc::default()),
        };
        let unparker = place.unparker();
        let timers = time.then(|| Timers::new(Arc::new(move || unparker.unpark())));
        Ok(Self { place, timers })
    }

    pub(crate) fn handles(&self) -> DriverHandles {
        DriverHandles {
            reactor: match &self.place {
                Place::Reactor(reactor) => Some(reactor.handle()),
                Place::Token(_) => None,
            },
            timers: self.timers.as_ref().map(Timers::handle),
        }
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
        let left = deadline.saturating_duration_since(timers.handle().now());
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
        let timeout = self.until_deadline(timeout);
        match &mut self.place {
            Place::Reactor(reactor) => {
                if let Err(error) = reactor.turn(timeout, limit) {
                    // The selector's descriptor is not what it was.
                    panic!("the reactor cannot wait for events; let its descriptor be: {error}");
                }
            }
            Place::Token(token) => token.park(timeout),
        }
        if let Some(timers) = &mut self.timers {
            timers.fire_due();
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(self.place.unparker())
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
    fn unparker(&self) -> Unparker {
        match self {
            Place::Reactor(reactor) => Unparker::Reactor(reactor.handle()),
            Place::Token(token) => Unparker::Token(Arc::clone(token)),
        }
    }
}

impl Unpark for Unparker {
    fn unpark(&self) {
        match self {
            Unparker::Reactor(reactor) => reactor.unpark(),
            Unparker::Token(token) => token.unpark(),
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
