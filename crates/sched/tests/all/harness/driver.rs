//! The driver of a run: its events and timers follow the virtual clock.

use std::sync::Arc;
use std::time::Duration;

use raddle_sched::{Driver, Unpark};

use super::world::{Event, State, World};

pub(crate) struct VirtualDriver {
    pub(crate) world: World,
    pub(crate) shard: usize,
}

impl Driver for VirtualDriver {
    fn park(&mut self, timeout: Option<Duration>, limit: usize) {
        assert_eq!(timeout, Some(Duration::ZERO), "the harness never blocks");
        let woken = self.world.with(|state| {
            let driver = &mut state.drivers[self.shard];
            driver.turns += 1;
            driver.unparked = false;
            let batch = limit.min(driver.due.len());
            let mut woken: Vec<_> = driver.due.drain(..batch).collect();
            let now = state.now;
            let timers = std::mem::take(&mut driver.timers);
            let (due, later): (Vec<_>, _) = timers.into_iter().partition(|timer| timer.0 <= now);
            driver.timers = later;
            woken.extend(due);
            woken
        });
        for (_, task, waker) in woken {
            self.world.wake(task, || waker.wake());
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(VirtualUnpark {
            world: self.world.clone(),
            shard: self.shard,
        })
    }

    fn shutdown(&mut self) {
        self.world
            .with(|state| state.drivers[self.shard].shutdowns += 1);
    }
}

struct VirtualUnpark {
    world: World,
    shard: usize,
}

impl Unpark for VirtualUnpark {
    fn unpark(&self) {
        self.world.with(|state| {
            if state.loses_unpark(self.shard) {
                state.note(Event::LostUnpark, 0);
            } else {
                state.note(Event::Unpark, self.shard);
                state.drivers[self.shard].unparked = true;
            }
        });
    }
}

impl State {
    /// Whether a worker that waits in the driver returns from it.
    pub(crate) fn driver_is_ready(&self, shard: usize) -> bool {
        let driver = &self.drivers[shard];
        driver.unparked
            || !driver.due.is_empty()
            || driver.timers.iter().any(|timer| timer.0 <= self.now)
    }

    fn loses_unpark(&mut self, shard: usize) -> bool {
        let lose_unpark_in = &mut self.drivers[shard].lose_unpark_in;
        match lose_unpark_in {
            Some(0) => {
                *lose_unpark_in = None;
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
