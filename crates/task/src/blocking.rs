//! Blocking work as tasks, and its submission to a runtime.
//!
//! A layer with blocking calls (files, name look-ups) makes each of them a task and
//! [submits](submit) it to the current runtime. The layer need not know the runtime: the runtime
//! [registers](set_submit) a function that accepts such tasks.
//!
//! ```
//! use std::thread;
//!
//! use raddle_task::blocking::{self, BlockingTask, SubmitError};
//!
//! /// Starts a thread for each task.
//! fn submit_to_runtime(task: BlockingTask) -> Result<(), SubmitError> {
//!     thread::spawn(|| drop(task.into_runnable().run()));
//!     Ok(())
//! }
//!
//! blocking::set_submit(submit_to_runtime);
//! // A layer that does not know the runtime.
//! let answer = blocking::spawn(|| 6 * 7, blocking::submit);
//! assert_eq!(raddle_testing::block_on(answer).unwrap(), 42);
//! ```

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::{self, Location};
use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use crate::{Id, JoinHandle, Runnable, SpawnMeta, box_if_large};

raddle_primitives::thread_local! {
    /// The reason why the task that this thread is about to run was refused.
    static REFUSED: Cell<Option<io::Error>> = Cell::new(None);
}

/// A function that accepts a blocking task, or returns it in the error.
pub type Submit = fn(BlockingTask) -> Result<(), SubmitError>;

static SUBMIT: OnceLock<Submit> = OnceLock::new();

/// Sets the function that [`submit`] calls. The function finds the runtime of its calling thread.
///
/// A runtime calls this when it is built. Only the first call in the process has an effect.
pub fn set_submit(submit: Submit) {
    let _ = SUBMIT.set(submit);
}

/// Submits a task to the current runtime of this thread.
///
/// # Errors
///
/// Returns the task in the error if the thread is not in a runtime, if the runtime has shut down,
/// or if it has no thread for the task.
pub fn submit(task: BlockingTask) -> Result<(), SubmitError> {
    match SUBMIT.get() {
        Some(submit) => submit(task),
        None => Err(SubmitError::no_runtime(
            task.into_runnable(),
            raddle_leaf::misuse::NO_RUNTIME.to_owned(),
        )),
    }
}

/// A task with a single poll, which may block.
///
/// Its `NOTIFIED` bit is set from the start until it completes, so that no wake and no abort ever
/// has to schedule it. Dropping it cancels it.
#[derive(Debug)]
pub struct BlockingTask {
    runnable: Runnable,
    is_mandatory: bool,
    closure: SpawnMeta,
    spawned_at: &'static Location<'static>,
}

impl BlockingTask {
    /// Converts it to a [`Runnable`], to run the task on a thread that may block.
    pub fn into_runnable(self) -> Runnable {
        self.runnable
    }

    /// Returns the task's id.
    pub fn id(&self) -> Id {
        self.runnable.id()
    }

    /// Returns whether a shutdown must run the task instead of cancelling it.
    pub fn is_mandatory(&self) -> bool {
        self.is_mandatory
    }

    /// Returns the type of the task's closure.
    pub fn closure(&self) -> SpawnMeta {
        self.closure
    }

    /// Returns where the task was spawned.
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }
}

/// A blocking task that was not accepted, and the reason, which `Display` prints.
///
/// ```
/// use raddle_task::blocking::{self, BlockingTask, SubmitError};
///
/// /// The function of a runtime whose threads are all busy.
/// fn submit(task: BlockingTask) -> Result<(), SubmitError> {
///     Err(SubmitError::no_thread(task.into_runnable(), "no thread is free".to_owned()))
/// }
///
/// let answer = blocking::spawn(|| 6 * 7, |task| {
///     let Err(refused) = submit(task) else {
///         return Ok(());
///     };
///     assert!(refused.is_no_thread() && !refused.is_no_runtime());
///     println!("{refused}; this thread makes the call");
///     drop(refused.into_runnable().run());
///     Ok(())
/// });
/// assert_eq!(raddle_testing::ready(answer).unwrap(), 42);
/// ```
#[derive(Debug)]
pub struct SubmitError {
    runnable: Runnable,
    kind: SubmitErrorKind,
    reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubmitErrorKind {
    NoRuntime,
    NoThread,
    ShutDown,
}

impl SubmitError {
    /// Makes the error for a thread that is not in a runtime.
    pub fn no_runtime(runnable: Runnable, reason: String) -> Self {
        Self {
            runnable,
            kind: SubmitErrorKind::NoRuntime,
            reason,
        }
    }

    /// Makes the error for a task for which the system starts no thread.
    pub fn no_thread(runnable: Runnable, reason: String) -> Self {
        Self {
            runnable,
            kind: SubmitErrorKind::NoThread,
            reason,
        }
    }

    /// Makes the error for a runtime that has shut down.
    pub fn shut_down(runnable: Runnable, reason: String) -> Self {
        Self {
            runnable,
            kind: SubmitErrorKind::ShutDown,
            reason,
        }
    }

    /// Returns whether the thread was not in a runtime.
    pub fn is_no_runtime(&self) -> bool {
        self.kind == SubmitErrorKind::NoRuntime
    }

    /// Returns whether the system has started no thread for the task.
    pub fn is_no_thread(&self) -> bool {
        self.kind == SubmitErrorKind::NoThread
    }

    /// Converts it to a [`Runnable`].
    pub fn into_runnable(self) -> Runnable {
        self.runnable
    }

    /// Runs the task on this thread and passes the reason to its closure, which must not block.
    fn run(self) {
        let reason = match self.kind {
            SubmitErrorKind::ShutDown => io::Error::other(ShutdownError),
            _ => io::Error::other(self.reason),
        };
        REFUSED.with(|refused| refused.set(Some(reason)));
        drop(self.runnable.run());
    }
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The runtime that should have made a call has shut down.
#[derive(Debug)]
struct ShutdownError;

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the runtime has shut down; keep it alive while its handles are used")
    }
}

impl std::error::Error for ShutdownError {}

/// Returns whether an error that was passed to refused work means that the runtime has shut down.
pub fn is_shut_down(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<ShutdownError>())
}

/// Makes a task of `work` and submits it with `submit`.
///
/// # Errors
///
/// If there is no thread to run it, the handle returns an error as if the task had panicked, with
/// the reason as the message. If it is refused for another reason, the handle returns an error that
/// says that the task was cancelled.
#[track_caller]
pub fn spawn<F, R>(
    work: F,
    submit: impl FnOnce(BlockingTask) -> Result<(), SubmitError>,
) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    box_if_large!(work: F, Box::new => spawn_as(SpawnMeta::of::<F>(), work, submit))
}

/// Like [`spawn`], for a closure that may have been boxed: `closure` is the type of what the user
/// has spawned.
#[track_caller]
pub fn spawn_as<F, R>(
    closure: SpawnMeta,
    work: F,
    submit: impl FnOnce(BlockingTask) -> Result<(), SubmitError>,
) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let work = |taken: io::Result<()>| match taken {
        Ok(()) => work(),
        // `resume_unwind` passes the error to the join handle and does not call the panic hook,
        // because nothing is wrong with the program.
        Err(refused) => panic::resume_unwind(Box::new(refused.to_string())),
    };
    let (task, handle) = task(work, closure, false);
    if let Err(refused) = submit(task) {
        if refused.is_no_thread() {
            refused.run();
        }
    }
    handle
}

/// Like [`spawn`], for `work` that owns something that must not be lost: if it is refused, it is
/// called on this thread with the reason, and its result is the error. It must not block then. A
/// shutdown does not cancel `mandatory` work that was accepted.
///
/// # Errors
///
/// Returns what `work` returns if it is refused.
///
/// # Examples
///
/// ```
/// use raddle_task::blocking::{self, SubmitError};
///
/// let buffer = b"not written yet".to_vec();
/// let write = move |accepted: std::io::Result<()>| {
///     let written = accepted.map(|()| println!("{} bytes", buffer.len()));
///     (buffer, written)
/// };
/// let refused = blocking::try_spawn(write, true, |task| {
///     Err(SubmitError::shut_down(task.into_runnable(), "closed".to_owned()))
/// });
/// // The buffer comes back with the error.
/// let (buffer, written) = refused.unwrap_err();
/// assert_eq!(buffer, b"not written yet");
/// assert!(blocking::is_shut_down(&written.unwrap_err()));
/// ```
#[track_caller]
pub fn try_spawn<F, R>(
    work: F,
    mandatory: bool,
    submit: impl FnOnce(BlockingTask) -> Result<(), SubmitError>,
) -> Result<JoinHandle<R>, R>
where
    F: FnOnce(io::Result<()>) -> R + Send + 'static,
    R: Send + 'static,
{
    let closure = SpawnMeta::of::<F>();
    box_if_large!(work: F, Box::new => try_spawn_as(closure, work, mandatory, submit))
}

/// Like [`try_spawn`], for a closure that may have been boxed: `closure` is its type before that.
///
/// # Errors
///
/// Returns what `work` returns if it is refused.
#[track_caller]
pub fn try_spawn_as<F, R>(
    closure: SpawnMeta,
    work: F,
    mandatory: bool,
    submit: impl FnOnce(BlockingTask) -> Result<(), SubmitError>,
) -> Result<JoinHandle<R>, R>
where
    F: FnOnce(io::Result<()>) -> R + Send + 'static,
    R: Send + 'static,
{
    let (task, mut handle) = task(work, closure, mandatory);
    let Err(refused) = submit(task) else {
        return Ok(handle);
    };
    refused.run();
    let mut cx = Context::from_waker(Waker::noop());
    match raddle_leaf::coop::unlimited(|| pin!(&mut handle).poll(&mut cx)) {
        Poll::Ready(Ok(result)) => Err(result),
        // The closure panicked: the handle would report the same panic.
        Poll::Ready(Err(error)) => panic::resume_unwind(error.into_panic()),
        Poll::Pending => unreachable!("a blocking task completes in its first run"),
    }
}

#[track_caller]
fn task<F, R>(work: F, closure: SpawnMeta, is_mandatory: bool) -> (BlockingTask, JoinHandle<R>)
where
    F: FnOnce(io::Result<()>) -> R + Send + 'static,
    R: Send + 'static,
{
    let (runnable, handle) = crate::spawn(Call(Some(work)), drop::<Runnable>);
    let task = BlockingTask {
        runnable,
        is_mandatory,
        closure,
        spawned_at: Location::caller(),
    };
    (task, handle)
}

/// The closure, until it is called: with an error if the task was refused.
struct Call<F>(Option<F>);

/// The closure is moved out before it is called, never pinned.
impl<F> Unpin for Call<F> {}

impl<F: FnOnce(io::Result<()>) -> R, R> Future for Call<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let work = self.0.take().expect("a blocking task is polled once");
        let refused = REFUSED.with(Cell::take);
        Poll::Ready(work(refused.map_or(Ok(()), Err)))
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
