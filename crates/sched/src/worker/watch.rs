//! What a worker does as the monitor: it looks at those that run, and takes what waits
//! behind a poll that does not return. `docs/scheduler.md`, the monitor.

use super::Core;
use crate::metrics::Pace;
use crate::monitor::Progress;
use crate::shared::Remote;

impl Core {
    /// Looks at the other workers. Whether there is something to run now.
    pub(super) fn keep_watch(&self) -> bool {
        let shared = self.shared();
        let workers = shared.remotes.iter().enumerate();
        let progress = workers.map(|(worker, remote)| Progress {
            polls: polls(remote),
            parks: remote.counters.parks.get(),
            is_running: worker != self.index && !remote.parker.is_parked(),
        });
        let monitor = &shared.monitor;
        monitor.look(&self.looks, progress, Pace::is_long, |stuck| {
            let task = shared.remotes[stuck].slot.take();
            let is_rescued = task.is_some();
            if let Some(task) = task {
                self.counters.stole(1);
                let _ = self.push_needs_notify(task);
            }
            is_rescued
        });
        if !self.queue.is_empty() {
            shared.stealable.insert_and_fence(self.index);
            return true;
        }
        !shared.injection.is_empty() || self.is_help_wanted()
    }

    /// Whether there is something in the queue of a worker that is stuck, or is
    /// slow, or has more than it gets through. Its push may have notified no worker, so
    /// that it is not in the stealable set.
    fn is_help_wanted(&self) -> bool {
        let monitor = &self.shared.monitor;
        let mut workers = self.shared.remotes.iter().enumerate();
        let wanted = workers.find(|&(worker, remote)| {
            let is_behind =
                || monitor.was_stuck(worker) || monitor.was_slow(worker) || !self.trusts(worker);
            !remote.stealer.is_empty() && is_behind()
        });
        if let Some((worker, _)) = wanted {
            self.shared.stealable.insert(worker);
        }
        wanted.is_some()
    }

    /// Whether the monitor should wait in the driver, because the worker that
    /// came out of it makes no progress, or is expected back soon though it
    /// has become slow. As long as all do, it leaves the driver to that one: if
    /// an event woke the monitor, another would have to be woken to be that.
    pub(super) fn watches_over_stuck(&self) -> bool {
        let monitor = &self.shared.monitor;
        let mut workers = self.shared.remotes.iter().enumerate();
        workers.any(|(worker, remote)| {
            let is_still_stuck = || {
                monitor.was_stuck(worker)
                    && monitor.polls(worker) == polls(remote)
                    && !remote.parker.is_parked()
            };
            is_still_stuck() || (monitor.was_slow(worker) && self.trusts(worker))
        })
    }
}

/// A hint: what is taken on the strength of it is taken by a read-modify-write.
fn polls(remote: &Remote) -> u64 {
    remote.counters.polls.get()
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
