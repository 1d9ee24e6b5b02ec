//! The shutdown of a scheduler. Each task is dropped once, by its worker or else by the last worker
//! to retire.
//!
//! `docs/scheduler.md`, shutdown, has the steps, and says why a task cannot outlive the shared
//! state.

use std::time::Instant;

use raddle_primitives::hint::Backoff;
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use scopeguard::guard;

use crate::handle::Handle;
use crate::monitor;
use crate::task::Task;
use crate::worker::core_ref::CoreRef;
use crate::worker::retirement::{Retired, Retirement};

/// Retires a worker. The last worker to retire ends the scheduler, or releases the threads in
/// handed-off polls, the last of which ends it.
pub(crate) fn retire(core: CoreRef) {
    core.queues.counters.stop_clock();
    let retirement = core.retirement.clone();
    if core.queues.is_spare {
        core.queues.end_as_spare();
    }
    if !core.shard().is_closed() {
        core.queues.abandon();
    }
    retirement.finish_after(|retired| retired.add(core));
    // CHECK: the shutdown, also one that began after the check above: the workers that retired for
    // it did not find this worker among those that had retired before.
    if retirement.shard.is_closed() {
        retirement.cancel_left_behind();
    }
}

/// Brings back a spare worker that no thread has driven. If this is the thread of the monitor,
/// tasks are dropped on another one: that could block it.
pub(crate) fn return_unused(core: CoreRef) {
    let retirement = core.retirement.clone();
    core.queues.end_as_spare();
    let mut retired = retirement.retired.lock();
    retired.add(core);
    let has_all = retired.has_all(retirement.shard.peers.len());
    drop(retired);
    // CHECK: the shutdown, as in `retire`.
    if has_all || retirement.shard.is_closed() {
        let is_monitor = monitor::thread::is_current(&retirement);
        drop_tasks(is_monitor, move || retirement.cancel_left_behind());
    }
}

/// Counts a handed-off poll as finished. The last one ends the scheduler.
pub(crate) fn finish_handed_off(core: CoreRef) {
    let retirement = core.retirement.clone();
    // This only keeps the memory of the worker, which another thread drives.
    drop(core);
    retirement.finish_after(|retired| retired.handed_off -= 1);
}

impl Retirement {
    /// Closes the scheduler, and drops the tasks that retired workers have left. If the shutdown
    /// `has_limit`, another thread drops them, since the drop of a future may take long.
    pub(crate) fn close(this: &Arc<Self>, has_limit: bool) {
        this.shard.close();
        let retired = this.retired.lock();
        let has_any = !retired.workers.is_empty() || !retired.reserve.is_empty();
        drop(retired);
        if !has_any {
            return;
        }
        let retirement = this.clone();
        drop_tasks(has_limit, move || retirement.cancel_left_behind());
    }

    /// Waits until the shutdown has ended, or until `deadline`, and returns whether it has.
    /// Meanwhile it retires the workers that wait in handoff slots for a thread to drive them:
    /// there may be no such thread, and a poll that waits for the driver waits for the shutdown.
    /// With a deadline another thread does so.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut has_timed_out = false;
        let mut retired = self.retired.lock();
        loop {
            if retired.has_ended() {
                return true;
            }
            if !retired.handoff_slots.is_empty() {
                let slots = std::mem::take(&mut retired.handoff_slots).into_values();
                drop(retired);
                let cores = slots.filter_map(|slot| slot.take_for_shutdown());
                let cores = Vec::from_iter(cores);
                if !cores.is_empty() {
                    drop_tasks(deadline.is_some(), || cores.into_iter().for_each(retire));
                }
                retired = self.retired.lock();
            } else if has_timed_out {
                return false;
            } else if let Some(deadline) = deadline {
                let left = deadline.saturating_duration_since(Instant::now());
                (retired, has_timed_out) = self.changed.wait_timeout(retired, left);
            } else {
                retired = self.changed.wait(retired);
            }
        }
    }

    /// Drops the waiting tasks of the workers that have retired, since the other workers may all be
    /// in polls.
    fn cancel_left_behind(&self) {
        let cores = self.retired.lock().take();
        cancel_waiting(&cores);
        self.finish_after(|retired| cores.into_iter().for_each(|core| retired.add(core)));
    }

    /// Changes what has retired. If all workers are retired by then, this finishes the shutdown, or
    /// releases the threads in handed-off polls, the last of which finishes it. From then on the
    /// number of these polls can only decrease.
    fn finish_after(&self, change: impl FnOnce(&mut Retired)) {
        // Not read under the lock: in a model, a lock that is held while another thread panics
        // counts as poisoned.
        let is_closed = self.shard.is_closed();
        let mut retired = self.retired.lock();
        change(&mut retired);
        if retired.workers.len() == self.shard.peers.len() && !is_closed {
            // Spare workers do not continue alone. Closed before the last of them can be found
            // retired, so that none is started afterwards.
            drop(retired);
            self.shard.close();
            retired = self.retired.lock();
        }
        while retired.has_all(self.shard.peers.len()) {
            let is_last = retired.handed_off == 0;
            if !is_last && std::mem::replace(&mut retired.has_released, true) {
                return;
            }
            // While this thread has the workers, no other thread finds them all retired.
            let cores = retired.take();
            retired.is_finishing = is_last;
            drop(retired);
            if is_last {
                return self.finish(cores);
            }
            self.release_handed_off(&cores);
            retired = self.retired.lock();
            cores.into_iter().for_each(|core| retired.add(core));
        }
    }

    /// Drops everything that handed-off polls may wait for: all tasks but theirs, and the driver,
    /// in which no worker waits any more.
    fn release_handed_off(&self, cores: &[CoreRef]) {
        self.shard.close();
        cancel_waiting(cores);
        // No worker checks the queue from here on. A thread that wakes a task which was not found
        // there cancels it.
        self.shard.injection.close();
        cancel_waiting(cores);
        self.shard.shut_down_driver();
    }

    fn finish(&self, cores: Vec<CoreRef>) {
        // Also if the driver's shutdown panics: a thread may be waiting for it.
        let announce = guard((), |()| {
            let mut retired = self.retired.lock();
            retired.is_finished = true;
            let has_ended = retired.has_ended();
            drop(retired);
            if has_ended {
                self.changed.notify_all();
            }
        });
        self.shard.close();
        cancel_waiting(&cores);
        let backoff = Backoff::new();
        while cores.iter().any(|core| !core.live.is_empty()) {
            // A foreign thread has notified a task and is about to push it.
            backoff.snooze();
            cancel_waiting(&cores);
        }
        self.shard.injection.close();
        cancel_waiting(&cores);
        debug_assert!(
            cores.iter().all(|core| core.live.is_empty()),
            "a task came into a live list that had ended"
        );
        drop(cores);
        self.shard.shut_down_driver();
        raddle_task::memory::release();
        monitor::thread::forget(self);
        drop(announce);
    }
}

/// Runs `f`, which drops tasks, on this thread or, if this one `must_not_block`, on another. No
/// time passes in a model.
fn drop_tasks(must_not_block: bool, f: impl FnOnce() + Send + 'static) {
    match must_not_block && cfg!(not(raddle_loom)) {
        true => drop(thread::run_elsewhere(Box::new(f))),
        false => f(),
    }
}

/// Drops the tasks that are not being polled. The other workers may not have retired: one of them
/// may be in a poll that waits for a sender that one of these tasks has.
fn cancel_waiting(cores: &[CoreRef]) {
    let Some(first) = cores.first() else { return };
    // Futures find the same current scheduler in their drops as in their polls.
    let handle = Handle::of_worker(first);
    let _current = handle.enter();
    let _worker = first.enter_to_cancel();
    for core in cores {
        // Tasks that were idle are queued.
        core.live.abort_all(|task| core.shard().inject(Task(task)));
    }
    // Queued tasks, also those in the queues of workers that are in polls.
    let next = || {
        let mut own = cores.iter();
        own.find_map(|core| core.queues.take_any())
            .or_else(|| first.queues.take_from_others())
    };
    while let Some(task) = next() {
        // This thread has all of `cores`.
        first.count_elsewhere(&first.shard().cancel(task));
    }
}
