//! Polling the driver and waiting in it, and the notification of what it has made ready.

use std::time::Duration;

use scopeguard::guard;

use super::queues::{EventOrder, Queues};
use crate::config::policy::Policy;
use crate::driver::BoxedDriver;

/// Waits in the driver at most for `timeout`. It makes tasks ready without a notification for each,
/// and queues them in the given order; [`notify_of_events`] follows.
pub(super) fn run(
    queues: &Queues,
    driver: &mut BoxedDriver,
    timeout: Option<Duration>,
    order: EventOrder,
) {
    queues.notify_observer(|observer, worker| observer.driver_started(worker, timeout));
    queues.in_driver.set(Some(order));
    // Also if the driver panics.
    let in_driver = guard((), |()| queues.in_driver.set(None));
    // As many events as the queue has room for, but at least one: tasks that are always ready must
    // not starve the events. If the tasks go to another queue, the limit is the size of this one.
    driver.park(timeout, queues.run_queue.room().max(1));
    drop(in_driver);
    queues.notify_observer(|observer, worker| {
        observer.driver_finished(worker, driver.last_turn());
    });
}

/// Wakes another worker if there are more tasks than this one runs next: the task in its slot, or
/// the first of the injection queue if all tasks are there.
pub(super) fn notify_of_events(queues: &Queues) {
    match queues.policy {
        Policy::Shared if queues.queued_len() > 1 => drop(queues.shard.notify()),
        Policy::WorkStealing if !queues.run_queue.is_empty() => queues.notify_of_push(),
        _ => {}
    }
}
