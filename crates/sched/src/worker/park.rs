//! How a worker blocks, and its dealings with the driver.

use std::time::Duration;

use super::Core;
use crate::driver::Driver;
use crate::idle::{Duty, Parking};
use crate::policy::Order;

/// What a parked worker does next.
pub(super) struct Wait {
    /// Whether it looks after the others when the wait ends.
    pub(super) watches: bool,
    /// How long the wait takes at most.
    pub(super) timeout: Option<Duration>,
}

impl Core {
    /// Blocks until there may be something to do, at most for `timeout`.
    pub(crate) fn park(&self, timeout: Option<Duration>) {
        if !self.prepare_park() {
            return;
        }
        if !self.begin_park() {
            // Another worker may be in the middle of a steal.
            raddle_std::thread::yield_now();
            return;
        }
        let left_driver = self.block(timeout);
        self.after_park(left_driver);
    }

    /// What precedes parking. False if it made work.
    pub(super) fn prepare_park(&self) -> bool {
        self.live.reclaim();
        if let Some(hook) = &self.shared.config.on_thread_park {
            hook();
            // The driver has its turn between steps.
            return !self.made_ready();
        }
        true
    }

    /// What follows parking, off the list.
    pub(super) fn after_park(&self, left_driver: bool) {
        self.counters.clock.start();
        self.counters.unparks.add(1);
        // Unless somebody woke this worker, nobody has seen to the watch; nor if
        // that was between the worker's leaving the driver and the list.
        if (left_driver || !self.searching.get()) && self.shared.idle.lacks_watch() {
            self.shared.appoint_watcher();
        }
        self.tell_of_events();
        if let Some(hook) = &self.shared.config.on_thread_unpark {
            hook();
        }
    }

    /// Lists the worker as parked. False, and the worker is searching again, if
    /// there is work after all.
    pub(super) fn begin_park(&self) -> bool {
        let parking = self
            .shared
            .idle
            .park(self.index, self.searching.replace(false));
        let is_wanted = || {
            // CHECK: a task that came before its pusher could see this worker
            // on the list.
            self.shared.has_work()
                // CHECK: the end. Each worker is unparked after it, and would
                // look again; this spares that park.
                || self.shared.is_closed()
        };
        if parking == Parking::LookAgain && is_wanted() {
            let was_watcher = self.shared.idle.unpark_to_search(self.index);
            self.searching.set(true);
            if was_watcher {
                self.shared.appoint_watcher();
            }
            return false;
        }
        self.counters.park();
        true
    }

    /// Blocks, listed as parked, and takes the worker off the list again.
    /// Whether it was in the driver last.
    fn block(&self, timeout: Option<Duration>) -> bool {
        let _unpark = OnDrop(|| self.unlist());
        self.watch.borrow_mut().begin();
        let mut was_in_driver = false;
        // A worker that comes from running waits in the driver if it is free.
        let mut takes_driver = !self.leaves_driver_to_another();
        while let Some(wait) = self.next_wait(timeout) {
            was_in_driver = self.wait(wait.timeout, takes_driver);
            if timeout.is_some() || !self.stays_parked(wait.watches) {
                break;
            }
            takes_driver = was_in_driver || self.watches_over_stuck();
        }
        was_in_driver
    }

    /// Takes the worker off the list of the parked.
    pub(super) fn unlist(&self) {
        self.searching.set(self.shared.idle.unpark(self.index));
    }

    /// How a parked worker waits: a watcher for a moment. None if another has
    /// taken it off the list.
    pub(super) fn next_wait(&self, timeout: Option<Duration>) -> Option<Wait> {
        let lingers = self.watch.borrow().lingers();
        match self.shared.idle.duty(self.index, lingers) {
            Duty::Leave => None,
            Duty::Sleep => Some(Wait {
                watches: false,
                timeout,
            }),
            Duty::Watch => {
                let interval = self.watch.borrow().interval();
                Some(Wait {
                    watches: true,
                    timeout: Some(timeout.map_or(interval, |timeout| timeout.min(interval))),
                })
            }
        }
    }

    /// Whether a worker whose wait has ended has no reason to stop parking. A
    /// watcher looks after the others.
    pub(super) fn stays_parked(&self, watches: bool) -> bool {
        // CHECK: what the driver has just made ready, which nobody else may know of.
        if self.made_ready()
            // CHECK: the end, for which the worker was unparked.
            || self.shared.is_closed()
        {
            return false;
        }
        match watches {
            true => !self.keep_watch(),
            // Appointed to keep watch, or for nothing: to leave would be to
            // have another appointed. A worker without others may be wanted
            // by the thread that drives it.
            false => self.shared.remotes.len() > 1,
        }
    }

    /// Blocks once. Whether it was in the driver.
    fn wait(&self, timeout: Option<Duration>, takes_driver: bool) -> bool {
        let parker = &self.remote().parker;
        let was_in_driver = takes_driver
            && self.with_driver(|driver| {
                self.shared.set_host(Some(self.index));
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
        self.yields.restart();
        if self.with_driver(|driver| driver.park(Some(Duration::ZERO), self.event_limit())) {
            self.tell_of_events();
            if !self.remote().slot.is_empty() {
                self.mind_slot();
            }
        }
    }

    /// Wakes another worker if events made more tasks ready than this one runs
    /// next, unless it gets through them before that would be worth while.
    fn tell_of_events(&self) {
        if !self.made_more_ready() {
            return;
        }
        if self.trusts(self.index) {
            // Should one of them make more work, a worker is notified of that.
            self.force_notify.set(true);
        } else {
            self.shared.notify();
        }
    }

    /// Whether another worker, which has come out of the driver, will be back
    /// there soon. If both waited in it, by turns, both would be woken again and
    /// again for half as many events at a time.
    ///
    /// The caller is listed as parked. A host that is listed too may have found
    /// the driver taken, and wait, or be about to, on its own thread: it will not be back.
    /// So the last to be listed leaves the driver to nobody.
    fn leaves_driver_to_another(&self) -> bool {
        self.shared.host().is_some_and(|host| {
            host != self.index && self.trusts(host) && !self.shared.idle.is_listed(host)
        })
    }

    /// Whether a worker needs no help with what is in its queue, as far as its
    /// past says. Who is not there any more when that turns out to be wrong is
    /// found out by the watch.
    pub(super) fn trusts(&self, worker: usize) -> bool {
        self.timed.get()
            && self.order == Order::Slot
            && self.shared.config.keeps_watch
            && self.shared.remotes[worker].keeps_up()
    }

    /// Lends the driver, unless there is none or another worker has it.
    fn with_driver(&self, f: impl FnOnce(&mut dyn Driver)) -> bool {
        let Some(mut driver) = self.shared.driver.try_lock() else {
            return false;
        };
        let Some(driver) = driver.as_deref_mut() else {
            return false;
        };
        self.inside_driver(|| f(driver));
        true
    }

    /// Runs a turn of the driver, which wakes others once, when it is through.
    pub(super) fn inside_driver(&self, turn: impl FnOnce()) {
        self.in_driver.set(true);
        let _out = OnDrop(|| self.in_driver.set(false));
        turn();
    }

    /// How many events the driver may make tasks ready by: as many as the queue
    /// has room for. A full queue takes one nevertheless, lest tasks that are
    /// always ready keep the events out for ever. One that stays empty, since the
    /// tasks go elsewhere, gives its size.
    pub(super) fn event_limit(&self) -> usize {
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

#[cfg(all(test, not(raddle_loom)))]
mod tests;
