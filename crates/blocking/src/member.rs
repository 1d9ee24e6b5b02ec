//! A thread of the pool.

use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use raddle_primitives::sync::Arc;

use crate::config::Around;
use crate::job::{Job, Observed, drop_each};
use crate::shared::{Queued, Shared};

/// A thread's entries in the counts. The drop removes the remaining entries, so that counts are
/// right even if a hook panics.
pub(crate) struct Member<J: Job> {
    shared: Arc<Shared<J>>,
    number: u64,
    standing: Standing,
}

/// The count that includes a thread, besides that of all threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The thread counts as serving and as free: it has not checked the queue yet.
    Starting,
    /// The thread counts as serving, and as free while it waits.
    Serving,
    /// The thread counts in neither: it takes no more jobs.
    Left,
}

impl<J: Job> Member<J> {
    /// Makes the member for a thread that has just been counted as starting.
    pub(crate) fn new(shared: Arc<Shared<J>>, number: u64) -> Self {
        Self {
            shared,
            number,
            standing: Standing::Starting,
        }
    }

    /// Runs the thread until it ends.
    pub(crate) fn live(mut self, around: Option<&Around>, keep_alive: Option<Duration>) {
        match around {
            Some(around) => around(&mut || self.serve(keep_alive)),
            None => self.serve(keep_alive),
        }
    }

    /// Runs jobs until the shutdown, or until there was none for `keep_alive`.
    fn serve(&mut self, keep_alive: Option<Duration>) {
        if self.standing != Standing::Starting {
            return;
        }
        self.standing = Standing::Serving;
        let shared = &*self.shared;
        let mut state = shared.state.lock();
        state.free -= 1;
        let mut timed_out = false;
        loop {
            // CHECK: a job that was queued while this thread was not waiting.
            while let Some(job) = state.queue.pop_front() {
                drop(state);
                run(job.job, &shared.observed);
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
                self.standing = Standing::Left;
                return;
            }
            state.free += 1;
            match keep_alive {
                None => state = shared.work.wait(state),
                Some(time) => (state, timed_out) = shared.work.wait_timeout(state, time),
            }
            state.free -= 1;
        }
    }
}

/// Runs a job. If it panics, the payload is dropped; if that drop panics too, the second payload is
/// forgotten.
fn run<J: Job>(job: J, observed: &Observed) {
    let meta = observed.meta(&job);
    observed.notify(|observer| observer.started(meta));
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| job.run())) {
        drop_each([payload]);
    }
    observed.notify(|observer| observer.finished(meta));
}

impl<J: Job> Drop for Member<J> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.alive -= 1;
        if self.standing == Standing::Starting {
            state.free -= 1;
        }
        if self.standing != Standing::Left {
            state.serving -= 1;
        }
        // Without a serving thread, jobs are queued only if the hook of the last thread panicked;
        // no thread would run them.
        let orphans = match state.serving {
            0 => std::mem::take(&mut state.queue),
            _ => VecDeque::new(),
        };
        let last = state.alive == 0;
        // After a shutdown the handle stays in the map, to be joined.
        let handle = match state.is_shut_down() {
            true => None,
            false => state.handles.remove(&self.number),
        };
        drop(state);
        if last {
            self.shared.gone.notify_all();
        }
        drop(handle);
        let orphans = orphans.into_iter().map(|queued: Queued<J>| queued.job);
        self.shared.observed.drop_jobs(orphans);
    }
}
