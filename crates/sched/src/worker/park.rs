//! A parked worker, and the transitions between its states: `docs/scheduler.md`, parking.
//!
//! They are the same for a worker that blocks its thread and for one that is stepped. Blocking is
//! what a thread does between two of them.

use scopeguard::guard;

use super::driver;
use super::queues::{EventOrder, Queues};
use crate::driver::BoxedDriver;
use crate::idle::{BlockedOn, Parking};

/// A worker that is marked as parked: what it waits for.
pub(crate) struct Parked {
    /// The driver, if the worker waits in it. No other worker finds it meanwhile.
    pub(crate) driver: Option<BoxedDriver>,
}

/// Blocks until a worker that has begun to park stops parking.
pub(super) fn block(queues: &Queues, parked: Option<Parked>) {
    // A panic of the driver ends the parking.
    let mut blocked = guard(parked, |parked| {
        if let Some(mut parked) = parked {
            parked.leave_wait(queues);
            unmark_parked(queues);
        }
    });
    if blocked.is_none() {
        // Another worker may be in the middle of a steal.
        raddle_primitives::thread::yield_now();
    }
    while let Some(parked) = &mut *blocked {
        let until_release = raddle_task::memory::release_unused();
        match &mut parked.driver {
            Some(driver) => driver::run(queues, driver, until_release, EventOrder::Behind),
            None => queues.peer().parker.block(until_release),
        }
        let parked = blocked.take();
        *blocked = parked.and_then(|parked| parked.end_wait(queues));
    }
}

impl Parked {
    /// From running or searching to parked. None if there is something to do after all.
    pub(crate) fn begin(queues: &Queues) -> Option<Self> {
        let shard = &queues.shard;
        if let Some(hook) = &shard.config.on_thread_park {
            hook();
        }
        // CHECK: a task that the hook has queued, or that a caller which steps the worker has left
        // in its queue. The driver has its turn between steps.
        if queues.has_queued() || !mark_parked(queues) {
            call_unpark_hook(queues);
            return None;
        }
        queues.notify_observer(|observer, worker| observer.worker_parked(worker));
        Self { driver: None }.begin_wait(queues)
    }

    /// From parked to waiting, unless there is a reason not to. The worker waits in the driver if
    /// that is free, also while a spare worker attends it: that one may be in a poll.
    fn begin_wait(mut self, queues: &Queues) -> Option<Self> {
        let shard = &queues.shard;
        while should_stay_parked(queues) {
            self.driver = shard.driver.take();
            let blocked_on = match self.driver {
                Some(_) => {
                    shard.set_last_poller(queues.index);
                    BlockedOn::Driver
                }
                None => BlockedOn::Parker,
            };
            if queues.peer().parker.enter(blocked_on) {
                return Some(self);
            }
            shard.return_driver(self.driver.take());
            if !queues.has_others {
                break;
            }
        }
        finish(queues);
        None
    }

    /// From waiting to parked, and on to the next wait unless there is a reason not to.
    pub(crate) fn end_wait(mut self, queues: &Queues) -> Option<Self> {
        self.leave_wait(queues);
        // The only worker of a scheduler stops parking: the thread that drives it may have been
        // woken for its future.
        if queues.has_others {
            return self.begin_wait(queues);
        }
        finish(queues);
        None
    }

    /// Ends the parking of a worker, whatever it waits for.
    pub(crate) fn abort(mut self, queues: &Queues) {
        self.leave_wait(queues);
        finish(queues);
    }

    /// Leaves the parker, and the driver if the worker was in it.
    fn leave_wait(&mut self, queues: &Queues) {
        queues.peer().parker.leave();
        if let Some(driver) = self.driver.take() {
            queues.shard.return_driver(Some(driver));
            queues.call_attendant();
        }
    }
}

/// Whether a parked worker has no reason to stop parking.
fn should_stay_parked(queues: &Queues) -> bool {
    // CHECK: the worker has been claimed, to search. A spare worker is called, or asked to leave.
    let is_wanted = match queues.is_spare {
        true => queues.is_called_or_leaving(),
        false => !queues.shard.idle.is_parked(queues.index),
    };
    !is_wanted
        // CHECK: what the driver has just made ready, which no other worker may know of.
        && !queues.has_queued()
        // CHECK: the shutdown flag, for which the worker was unparked.
        && !queues.shard.is_closed()
}

/// From parked to running, or to searching if the worker has been claimed.
fn finish(queues: &Queues) {
    unmark_parked(queues);
    queues.counters.clock.start();
    queues.counters.unparks.add(1);
    driver::notify_of_events(queues);
    queues.notify_observer(|observer, worker| observer.worker_unparked(worker));
    call_unpark_hook(queues);
}

/// Ends what the park hook has begun.
fn call_unpark_hook(queues: &Queues) {
    if let Some(hook) = &queues.shard.config.on_thread_unpark {
        hook();
    }
}

/// Marks the worker as parked. If there is work after all, returns false, and the worker searches
/// again. A spare worker is not in the idle set.
fn mark_parked(queues: &Queues) -> bool {
    let (shard, index) = (&queues.shard, queues.index);
    if queues.is_spare {
        queues.counters.count_park();
        return true;
    }
    let parking = shard
        .idle
        .transition_to_parked(index, queues.searching.take());
    let is_wanted = || {
        // CHECK: a task that was pushed before its pusher could see that this worker is parked.
        shard.has_work()
            // CHECK: the shutdown flag. Each worker is unparked after it is set, so this only saves
            // a park.
            || shard.is_closed()
    };
    if parking == Parking::RecheckQueues && is_wanted() {
        shard.idle.cancel_parking(index);
        queues.searching.set(true);
        shard.wake_monitor();
        return false;
    }
    queues.counters.count_park();
    true
}

fn unmark_parked(queues: &Queues) {
    if !queues.is_spare {
        let is_claimed = queues.shard.idle.transition_to_running(queues.index);
        queues.searching.set(is_claimed);
        queues.shard.wake_monitor();
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
