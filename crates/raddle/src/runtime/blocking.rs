//! Blocking work as tasks: a cell whose future calls the closure at its only
//! poll, and whose runnable is the blocking pool's job. And workers whose
//! threads block, as jobs of a pool of their own.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::panic;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use raddle_blocking::{Job, Refused};
use raddle_task::Runnable;
use raddle_timer::ClockHold;

#[cfg(feature = "net")]
use crate::runtime::context;
use crate::runtime::error;
use crate::task::JoinHandle;
use crate::trace;

raddle_std::thread_local! {
    /// Why the pool did not take the blocking task that is about to be run here.
    static REFUSED: Cell<Option<io::Error>> = Cell::new(None);
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

/// The closure, until it is called: with an error if the pool has not taken it.
pub(crate) struct BlockingTask<F>(Option<F>);

/// The closure is moved out before it is called, never pinned.
impl<F> Unpin for BlockingTask<F> {}

impl<F: FnOnce(io::Result<()>) -> R, R> Future for BlockingTask<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let work = self.0.take().expect("a blocking task is polled once");
        Poll::Ready(work(REFUSED.with(Cell::take).map_or(Ok(()), Err)))
    }
}

/// Makes a task of `work` and gives it to the pool.
///
/// Where the system has no thread to run it, the handle says so: it ends as if
/// the task had panicked, with the reason for the message. A pool that has been
/// shut down cancels the task. `hold` is dropped when the work is over.
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
    let work = |taken: io::Result<()>| match taken {
        Ok(()) => work(),
        // Goes to the join handle, past the panic hook: nothing is wrong with
        // the program.
        Err(refused) => panic::resume_unwind(Box::new(refused.to_string())),
    };
    let (handle, refused) = submit(work, hold, |job| pool.submit(job));
    if let Some(refused) = refused
        && refused.is_no_thread()
    {
        run_refused(refused);
    }
    handle
}

/// As [`spawn`], but `work` gets back what it owns whatever happens: if the pool
/// does not take it, it is called here, with the reason, and its result is the
/// error. Work that is `mandatory` is not cancelled by a shutdown once it is
/// taken.
#[cfg_attr(not(any(feature = "fs", feature = "io-std")), allow(dead_code))]
#[track_caller]
pub(crate) fn try_spawn<F, R>(
    pool: &raddle_blocking::Handle<BlockingJob>,
    work: F,
    hold: Option<ClockHold>,
    mandatory: bool,
) -> Result<JoinHandle<R>, R>
where
    F: FnOnce(io::Result<()>) -> R + Send + 'static,
    R: Send + 'static,
{
    let (mut handle, refused) = submit(work, hold, |job| match mandatory {
        true => pool.submit_mandatory(job),
        false => pool.submit(job),
    });
    let Some(refused) = refused else {
        return Ok(handle);
    };
    run_refused(refused);
    let mut cx = Context::from_waker(Waker::noop());
    match raddle_coop::unlimited(|| pin!(&mut handle).poll(&mut cx)) {
        Poll::Ready(Ok(result)) => Err(result),
        // It panicked: the handle would say so again.
        Poll::Ready(Err(error)) => panic::resume_unwind(error.into_panic()),
        Poll::Pending => unreachable!("the task has just been run, and is done with one poll"),
    }
}

/// Runs a task that has no thread, to its end, which is that it learns why.
fn run_refused(refused: Refused<BlockingJob>) {
    let reason = match refused.is_shutdown() {
        true => error::shut_down(),
        false => io::Error::other(refused.to_string()),
    };
    REFUSED.with(|refused| refused.set(Some(reason)));
    refused.into_job().run();
}

/// The task's handle, and the task itself if the pool does not take it.
#[track_caller]
fn submit<F, R>(
    work: F,
    hold: Option<ClockHold>,
    submit: impl FnOnce(BlockingJob) -> Result<(), Refused<BlockingJob>>,
) -> (JoinHandle<R>, Option<Refused<BlockingJob>>)
where
    F: FnOnce(io::Result<()>) -> R + Send + 'static,
    R: Send + 'static,
{
    // The task is due from the start until it completes, so that no wake, nor
    // an abort, ever has to schedule it.
    let task = trace::blocking(BlockingTask(Some(work)));
    let (task, handle) = raddle_task::spawn(task, drop::<Runnable>);
    let refused = submit(BlockingJob { task, _hold: hold }).err();
    (handle, refused)
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
