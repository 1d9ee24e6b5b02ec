//! The error of a runtime without dumps.

use std::error::Error;
use std::fmt;

/// The runtime has no task dumps.
///
/// # Examples
///
/// ```
/// let error = raddle_dump::DumpError::not_enabled();
/// assert!(error.to_string().contains("Builder::enable_task_dumps"));
/// ```
#[derive(Debug)]
pub struct DumpError(());

impl DumpError {
    /// The error of a runtime that keeps no table of its tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// let error = raddle_dump::DumpError::not_enabled();
    /// assert!(error.to_string().starts_with("no task dumps on this runtime"));
    /// ```
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
