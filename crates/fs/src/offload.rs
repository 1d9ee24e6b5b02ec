//! Calls of std that block, made on the pool for blocking work of the current runtime.

use std::io;

use raddle_task::JoinHandle;
use raddle_task::blocking::{self, BlockingTask, SubmitError};

/// Makes a call on the pool and waits for it. Dropping the future does not stop the call.
///
/// # Panics
///
/// Panics if the thread is in no runtime.
pub(crate) async fn run<F, T>(call: F) -> io::Result<T>
where
    F: FnOnce() -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let call = |taken: io::Result<()>| taken.and_then(|()| call());
    let call = match spawn(call) {
        Ok(call) => call,
        // The text is Tokio's: the call has not begun and will not begin.
        Err(Err(refused)) if blocking::is_shut_down(&refused) => {
            return Err(io::Error::other("background task failed"));
        }
        Err(refused) => return refused,
    };
    // Only the handle is in the future while it waits, because an error is not `UnwindSafe`.
    call.await?
}

/// Begins a call on the pool. The shutdown of the runtime cancels the call if it has not started by
/// then.
///
/// `call` owns a stream or a buffer that must not be lost. So if the system has no thread for it,
/// or the runtime has shut down, it is called at once with the reason, so that it returns them; its
/// result is then the error. It must not block in that case.
///
/// # Panics
///
/// Panics if the thread is in no runtime.
#[track_caller]
pub(crate) fn spawn<F, T>(call: F) -> Result<JoinHandle<T>, T>
where
    F: FnOnce(io::Result<()>) -> T + Send + 'static,
    T: Send + 'static,
{
    blocking::try_spawn(call, false, submit)
}

/// Like [`spawn`], for a call that is made even if the runtime is shut down before.
#[track_caller]
pub(crate) fn spawn_mandatory<F, T>(call: F) -> Result<JoinHandle<T>, T>
where
    F: FnOnce(io::Result<()>) -> T + Send + 'static,
    T: Send + 'static,
{
    blocking::try_spawn(call, true, submit)
}

#[track_caller]
fn submit(task: BlockingTask) -> Result<(), SubmitError> {
    match blocking::submit(task) {
        Err(refused) if refused.is_no_runtime() => panic!("{refused}"),
        submitted => submitted,
    }
}
