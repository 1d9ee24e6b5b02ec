//! A thread of the pool.

use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use raddle_primitives::sync::Arc;

use crate::config::AroundThread;
use crate::job::{Job, Observed, drop_each};
use crate::shared::{Queued, Shared};

/// A thread's entries in the counts. The drop removes the remaining entries, so that counts are
/// right even if a hook panics.
pub(crate) struct CountedThread<J: Job> {
    shared: Arc<Shared<J>>,
    number: u64,
    phase: Phase,
}

/// The counts that include a thread, in addition to the count of all threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The thread counts as serving and as free: it has not checked the queue yet.
    Starting,
    /// The thread counts as serving, and as free while it waits.
    Serving,
    /// The thread counts in neither: it takes no more jobs.
    Exiting,
}

impl<J: Job> CountedThread<J> {
    /// Makes the entries of a thread that has just been counted as starting.
    pub(crate) fn new(shared: Arc<Shared<J>>, number: u64) -> Self {
        Self {
            shared,
            number,
            phase: Phase::Starting,
        }
    }

    /// Runs the thread until it ends.
    pub(crate) fn run(mut self, around: Option<&AroundThread>, keep_alive: Option<Duration>) {
        match around {
            Some(around) => around(&mut || self.run_jobs(keep_alive)),
            None => self.run_jobs(keep_alive),
        }
    }

    /// Runs jobs until the shutdown, or until there was none for `keep_alive`.
    fn run_jobs(&mut self, keep_alive: Option<Duration>) {
        if self.phase != Phase::Starting {
            return;
        }
        self.phase = Phase::Serving;
        let shared = &*self.shared;
        let mut state = shared.state.lock();
        state.free -= 1;
        let mut timed_out = false;
        loop {
            // CHECK: a job that was queued while this thread was not waiting.
            while let Some(job) = state.queue.pop_front() {
                drop(state);
                run_job(job.job, &shared.observed);
                timed_out = false;
                state = shared.state.lock();
            }
            if timed_out
                // CHECK: a shutdown that started while this thread was not waiting.
                || state.is_shut_down()
            {
                // Under the lock under which the queue was empty: a later submission must not rely
                // on this thread.
                state.serving -= 1;
                self.phase = Phase::Exiting;
                return;
            }
            state.free += 1;
            match keep_alive {
                None => state = shared.work_available.wait(state),
                Some(time) => (state, timed_out) = shared.work_available.wait_timeout(state, time),
            }
            state.free -= 1;
        }
    }
}

/// Runs a job. If it panics, the payload is dropped; if that drop panics too, the second payload is
/// forgotten.
fn run_job<J: Job>(job: J, observed: &Observed) {
    let meta = observed.meta(&job);
    observed.notify(|observer| observer.started(meta));
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| job.run())) {
        drop_each([payload]);
    }
    observed.notify(|observer| observer.finished(meta));
}

impl<J: Job> Drop for CountedThread<J> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.alive -= 1;
        if self.phase == Phase::Starting {
            state.free -= 1;
        }
        if self.phase != Phase::Exiting {
            state.serving -= 1;
        }
        // Without a serving thread, jobs are queued only if the hook of the last thread panicked or
        // did not call the loop; no thread would run them.
        let orphans = match state.serving {
            0 => std::mem::take(&mut state.queue),
            _ => VecDeque::new(),
        };
        let last = state.alive == 0;
        // After a shutdown the handle stays in the map, to be joined.
        let handle = match state.is_shut_down() {
            true => None,
            false => state.handles.remove(self.number),
        };
        drop(state);
        if last {
            self.shared.all_exited.notify_all();
        }
        drop(handle);
        let orphans = orphans.into_iter().map(|queued: Queued<J>| queued.job);
        self.shared.observed.drop_jobs(orphans);
    }
}
