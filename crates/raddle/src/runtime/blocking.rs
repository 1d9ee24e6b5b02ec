//! Blocking work as tasks: a cell whose future calls the closure at its only
//! poll, and whose runnable is the blocking pool's job. And workers whose
//! threads block, as jobs of a pool of their own.

use std::cell::Cell;
use std::future::Future;
use std::panic;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_blocking::{Job, Refused};
use raddle_task::Runnable;
use raddle_timer::ClockHold;

#[cfg(feature = "net")]
use crate::runtime::context;
use crate::task::JoinHandle;
use crate::trace;

raddle_std::thread_local! {
    /// Why the blocking task that is about to be run here has no thread.
    static REFUSED: Cell<Option<String>> = Cell::new(None);
}

/// A blocking task that is due to run. Dropped, it cancels the task.
pub(crate) struct BlockingJob {
    task: Runnable,
    /// Dropped after the task: who waits for that has been woken when a paused
    /// clock may be moved on again.
    _hold: Option<ClockHold>,
}

impl Job for BlockingJob {
    fn run(self) {
        // A blocking task completes at its first poll, so it is never due
        // again.
        drop(self.task.run());
    }
}

/// A worker that needs a thread, since its own is in `block_in_place`. It may
/// stay there for good, so the threads are not those for blocking tasks.
pub(crate) struct ReliefJob(pub(crate) raddle_sched::Relief);

impl Job for ReliefJob {
    fn run(self) {
        self.0.run();
    }
}

/// The closure, until it is called.
pub(crate) struct BlockingTask<F>(Option<F>);

/// The closure is moved out before it is called, never pinned.
impl<F> Unpin for BlockingTask<F> {}

impl<F: FnOnce() -> R, R> Future for BlockingTask<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let work = self.0.take().expect("a blocking task is polled once");
        if let Some(reason) = REFUSED.with(Cell::take) {
            // Goes to the join handle, past the panic hook: nothing is wrong
            // with the program.
            panic::resume_unwind(Box::new(reason));
        }
        Poll::Ready(work())
    }
}

/// Makes a task of `work` and gives it to the pool.
///
/// Where the system has no thread to run it, the handle says so: it ends as if
/// the task had panicked, with the reason for the message. `hold` is dropped
/// when the work is over.
#[track_caller]
pub(crate) fn spawn<F, R>(
    pool: &raddle_blocking::Handle<BlockingJob>,
    work: F,
    hold: Option<ClockHold>,
) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    submit(work, hold, |job| pool.submit(job)).0
}

/// As [`spawn`], for work that the shutdown does not cancel once it is taken.
/// `None` if the pool has been shut down before.
#[cfg(any(feature = "fs", feature = "io-std"))]
#[track_caller]
pub(crate) fn spawn_mandatory<F, R>(
    pool: &raddle_blocking::Handle<BlockingJob>,
    work: F,
    hold: Option<ClockHold>,
) -> Option<JoinHandle<R>>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let (handle, shut_down) = submit(work, hold, |job| pool.submit_mandatory(job));
    (!shut_down).then_some(handle)
}

/// The task's handle, and whether it is cancelled as the pool was shut down.
#[track_caller]
fn submit<F, R>(
    work: F,
    hold: Option<ClockHold>,
    submit: impl FnOnce(BlockingJob) -> Result<(), Refused<BlockingJob>>,
) -> (JoinHandle<R>, bool)
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    // The task is due from the start until it completes, so that no wake, nor
    // an abort, ever has to schedule it.
    let task = trace::blocking(BlockingTask(Some(work)));
    let (task, handle) = raddle_task::spawn(task, drop::<Runnable>);
    let mut shut_down = false;
    if let Err(refused) = submit(BlockingJob { task, _hold: hold }) {
        // A pool that has been shut down cancels the task: it is just dropped.
        shut_down = refused.is_shutdown();
        if refused.is_no_thread() {
            REFUSED.with(|reason| reason.set(Some(refused.to_string())));
            refused.into_job().run();
        }
    }
    (handle, shut_down)
}

/// Has a name look-up run among the blocking work of the current runtime; gives
/// it back where there is none.
#[cfg(feature = "net")]
pub(crate) fn offload_lookup(job: raddle_net::LookupJob) -> Result<(), raddle_net::LookupJob> {
    match context::current() {
        Ok(handle) => {
            // Refused or cancelled, the job is dropped, and its drop answers.
            drop(handle.spawn_blocking(job));
            Ok(())
        }
        Err(_) => Err(job),
    }
}
