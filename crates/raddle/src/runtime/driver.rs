//! The driver in which the workers of a runtime park: sockets and timers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_sched::{Turn, Unpark};
use raddle_timer::driver::{EventSource, NoEvents, TimerDriver, UnparkFn};

use crate::runtime::reactor::{self, Reactor, TimeoutClock};

/// Sockets, if they are enabled, and timers, as a driver of the scheduler.
pub(crate) struct RuntimeDriver {
    driver: TimerDriver<RuntimeEvents>,
    settings: Settings,
    last_turn: Turn,
    /// Set if the reactor delivers the signals of the process.
    #[cfg(all(feature = "signal", unix))]
    signals: Option<raddle_process::signal::Attached>,
}

/// The handles of the parts of a driver that are enabled.
pub(crate) struct DriverHandles {
    pub(crate) reactor: Option<reactor::Handle>,
    pub(crate) timers: Option<raddle_timer::Handle>,
}

/// The settings of a driver.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) io: bool,
    pub(crate) time: bool,
    /// Whether the clock starts paused.
    pub(crate) start_paused: bool,
    pub(crate) timer_resolution: Duration,
    pub(crate) include_suspended_time: bool,
    /// The maximum number of events that the driver takes from the selector at a time.
    pub(crate) max_events: usize,
    /// The maximum while the worker is busy and does not wait for events.
    pub(crate) max_busy_events: Option<usize>,
}

/// The resolution of the selectors.
const MILLISECOND: Duration = Duration::from_millis(1);

impl Settings {
    fn reactor(&self) -> io::Result<Reactor> {
        let clock = match (self.time, self.include_suspended_time) {
            (true, true) => TimeoutClock::CountsSuspendedTime,
            (true, false) if self.timer_resolution < MILLISECOND => TimeoutClock::Precise,
            _ => return Reactor::new(),
        };
        Reactor::with_timeout_clock(clock)
    }

    /// Returns the settings of timers in `shards` shards.
    fn timers(&self, shards: usize) -> raddle_timer::Config {
        let config = raddle_timer::Config::new()
            .shards(shards)
            .resolution(self.timer_resolution);
        match self.include_suspended_time {
            true => config.include_suspended_time(),
            false => config,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            io: false,
            time: false,
            start_paused: false,
            timer_resolution: MILLISECOND,
            include_suspended_time: false,
            max_events: 1024,
            max_busy_events: None,
        }
    }
}

/// The event source in which the driver waits.
enum RuntimeEvents {
    /// Waits for events: sockets are enabled.
    Reactor(Reactor),
    /// Waits only for an unpark.
    Unpark(NoEvents),
}

struct Unparker(UnparkFn);

impl RuntimeDriver {
    /// Makes a driver with a timer shard for each of `workers` workers.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no descriptor for the reactor.
    pub(crate) fn new(settings: Settings, workers: usize, is_pausable: bool) -> io::Result<Self> {
        let event_source = match settings.io {
            true => RuntimeEvents::Reactor(settings.reactor()?),
            false => RuntimeEvents::Unpark(NoEvents::default()),
        };
        let timer_shards = if settings.time { workers } else { 0 };
        let config = settings.timers(timer_shards);
        let driver = TimerDriver::with_config(event_source, config, is_pausable);
        if settings.start_paused {
            driver.handles().for_each(|timers| timers.pause());
        }
        Ok(Self {
            driver,
            settings,
            last_turn: Turn::default(),
            #[cfg(all(feature = "signal", unix))]
            signals: None,
        })
    }

    /// Lets the reactor, if there is one, deliver the signals of the process and take the exit
    /// statuses of dropped children.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no descriptors for the signals.
    pub(crate) fn attach_signals(&mut self) -> io::Result<()> {
        #[cfg(all(feature = "signal", unix))]
        if let RuntimeEvents::Reactor(reactor) = self.driver.event_source() {
            self.signals = Some(raddle_process::signal::attach(&reactor.handle())?);
        }
        Ok(())
    }

    /// Returns the handles of each worker that has a timer shard; without timers, those of all
    /// workers together.
    pub(crate) fn handles(&self) -> Vec<DriverHandles> {
        let reactor = match self.driver.event_source() {
            RuntimeEvents::Reactor(reactor) => Some(reactor.handle()),
            RuntimeEvents::Unpark(_) => None,
        };
        let mut timers: Vec<_> = self.driver.handles().map(Some).collect();
        if timers.is_empty() {
            timers.push(None);
        }
        let handles = |timers| DriverHandles {
            reactor: reactor.clone(),
            timers,
        };
        timers.into_iter().map(handles).collect()
    }
}

impl raddle_sched::Driver for RuntimeDriver {
    fn park(&mut self, timeout: Option<Duration>, limit: usize) {
        let max_events = match (timeout, self.settings.max_busy_events) {
            (Some(Duration::ZERO), Some(busy)) => busy,
            _ => self.settings.max_events,
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
        self.driver.shutdown(|event_source| {
            if let RuntimeEvents::Reactor(reactor) = event_source {
                reactor.shutdown();
            }
        });
    }
}

impl EventSource for RuntimeEvents {
    fn wait(&mut self, timeout: Option<Duration>, limit: usize) -> usize {
        match self {
            RuntimeEvents::Reactor(reactor) => match reactor.turn(timeout, limit) {
                Ok(dispatched) => dispatched,
                // The program has closed or replaced the selector's descriptor.
                Err(error) => {
                    panic!(
                        "the reactor cannot wait for events: {error}; do not close its descriptor"
                    )
                }
            },
            RuntimeEvents::Unpark(source) => source.wait(timeout, limit),
        }
    }

    fn unparker(&self) -> UnparkFn {
        match self {
            RuntimeEvents::Reactor(reactor) => {
                let reactor = reactor.handle();
                Arc::new(move || reactor.unpark())
            }
            RuntimeEvents::Unpark(source) => source.unparker(),
        }
    }

    fn counts_suspended_time(&self) -> bool {
        match self {
            RuntimeEvents::Reactor(reactor) => reactor.counts_suspended_time(),
            RuntimeEvents::Unpark(source) => source.counts_suspended_time(),
        }
    }
}

impl Unpark for Unparker {
    fn unpark(&self) {
        (self.0)();
    }
}
