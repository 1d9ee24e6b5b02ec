//! Calls of std that block, made on the pool for blocking work of the current runtime.

use std::io;

use raddle_leaf::misuse::Misuse;

use raddle_task::blocking::{self, Submit};
use raddle_task::{JoinHandle, SpawnMeta};

use crate::serial::{Resource, Taken};

/// Makes a call on the pool and waits for it. Dropping the future does not stop the call.
///
/// # Errors
///
/// Returns the error of the call, the reason why it is not made, or a [`Misuse`] if the thread is
/// not in a runtime: public functions return their futures through [`io_at_caller`].
///
/// [`io_at_caller`]: raddle_leaf::misuse::io_at_caller
pub(crate) async fn run<F, T>(call: F) -> io::Result<T>
where
    F: FnOnce() -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let call = spawn(
        |accepted| accepted.map(|()| call()),
        Mode::Optional,
        blocking::submit,
    );
    // Only the handle is in the future while it waits, because an error is not `UnwindSafe`.
    let call = call.map_err(refusal)?;
    call.await??
}

/// Whether a shutdown of the runtime makes a call that has not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The shutdown cancels it.
    Optional,
    /// The shutdown waits until it is made: the caller was told that it will be.
    Mandatory,
}

/// Begins `job` on the pool that `submit` finds, and lends `value` to it. The value is back in its
/// place when the returned handle completes.
///
/// # Errors
///
/// Returns the reason if the system has no thread for the job, or if the runtime has shut down, and
/// a [`Misuse`] if the thread is not in a runtime. The value is then back and unchanged.
#[track_caller]
pub(crate) fn begin<T, R>(
    mut value: Taken<T>,
    mode: Mode,
    submit: Submit,
    job: impl FnOnce(&mut T) -> R + Send + 'static,
) -> io::Result<JoinHandle<io::Result<R>>>
where
    T: Resource,
    R: Send + 'static,
{
    value.begin_job();
    spawn(lend(value, job), mode, submit)
}

/// Like [`begin`], for a job whose result is in the value. All such jobs are tasks of one type,
/// since the code of a task is large, and an allocation costs little beside a call on the pool.
#[track_caller]
pub(crate) fn begin_boxed<T, J>(
    mut value: Taken<T>,
    mode: Mode,
    submit: Submit,
    job: J,
) -> io::Result<()>
where
    T: Resource,
    J: FnOnce(&mut T) + Send + 'static,
{
    value.begin_job();
    let call: Box<dyn FnOnce(io::Result<()>) -> io::Result<()> + Send> = Box::new(lend(value, job));
    spawn_as(SpawnMeta::of::<J>(), call, mode, submit).map(drop)
}

/// Returns the call that lends `value` to `job`.
fn lend<T: Resource, R>(
    mut value: Taken<T>,
    job: impl FnOnce(&mut T) -> R,
) -> impl FnOnce(io::Result<()>) -> io::Result<R> {
    move |accepted| {
        let result = accepted.map(|()| job(&mut value));
        value.end_job();
        drop(value);
        result
    }
}

/// The error of a method for whose call there was no thread or no runtime.
pub(crate) fn refusal(error: io::Error) -> io::Error {
    match blocking::is_shut_down(&error) {
        // The text is Tokio's: the call has not begun and will not begin.
        true => io::Error::other("background task failed"),
        false => error,
    }
}

/// Begins a call on the pool.
///
/// `call` owns something that must not be lost. If the system has no thread for it, or the runtime
/// has shut down, it is therefore called at once with the reason, which it must return. Without a
/// runtime, the error is a [`Misuse`].
#[track_caller]
fn spawn<F, R>(call: F, mode: Mode, submit: Submit) -> io::Result<JoinHandle<io::Result<R>>>
where
    F: FnOnce(io::Result<()>) -> io::Result<R> + Send + 'static,
    R: Send + 'static,
{
    spawn_as(SpawnMeta::of::<F>(), call, mode, submit)
}

/// Like [`spawn`], for a call that may have been boxed: `closure` is its type before that.
#[track_caller]
fn spawn_as<F, R>(
    closure: SpawnMeta,
    call: F,
    mode: Mode,
    submit: Submit,
) -> io::Result<JoinHandle<io::Result<R>>>
where
    F: FnOnce(io::Result<()>) -> io::Result<R> + Send + 'static,
    R: Send + 'static,
{
    let mut no_runtime = None;
    let submit = |task| {
        submit(task).inspect_err(|refused| {
            no_runtime = refused.is_no_runtime().then(|| refused.to_string());
        })
    };
    match blocking::try_spawn_as(closure, call, mode == Mode::Mandatory, submit) {
        Ok(call) => Ok(call),
        Err(refused) => match (no_runtime, refused) {
            (Some(text), _) => Err(Misuse::new(text).into()),
            (None, Err(reason)) => Err(reason),
            (None, Ok(_)) => unreachable!("a refused call returns the reason"),
        },
    }
}
