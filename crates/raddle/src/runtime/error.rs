//! Errors of a thread without a current runtime, and of a runtime that has shut down.

use std::{error, fmt, io};

use crate::runtime::reactor;

/// The error of [`Handle::try_current`](crate::runtime::Handle::try_current): there is no current
/// runtime.
#[derive(Debug)]
pub struct TryCurrentError {
    destroyed: bool,
}

impl TryCurrentError {
    pub(crate) fn missing_context() -> Self {
        Self { destroyed: false }
    }

    pub(crate) fn thread_local_destroyed() -> Self {
        Self { destroyed: true }
    }

    /// Returns whether no runtime has been entered on this thread.
    pub fn is_missing_context(&self) -> bool {
        !self.destroyed
    }

    /// Returns whether the thread is exiting and its thread-locals are already destroyed.
    pub fn is_thread_local_destroyed(&self) -> bool {
        self.destroyed
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.destroyed {
            false => raddle_leaf::misuse::NO_RUNTIME,
            true => "this thread is ending, its runtime context is gone; call this earlier",
        })
    }
}

impl error::Error for TryCurrentError {}

/// Returns whether an error means that the runtime has shut down: an error of a socket, or of
/// another resource that needs the runtime's driver or its threads for blocking work.
///
/// ```
/// use raddle::net::TcpListener;
/// use raddle::runtime::{Builder, is_rt_shutdown_err};
///
/// let [first, second] = [(); 2].map(|()| Builder::new_current_thread().enable_all().build());
/// let (first, second) = (first?, second?);
/// let listener = first.block_on(TcpListener::bind("127.0.0.1:0"))?;
/// drop(first);
/// let error = second.block_on(listener.accept()).unwrap_err();
/// assert!(is_rt_shutdown_err(&error));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_rt_shutdown_err(error: &io::Error) -> bool {
    reactor::is_shut_down(error) || raddle_task::blocking::is_shut_down(error)
}
