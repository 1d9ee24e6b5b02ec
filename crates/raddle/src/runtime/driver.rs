//! Sockets and timers as the one thing a scheduler parks on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_sched::{Turn, Unpark};
use raddle_timer::driver::{Token, UnparkFn, Wait};

use crate::runtime::reactor::{self, Reactor};

/// The driver of a runtime.
pub(crate) struct Driver {
    driver: raddle_timer::driver::Driver<EventSource>,
    max_events: MaxEvents,
    last_turn: Turn,
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

/// The sources that a driver waits for, and whether it may wait in virtual time.
#[derive(Clone, Copy)]
pub(crate) struct Enabled {
    pub(crate) io: bool,
    /// In how many shards there are timers; none without any.
    pub(crate) timer_shards: usize,
    /// Whether the clock can be paused.
    pub(crate) pausable: bool,
    pub(crate) max_events: MaxEvents,
}

/// The place in which the driver waits.
enum EventSource {
    /// For events: with sockets enabled.
    Reactor(Reactor),
    /// For nothing but an unpark.
    Token(Token),
}

struct Unparker(UnparkFn);

impl Driver {
    /// # Errors
    ///
    /// If the system has no descriptor for the reactor.
    pub(crate) fn new(enabled: Enabled) -> io::Result<Self> {
        let place = match enabled.io {
            true => EventSource::Reactor(Reactor::new()?),
            false => EventSource::Token(Token::default()),
        };
        let Enabled {
            timer_shards,
            pausable,
            max_events,
            ..
        } = enabled;
        let driver = raddle_timer::driver::Driver::new(place, timer_shards, pausable);
        Ok(Self {
            driver,
            max_events,
            last_turn: Turn::default(),
        })
    }

    /// For each worker that has a shard of the timers to itself; else for all of
    /// them.
    pub(crate) fn handles(&self) -> Vec<DriverHandles> {
        let reactor = match self.driver.place() {
            EventSource::Reactor(reactor) => Some(reactor.handle()),
            EventSource::Token(_) => None,
        };
        let handles = |timers| DriverHandles {
            reactor: reactor.clone(),
            timers,
        };
        let sharded: Vec<_> = self
            .driver
            .handles()
            .map(|timers| handles(Some(timers)))
            .collect();
        match sharded.is_empty() {
            true => vec![handles(None)],
            false => sharded,
        }
    }

    /// Pauses the clock from the start.
    pub(crate) fn pause(&self) {
        if let Some(timers) = self.driver.handles().next() {
            timers.pause();
        }
    }
}

/// A driver as the scheduler takes it.
pub(crate) fn boxed(driver: Driver) -> Box<dyn raddle_sched::Driver> {
    Box::new(driver)
}

impl raddle_sched::Driver for Driver {
    fn park(&mut self, timeout: Option<Duration>, limit: usize) {
        let max_events = match timeout {
            Some(Duration::ZERO) => self.max_events.busy,
            _ => self.max_events.waiting,
        };
        let woken = self.driver.park(timeout, limit.min(max_events));
        self.last_turn = Turn {
            events: woken.tasks,
            timers: woken.timers,
        };
    }

    fn last_turn(&self) -> Turn {
        self.last_turn
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(Unparker(self.driver.unparker()))
    }

    fn shutdown(&mut self) {
        self.driver.shutdown(|place| {
            if let EventSource::Reactor(reactor) = place {
                reactor.shutdown();
            }
        });
    }
}

impl Wait for EventSource {
    fn wait(&mut self, timeout: Option<Duration>, limit: usize) -> usize {
        match self {
            EventSource::Reactor(reactor) => match reactor.turn(timeout, limit) {
                Ok(dispatched) => dispatched,
                // The selector's descriptor is not what it was.
                Err(error) => {
                    panic!(
                        "the reactor cannot wait for events: {error}; do not close its descriptor"
                    )
                }
            },
            EventSource::Token(token) => token.wait(timeout, limit),
        }
    }

    fn unparker(&self) -> UnparkFn {
        match self {
            EventSource::Reactor(reactor) => {
                let reactor = reactor.handle();
                Arc::new(move || reactor.unpark())
            }
            EventSource::Token(token) => token.unparker(),
        }
    }
}

impl Unpark for Unparker {
    fn unpark(&self) {
        (self.0)();
    }
}
