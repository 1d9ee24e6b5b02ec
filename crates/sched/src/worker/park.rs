//! How a worker blocks, and its dealings with the driver.

use std::time::Duration;

use super::Core;
use crate::driver::Driver;
use crate::idle::Parking;

impl Core {
    /// Blocks until there may be something to do, at most for `timeout`.
    pub(crate) fn park(&self, timeout: Option<Duration>) {
        self.collect_completed();
        if let Some(hook) = &self.shared.config.on_thread_park {
            hook();
            if !self.queue.is_empty() || !self.remote().slot.is_empty() {
                // The hook made work; the driver has its turn between steps.
                return;
            }
        }
        if !self.begin_park() {
            // Another worker may be in the middle of a steal.
            raddle_std::thread::yield_now();
            return;
        }
        self.block(timeout);
        if !self.queue.is_empty() {
            self.shared.notify();
        }
        if let Some(hook) = &self.shared.config.on_thread_unpark {
            hook();
        }
    }

    /// Lists the worker as parked. False, and the worker is searching again, if
    /// there is work after all.
    fn begin_park(&self) -> bool {
        let parking = self
            .shared
            .idle
            .park(self.index, self.searching.replace(false));
        if parking == Parking::LookAgain && (self.shared.has_work() || self.shared.is_closed()) {
            self.shared.idle.unpark_to_search(self.index);
            self.searching.set(true);
            return false;
        }
        true
    }

    /// Blocks, listed as parked, and takes the worker off the list again.
    fn block(&self, timeout: Option<Duration>) {
        let _unpark = OnDrop(|| {
            self.searching.set(self.shared.idle.unpark(self.index));
        });
        let parker = &self.remote().parker;
        if !self.with_driver(|driver| parker.park_on_driver(driver, timeout, self.event_limit())) {
            parker.park_on_thread(timeout);
        }
    }

    /// Lets the driver wake what is ready, unless another worker has it.
    #[cold]
    pub(super) fn look_at_driver(&self) {
        if self.with_driver(|driver| driver.park(Some(Duration::ZERO), self.event_limit()))
            && !self.queue.is_empty()
        {
            self.shared.notify();
        }
    }

    /// Lends the driver, unless there is none or another worker has it.
    fn with_driver(&self, f: impl FnOnce(&mut dyn Driver)) -> bool {
        let Some(mut driver) = self.shared.driver.try_lock() else {
            return false;
        };
        let Some(driver) = driver.as_deref_mut() else {
            return false;
        };
        self.in_driver.set(true);
        let _out = OnDrop(|| self.in_driver.set(false));
        f(driver);
        true
    }

    /// How many events the driver may make tasks ready by: as many as the queue
    /// has room for. A full queue takes one nevertheless, lest tasks that are
    /// always ready keep the events out for ever.
    fn event_limit(&self) -> usize {
        self.queue.room().max(1)
    }
}

/// Runs a function when it is dropped, also by a panic of a hook or the driver.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
