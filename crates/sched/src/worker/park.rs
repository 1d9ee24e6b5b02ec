//! How a worker blocks, and its dealings with the driver.

use std::time::Duration;

use super::Core;
use crate::driver::Driver;
use crate::idle::{Duty, Parking};

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
        if !self.searching.get() {
            // Nobody woke this worker, so nobody has seen to the watch.
            self.shared.appoint_watcher();
        }
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
        self.watch.borrow_mut().begin();
        // A worker that comes from running waits in the driver if it is free.
        let mut takes_driver = true;
        loop {
            let watches = match self.shared.idle.duty(self.index) {
                Duty::Leave => return,
                Duty::Sleep => false,
                Duty::Watch => true,
            };
            takes_driver = self.wait(timeout, watches, takes_driver);
            let made_ready = !self.queue.is_empty() || !self.remote().slot.is_empty();
            if made_ready || timeout.is_some() || self.shared.is_closed() {
                return;
            }
            let goes_on = match watches {
                true => !self.keep_watch(),
                // Appointed to keep watch, or for nothing: to leave would be to
                // have another appointed. A worker without others may be wanted
                // by the thread that drives it.
                false => self.shared.remotes.len() > 1,
            };
            if !goes_on {
                return;
            }
            takes_driver |= self.watches_over_stuck();
        }
    }

    /// Blocks once, a watcher for a moment. Whether it was in the driver.
    fn wait(&self, timeout: Option<Duration>, watches: bool, takes_driver: bool) -> bool {
        let parker = &self.remote().parker;
        let timeout = match watches {
            true => {
                let interval = self.watch.borrow().interval();
                Some(timeout.map_or(interval, |timeout| timeout.min(interval)))
            }
            false => timeout,
        };
        let was_in_driver = takes_driver
            && self.with_driver(|driver| {
                parker.park_on_driver(driver, timeout, self.event_limit());
            });
        if !was_in_driver {
            parker.park_on_thread(timeout);
        }
        was_in_driver
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
