//! How a worker parks: the transitions of `docs/scheduler.md`, which are the same for a
//! worker that blocks its thread and for one that is stepped. Blocking is what a thread
//! does between two of them.

use std::cell::Cell;
use std::time::Duration;

use super::Core;
use crate::driver::BoxedDriver;
use crate::idle::{Duty, Parking};
use crate::parker::Place;
use crate::policy::Order;

/// A parked worker between two transitions: what it waits for.
pub(super) struct Parked {
    /// The driver, if the worker waits in it. No other worker finds it meanwhile.
    pub(super) driver: Option<BoxedDriver>,
    /// How long the wait takes at most.
    pub(super) timeout: Option<Duration>,
    /// Whether it looks at the others when the wait ends.
    is_monitor: bool,
    /// For how long the caller lets it park, whatever happens.
    limit: Option<Duration>,
}

impl Core {
    /// Blocks until there may be something to do, at most for `limit`.
    pub(crate) fn park(&self, limit: Option<Duration>) {
        let mut waiting = Waiting {
            core: self,
            parked: self.begin_park(limit),
        };
        if waiting.parked.is_none() {
            // Another worker may be in the middle of a steal.
            raddle_primitives::thread::yield_now();
        }
        while let Some(parked) = &mut waiting.parked {
            match &mut parked.driver {
                Some(driver) => self.run_driver(driver, parked.timeout),
                None => self.remote().parker.block(parked.timeout),
            }
            waiting.parked = waiting
                .parked
                .take()
                .and_then(|parked| self.end_wait(parked));
        }
    }

    /// From running or searching to parked. None if there is something to do after all.
    pub(super) fn begin_park(&self, limit: Option<Duration>) -> Option<Parked> {
        self.live.reclaim();
        if let Some(hook) = &self.shared.config.on_thread_park {
            hook();
            // The driver has its turn between steps.
            if self.made_ready() {
                return None;
            }
        }
        if !self.mark_parked() {
            return None;
        }
        self.looks.restart();
        // A worker that comes from running waits in the driver if it is free.
        self.begin_wait(limit, false, !self.leaves_driver_to_another())
    }

    /// Marks the worker as parked. False, and the worker is searching again, if
    /// there is work after all.
    fn mark_parked(&self) -> bool {
        let idle = &self.shared.idle;
        let parking = idle.transition_to_parked(self.index, self.searching.replace(false));
        let is_wanted = || {
            // CHECK: a task that came before its pusher could see that this worker is
            // parked.
            self.shared.has_work()
                // CHECK: the end. Each worker is unparked after it, and would
                // look again; this spares that park.
                || self.shared.is_closed()
        };
        if parking == Parking::LookAgain && is_wanted() {
            idle.cancel_parking(self.index);
            self.searching.set(true);
            if idle.was_monitor(self.index) {
                self.shared.elect_monitor();
            }
            return false;
        }
        self.counters.park();
        true
    }

    /// From parked to waiting, unless there is a reason not to.
    fn begin_wait(
        &self,
        limit: Option<Duration>,
        mut left_driver: bool,
        mut takes_driver: bool,
    ) -> Option<Parked> {
        loop {
            let lingers = self.looks.lingers();
            let duty = self.shared.idle.duty(self.index, lingers);
            if duty == Duty::Leave {
                return self.finish_park(left_driver);
            }
            let is_monitor = duty == Duty::Monitor;
            let interval = is_monitor.then(|| self.looks.interval());
            let parked = Parked {
                driver: takes_driver.then(|| self.take_driver()).flatten(),
                timeout: [limit, interval].into_iter().flatten().min(),
                is_monitor,
                limit,
            };
            left_driver = parked.driver.is_some();
            let place = match left_driver {
                true => Place::Driver,
                false => Place::Thread,
            };
            if left_driver {
                self.shared.set_host(Some(self.index));
            }
            if self.remote().parker.enter(place) {
                return Some(parked);
            }
            self.return_driver(parked.driver);
            if !self.stays_parked(limit, is_monitor) {
                return self.finish_park(left_driver);
            }
            takes_driver = left_driver || self.watches_over_stuck();
        }
    }

    /// From waiting to parked, and on to the next wait unless there is a reason not to.
    pub(super) fn end_wait(&self, parked: Parked) -> Option<Parked> {
        let Parked {
            is_monitor, limit, ..
        } = parked;
        let left_driver = parked.driver.is_some();
        self.leave_wait(parked);
        if !self.stays_parked(limit, is_monitor) {
            return self.finish_park(left_driver);
        }
        self.begin_wait(limit, left_driver, left_driver || self.watches_over_stuck())
    }

    /// Leaves the parker, and the driver if the worker was in it.
    fn leave_wait(&self, parked: Parked) {
        self.remote().parker.leave();
        self.return_driver(parked.driver);
    }

    /// Whether a worker whose wait has ended has no reason to stop parking. A
    /// monitor looks at the others.
    fn stays_parked(&self, limit: Option<Duration>, is_monitor: bool) -> bool {
        if limit.is_some()
            // CHECK: what the driver has just made ready, which no other worker may know of.
            || self.made_ready()
            // CHECK: the end, for which the worker was unparked.
            || self.shared.is_closed()
        {
            return false;
        }
        match is_monitor {
            true => !self.keep_watch(),
            // Elected as the monitor, or unparked for nothing: to leave would be to
            // have another elected. A worker without others may be wanted
            // by the thread that drives it.
            false => self.has_others,
        }
    }

    /// Ends the parking of a worker, whatever it waits for.
    pub(super) fn abort_park(&self, parked: Parked) {
        let left_driver = parked.driver.is_some();
        self.leave_wait(parked);
        let _running = self.finish_park(left_driver);
    }

    /// From parked to running, or to searching if the worker has been claimed.
    fn finish_park(&self, left_driver: bool) -> Option<Parked> {
        self.unmark_parked();
        self.counters.clock.start();
        self.counters.unparks.add(1);
        // A thread that claims a worker outside the driver elects no monitor, so that a task
        // from outside costs an idle pool one wake-up: see `mind_slot`.
        let idle = &self.shared.idle;
        let may_lack = left_driver || !self.searching.get() || idle.was_monitor(self.index);
        if may_lack && idle.lacks_monitor() {
            self.shared.elect_monitor();
        }
        self.notify_of_events();
        if let Some(hook) = &self.shared.config.on_thread_unpark {
            hook();
        }
        None
    }

    fn unmark_parked(&self) {
        let is_claimed = self.shared.idle.transition_to_running(self.index);
        self.searching.set(is_claimed);
    }
}

/// A worker that blocks its thread. A panic of the driver ends the parking.
struct Waiting<'a> {
    core: &'a Core,
    parked: Option<Parked>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(parked) = self.parked.take() {
            self.core.leave_wait(parked);
            self.core.unmark_parked();
        }
    }
}

/// The driver.
impl Core {
    /// Takes the driver, unless there is none or another worker has it.
    fn take_driver(&self) -> Option<BoxedDriver> {
        self.shared.driver.take()
    }

    fn return_driver(&self, driver: Option<BoxedDriver>) {
        if let Some(driver) = driver {
            let former = self.shared.driver.put(driver);
            debug_assert!(former.is_none(), "there is one driver");
        }
    }

    /// Waits in the driver at most for `timeout`. It makes tasks ready without waking
    /// others for each.
    pub(super) fn run_driver(&self, driver: &mut BoxedDriver, timeout: Option<Duration>) {
        self.in_driver.set(true);
        let _out = Clear(&self.in_driver);
        driver.park(timeout, self.event_limit());
    }

    /// Lets the driver wake what is ready, unless another worker has it.
    #[cold]
    pub(super) fn look_at_driver(&self) {
        self.yields.restart();
        let mut lent = LentDriver {
            core: self,
            driver: self.take_driver(),
        };
        let Some(driver) = &mut lent.driver else {
            return;
        };
        self.run_driver(driver, Some(Duration::ZERO));
        drop(lent);
        self.notify_of_events();
        if !self.remote().slot.is_empty() {
            self.mind_slot();
        }
    }

    /// Wakes another worker if events made more tasks ready than this one runs
    /// next, unless it gets through them before that would be worth while.
    fn notify_of_events(&self) {
        if !self.has_others || !self.made_more_ready() {
            return;
        }
        if self.order == Order::Common {
            self.shared.notify();
        } else if self.trusts(self.index) {
            // Should one of them make more work, a worker is notified of that.
            self.force_notify.set(true);
            self.shared.stealable.insert_unless_present(self.index);
        } else {
            self.shared.notify_of_push(self.index);
        }
    }

    /// Whether another worker, which has come out of the driver, will be back
    /// there soon. If both waited in it, by turns, both would be woken again and
    /// again for half as many events at a time.
    ///
    /// The caller is marked as parked. A host that is parked too may have found
    /// the driver taken, and wait, or be about to, on its own thread: it will not be back.
    /// So the last to be parked leaves the driver to no other.
    fn leaves_driver_to_another(&self) -> bool {
        self.shared.host().is_some_and(|host| {
            host != self.index && self.trusts(host) && !self.shared.idle.is_parked(host)
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

    /// How many events the driver may make tasks ready by: as many as the queue
    /// has room for. A full queue takes one nevertheless, lest tasks that are
    /// always ready keep the events out for ever. One that stays empty, since the
    /// tasks go elsewhere, gives its size.
    fn event_limit(&self) -> usize {
        self.queue.room().max(1)
    }
}

/// The driver in the hands of a worker that only looks at it. A panic gives it back.
struct LentDriver<'a> {
    core: &'a Core,
    driver: Option<BoxedDriver>,
}

impl Drop for LentDriver<'_> {
    fn drop(&mut self) {
        self.core.return_driver(self.driver.take());
    }
}

/// Clears a flag when it is dropped, also by a panic of the driver.
struct Clear<'a>(&'a Cell<bool>);

impl Drop for Clear<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
