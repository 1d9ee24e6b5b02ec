//! The error of a runtime without dumps.

use std::error::Error;
use std::fmt;

/// The runtime has no task dumps.
#[derive(Debug)]
pub struct DumpError(());

impl DumpError {
    /// The error of a runtime that keeps no table of its tasks.
    pub fn not_enabled() -> Self {
        Self(())
    }
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no task dumps on this runtime; call Builder::enable_task_dumps")
    }
}

impl Error for DumpError {}
