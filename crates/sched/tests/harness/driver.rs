//! The driver of a run: events and timers of the virtual clock.

use std::sync::Arc;
use std::time::Duration;

use raddle_sched::{Driver, Unpark};

use super::world::{Event, State, World};

pub(crate) struct VirtualDriver(pub(crate) World);

impl Driver for VirtualDriver {
    fn park(&mut self, timeout: Option<Duration>, limit: usize) {
        assert_eq!(timeout, Some(Duration::ZERO), "the harness never blocks");
        let woken = self.0.with(|state| {
            let driver = &mut state.driver;
            driver.turns += 1;
            driver.unparked = false;
            let batch = limit.min(driver.due.len());
            let mut woken: Vec<_> = driver.due.drain(..batch).collect();
            let now = state.now;
            woken.extend(driver.timers.extract_if(.., |timer| timer.0 <= now));
            woken
        });
        for (_, task, waker) in woken {
            self.0.wake(task, || waker.wake());
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(VirtualUnpark(self.0.clone()))
    }

    fn shutdown(&mut self) {
        self.0.with(|state| state.driver.shutdowns += 1);
    }
}

struct VirtualUnpark(World);

impl Unpark for VirtualUnpark {
    fn unpark(&self) {
        self.0.with(|state| {
            if state.swallows() {
                state.note(Event::Swallowed, 0);
            } else {
                state.note(Event::Unpark, 0);
                state.driver.unparked = true;
            }
        });
    }
}

impl State {
    /// Whether a worker that waits in the driver comes out of it.
    pub(crate) fn driver_is_ready(&self) -> bool {
        let driver = &self.driver;
        driver.unparked
            || !driver.due.is_empty()
            || driver.timers.iter().any(|timer| timer.0 <= self.now)
    }

    fn swallows(&mut self) -> bool {
        match &mut self.driver.swallow_in {
            Some(0) => {
                self.driver.swallow_in = None;
                true
            }
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }
}
