//! The jobs of the blocking pools: tasks that block, and workers whose threads do.

use std::num::NonZeroU64;
use std::panic::Location;
use std::time::Duration;

use raddle_blocking::{Job, JobMeta};
use raddle_primitives::random::Random;
use raddle_task::Runnable;
use raddle_task::blocking::{BlockingTask, SubmitError};
use raddle_timer::AutoAdvanceHold;

use crate::runtime::{Handle, context};
use raddle_task::trace;

/// The owner of a pool. A trait object of it keeps the code of the pool out of the crates that drop
/// a runtime.
pub(crate) trait PoolOwner: Send + Sync {
    /// As [`raddle_blocking::Pool::shutdown`].
    fn shutdown(&mut self, wait: Option<Duration>) -> bool;
}

impl PoolOwner for raddle_blocking::Pool<PoolJob> {
    fn shutdown(&mut self, wait: Option<Duration>) -> bool {
        self.shutdown(wait)
    }
}

/// A job of either kind. One type, so that the code of the pool is compiled once.
pub(crate) enum PoolJob {
    Task(TaskJob),
    /// A worker that needs a thread, since its own thread is in `block_in_place`. The worker may
    /// stay on the new thread, so these jobs have a pool of their own.
    Handoff(raddle_sched::Handoff),
}

/// A blocking task that is ready to run. Dropping the job cancels the task.
pub(crate) struct TaskJob {
    task: Runnable,
    span: trace::BlockingSpan,
    spawned_at: &'static Location<'static>,
    /// Dropped after the task: a paused clock may advance again only after the waiter of the task
    /// has been woken.
    _hold: Option<AutoAdvanceHold>,
}

impl Job for PoolJob {
    fn run(self) {
        match self {
            Self::Task(job) => job.run(),
            Self::Handoff(handoff) => run_handoff(handoff),
        }
    }

    fn meta(&self) -> JobMeta {
        match self {
            Self::Task(job) => JobMeta {
                id: NonZeroU64::from(job.task.id()).get(),
                location: Some(job.spawned_at),
            },
            Self::Handoff(_) => JobMeta::default(),
        }
    }
}

impl TaskJob {
    fn run(self) {
        let Self {
            task, span, _hold, ..
        } = self;
        // A blocking task completes at its first poll, so `run` never returns it to be run again.
        drop(span.in_scope(|| task.run()));
    }
}

fn run_handoff(handoff: raddle_sched::Handoff) {
    let Ok(handle) = context::current() else {
        // The runtime is gone.
        return handoff.run();
    };
    // The worker's sockets and timers become current, as on its own thread.
    let _entered = context::enter_worker(&handle, handoff.worker());
    let random = handle.inner.random.as_ref();
    let _random = random.map(Random::enter_handoff);
    handoff.run();
}

/// Submits a task to the blocking pool of the current runtime.
pub(crate) fn submit_to_current(task: BlockingTask) -> Result<(), SubmitError> {
    match context::current() {
        Ok(handle) => submit(&handle, task),
        Err(error) => {
            let reason = error.to_string();
            Err(SubmitError::no_runtime(task.into_runnable(), reason))
        }
    }
}

/// Submits a task to the blocking pool of a runtime.
pub(crate) fn submit(handle: &Handle, task: BlockingTask) -> Result<(), SubmitError> {
    let pool = &handle.inner.blocking;
    let is_mandatory = task.is_mandatory();
    let job = PoolJob::Task(TaskJob {
        span: trace::blocking(&task),
        spawned_at: task.spawned_at(),
        task: task.into_runnable(),
        _hold: handle.hold_auto_advance(),
    });
    let submitted = match is_mandatory {
        true => pool.submit_mandatory(job),
        false => pool.submit(job),
    };
    submitted.map_err(|refused| {
        let (reason, is_no_thread) = (refused.to_string(), refused.is_no_thread());
        let PoolJob::Task(TaskJob { task, .. }) = refused.into_job() else {
            unreachable!("the job is a task");
        };
        match is_no_thread {
            true => SubmitError::no_thread(task, reason),
            false => SubmitError::shut_down(task, reason),
        }
    })
}
