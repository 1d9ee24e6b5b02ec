//! A parked worker, and the transitions between its states: `docs/scheduler.md`, parking.
//!
//! They are the same for a worker that blocks its thread and for one that is stepped. Blocking is
//! what a thread does between two of them.

use std::time::Duration;

use crate::events::MonitorAction;
use raddle_idle::{BlockedOn, Duty, Monitor, Parking};
use scopeguard::guard;

use super::driver;
use super::monitoring;
use super::queues::Queues;
use crate::driver::BoxedDriver;

/// A worker that is marked as parked: what it waits for.
pub(crate) struct Parked {
    /// The driver, if the worker waits in it. No other worker finds it meanwhile.
    pub(crate) driver: Option<BoxedDriver>,
    /// How long the wait takes at most.
    pub(crate) timeout: Option<Duration>,
    /// What it waits on, or waited on last; the driver before the first wait.
    blocked_on: BlockedOn,
    /// Whether it has cleared the alarm: a worker that runs may have relied on the monitor.
    has_cleared_alarm: bool,
    /// Whether it checks the other workers when the wait ends.
    is_monitor: bool,
    /// How long it sleeps until it checks the other workers, as the monitor.
    interval: Duration,
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
        // The monitor looks at the memory again before each of its sleeps, which are short.
        let until_release = raddle_task::memory::release_unused();
        let timeout = parked.timeout.or(until_release);
        match (&mut parked.driver, &queues.shard.alarm) {
            (Some(driver), _) => driver::run(queues, driver, timeout),
            (None, Some(alarm)) if parked.blocked_on == BlockedOn::Alarm => {
                parked.is_monitor = alarm.wait(timeout)
            }
            _ => queues.peer().parker.block(timeout),
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
        let alarm = shard.alarm.as_ref();
        let alarm = alarm.filter(|alarm| alarm.is_worth_clearing());
        if let Some(alarm) = alarm {
            if !shard.idle.put_monitor_on_standby(|| alarm.clear()) {
                alarm.set(Monitor::STANDBY_INTERVAL);
            }
        }
        let parked = Self {
            driver: None,
            timeout: None,
            blocked_on: BlockedOn::Driver,
            has_cleared_alarm: alarm.is_some(),
            is_monitor: false,
            interval: Monitor::FIRST_INTERVAL,
        };
        parked.begin_wait(queues)
    }

    /// From parked to waiting, unless there is a reason not to. The worker waits in the driver, if
    /// that is free, unless it has waited elsewhere before. Then it does so only as the monitor, if
    /// a stuck worker does not return to the driver.
    fn begin_wait(mut self, queues: &Queues) -> Option<Self> {
        let shard = &queues.shard;
        loop {
            let duty = shard.idle.duty(queues.index, || shard.worker_in_driver());
            match duty {
                Duty::Search => return self.finish(queues),
                Duty::Elect => {
                    shard.elect_monitor();
                    continue;
                }
                Duty::Sleep | Duty::Monitor | Duty::Standby => {}
            }
            self.is_monitor = duty == Duty::Monitor;
            if duty == Duty::Standby {
                self.interval = Monitor::FIRST_INTERVAL;
            }
            self.timeout = self.is_monitor.then_some(self.interval);
            let stuck = match self.blocked_on {
                BlockedOn::Driver => None,
                _ => monitoring::stuck_driver_worker(queues),
            };
            if self.blocked_on == BlockedOn::Driver || stuck.is_some() {
                self.driver = shard.driver.take();
            }
            if self.driver.is_some() {
                shard.set_last_poller(queues.index);
                if let Some(stuck) = stuck {
                    monitoring::notify_of_action(queues, stuck, MonitorAction::TookDriver);
                }
            }
            self.blocked_on = match (&self.driver, &shard.alarm) {
                (Some(_), _) => BlockedOn::Driver,
                (None, Some(alarm)) if duty == Duty::Standby && alarm.take() => BlockedOn::Alarm,
                (None, _) => BlockedOn::Parker,
            };
            if queues.peer().parker.enter(self.blocked_on) {
                return Some(self);
            }
            self.return_driver_or_alarm(queues);
            if !self.should_stay_parked(queues) {
                return self.finish(queues);
            }
        }
    }

    /// From waiting to parked, and on to the next wait unless there is a reason not to.
    pub(crate) fn end_wait(mut self, queues: &Queues) -> Option<Self> {
        self.leave_wait(queues);
        match self.should_stay_parked(queues) {
            true => self.begin_wait(queues),
            false => self.finish(queues),
        }
    }

    /// Ends the parking of a worker, whatever it waits for.
    pub(crate) fn abort(mut self, queues: &Queues) {
        self.leave_wait(queues);
        let _running = self.finish(queues);
    }

    /// Leaves the parker, and the driver if the worker was in it.
    fn leave_wait(&mut self, queues: &Queues) {
        queues.peer().parker.leave();
        self.return_driver_or_alarm(queues);
    }

    /// Returns the driver or the alarm, if the worker waited on it.
    fn return_driver_or_alarm(&mut self, queues: &Queues) {
        queues.shard.return_driver(self.driver.take());
        if let (BlockedOn::Alarm, Some(alarm)) = (self.blocked_on, &queues.shard.alarm) {
            alarm.give_back();
        }
    }

    /// Whether a worker whose wait has ended has no reason to stop parking. The monitor checks the
    /// other workers.
    fn should_stay_parked(&mut self, queues: &Queues) -> bool {
        // CHECK: what the driver has just made ready, which no other worker may know of.
        if queues.has_queued()
            // CHECK: the shutdown flag, for which the worker was unparked.
            || queues.shard.is_closed()
        {
            return false;
        }
        match self.is_monitor {
            true => !monitoring::check_workers(queues, &mut self.interval),
            // The worker was elected as the monitor, or unparked needlessly: if it stopped
            // parking, another would have to be elected. The only worker of a scheduler stops: the
            // thread that drives it may have been woken for its future.
            false => queues.has_others,
        }
    }

    /// From parked to running, or to searching if the worker has been claimed.
    fn finish(self, queues: &Queues) -> Option<Self> {
        unmark_parked(queues);
        queues.counters.clock.start();
        queues.counters.unparks.add(1);
        monitoring::elect_or_defer(queues, self.has_cleared_alarm);
        driver::notify_of_events(queues);
        queues.notify_observer(|observer, worker| observer.worker_unparked(worker));
        call_unpark_hook(queues);
        None
    }
}

/// Ends what the park hook has begun.
fn call_unpark_hook(queues: &Queues) {
    if let Some(hook) = &queues.shard.config.on_thread_unpark {
        hook();
    }
}

/// Marks the worker as parked. If there is work after all, returns false, and the worker searches
/// again.
fn mark_parked(queues: &Queues) -> bool {
    let (shard, index) = (&queues.shard, queues.index);
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
        if shard.idle.was_monitor(index) {
            shard.elect_monitor();
        }
        return false;
    }
    queues.counters.count_park();
    true
}

fn unmark_parked(queues: &Queues) {
    let is_claimed = queues.shard.idle.transition_to_running(queues.index);
    queues.searching.set(is_claimed);
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
