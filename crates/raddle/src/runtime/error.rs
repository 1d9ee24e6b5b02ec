//! Why there is no current runtime.

use std::{error, fmt};

/// There is no current runtime to give a handle of.
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

    /// Whether no runtime has been entered on this thread.
    pub fn is_missing_context(&self) -> bool {
        !self.destroyed
    }

    /// Whether the thread is ending and its current runtime is gone already.
    pub fn is_thread_local_destroyed(&self) -> bool {
        self.destroyed
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.destroyed {
            false => {
                "no runtime on this thread; call this from a task, \
                 inside Runtime::block_on or while Runtime::enter's guard lives"
            }
            true => "this thread is ending, its runtime context is gone; call this earlier",
        })
    }
}

impl error::Error for TryCurrentError {}
