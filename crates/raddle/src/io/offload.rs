//! Calls of std's that block, made on the pool for blocking work.

use std::io;

use crate::runtime::Handle;
use crate::task::JoinHandle;

/// Makes a call on the pool and waits for it. Dropped while it waits, it does
/// not stop the call.
///
/// # Panics
///
/// If the thread is in no runtime.
#[cfg(feature = "fs")]
pub(crate) async fn run<F, T>(call: F) -> io::Result<T>
where
    F: FnOnce() -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    match spawn(call).await {
        Ok(result) => result,
        Err(error) => Err(error.into()),
    }
}

/// Begins a call on the pool, which the runtime's shutdown cancels if it has
/// not started by then.
#[track_caller]
pub(crate) fn spawn<F, T>(call: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Handle::current().spawn_blocking(call)
}

/// Begins a call on the pool that is made even if the runtime is shut down
/// before.
///
/// # Errors
///
/// If the runtime has been shut down already.
#[track_caller]
pub(crate) fn spawn_mandatory<F, T>(call: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let handle = Handle::current().spawn_mandatory(call);
    handle.ok_or_else(|| io::Error::other("the runtime has been shut down; write before that"))
}
