//! The monitor: how it checks the running workers, and takes tasks that wait behind a poll that
//! does not return; and when a worker that begins to run elects it. `docs/scheduler.md`, the
//! monitor.

use std::time::Duration;

use crate::events::MonitorAction;
use raddle_idle::{Monitor, Progress};

use super::queues::Queues;

/// Checks the other workers, and sets `interval` to the time until the next check. Returns whether
/// there is a task to run now.
pub(super) fn check_workers(queues: &Queues, interval: &mut Duration) -> bool {
    let shard = &queues.shard;
    let workers = shard.peers.iter().enumerate();
    // The counts are hints: a task is claimed by a read-modify-write.
    let progress = workers.map(|(worker, peer)| Progress {
        polls: peer.counters.polls.get(),
        is_running: worker != queues.index && !peer.parker.is_parked(),
    });
    let rescue = |stuck: usize| {
        let task = shard.peers[stuck].slot.take();
        let rescued = task.map(|task| {
            queues.counters.count_steal(1);
            let _ = queues.push_needs_notify(task);
            notify_of_action(queues, stuck, MonitorAction::TookNextTask);
        });
        rescued.is_some()
    };
    let monitor = &shard.monitor;
    let has_rescued = monitor.check(progress, rescue);
    *interval = Monitor::next_interval(*interval, has_rescued);
    // The end of the park notifies of what was taken.
    !queues.run_queue.is_empty() || !shard.injection.is_empty() || finds_worker_to_help(queues)
}

/// Whether there is something in the queue of another worker. Its push may have notified no worker,
/// so that it is not in the stealable set.
fn finds_worker_to_help(queues: &Queues) -> bool {
    let mut workers = queues.shard.peers.iter();
    let to_help = workers.position(|peer| !peer.stealer.is_empty());
    let helped = to_help.map(|worker| {
        queues.shard.stealable.insert(worker);
        notify_of_action(queues, worker, MonitorAction::HelpedWorker);
    });
    helped.is_some()
}

/// The stuck worker because of which the monitor should wait in the driver, as that worker does not
/// return to it. As long as there is none, the monitor leaves the driver to the others: if an event
/// woke it, another would have to be woken to be the monitor.
pub(super) fn stuck_driver_worker(queues: &Queues) -> Option<usize> {
    let monitor = &queues.shard.monitor;
    let mut workers = queues.shard.peers.iter().enumerate();
    let lacking = workers.find(|&(worker, peer)| {
        monitor.was_stuck(worker)
            && monitor.polls(worker) == peer.counters.polls.get()
            && !peer.parker.is_parked()
    });
    lacking.map(|(worker, _)| worker)
}

/// Notifies the observer of what the monitor does because of a worker of its scheduler.
pub(super) fn notify_of_action(queues: &Queues, stuck: usize, action: MonitorAction) {
    let stuck = queues.shard.first_worker + stuck;
    queues.notify_observer(|observer, worker| observer.monitor_acted(worker, stuck, action));
}

/// Elects a monitor, if there is none and the worker that stops parking must not defer that.
pub(super) fn elect_or_defer(queues: &Queues, has_cleared_alarm: bool) {
    let (shard, idle) = (&queues.shard, &queues.shard.idle);
    // A worker that is claimed while another is in the driver elects no monitor before it puts a
    // task into its slot, so that a task from outside costs an idle pool one wake-up.
    let is_claimed = queues.searching.get();
    let elects = !is_claimed
        || has_cleared_alarm
        || idle.was_monitor(queues.index)
        || !shard.driver.is_empty();
    if elects && idle.lacks_monitor() {
        shard.elect_monitor();
    }
    queues.defers_election.set(!elects);
}

/// Elects a monitor, if the worker has begun to run without a check that there is one. No worker is
/// woken for the task that was just queued: before the current poll returns, only a worker that
/// searches for another reason takes it, or the monitor, if it finds this worker stuck.
#[inline]
pub(super) fn elect_deferred(queues: &Queues) {
    if queues.defers_election.get() && !queues.in_driver.get() {
        queues.defers_election.set(false);
        queues.shard.elect_monitor();
    }
}
