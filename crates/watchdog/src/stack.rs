//! Stack traces of other threads.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(raddle_loom)
))]
mod linux;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(raddle_loom)
)))]
#[path = "stack/unavailable.rs"]
mod linux;

use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) use linux::{Pending, Sampler, ThreadStack};

/// The functions that a thread was executing when a sample of its stack was taken, the innermost
/// first.
///
/// It stores addresses. [`frames`](Self::frames) and `Display` look up the names, which takes
/// milliseconds, and tens of milliseconds the first time.
///
/// # Examples
///
/// ```
/// # use raddle_watchdog::StackTrace;
/// fn print(stack: &StackTrace) {
///     for frame in stack.frames() {
///         println!("{} {:?}", frame.function().unwrap_or("?"), frame.line());
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackTrace {
    /// One address for each frame, inside the instruction that it executes.
    addresses: Vec<usize>,
}

/// A function of a [`StackTrace`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame {
    address: usize,
    function: Option<String>,
    file: Option<PathBuf>,
    line: Option<u32>,
}

impl StackTrace {
    /// Looks up the functions, the innermost first. A function that the compiler has inlined has a
    /// frame of its own. Without debug information in the program there are no files and lines, and
    /// without symbols no names.
    pub fn frames(&self) -> Vec<StackFrame> {
        linux::resolve(&self.addresses)
    }
}

impl StackFrame {
    /// Returns an address in the code of the function.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Returns the function's name with its path, if it is known.
    pub fn function(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// Returns the source file, if it is known.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the line in the source file, starting at 1, if it is known.
    pub fn line(&self) -> Option<u32> {
        self.line
    }
}

/// Writes each function on a line, with its file and line below it, as std prints backtraces.
impl fmt::Display for StackTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, frame) in self.frames().iter().enumerate() {
            writeln!(f, "{number:4}: {frame}")?;
        }
        Ok(())
    }
}

impl fmt::Display for StackFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            Some(function) => write!(f, "{function}")?,
            None => write!(f, "{:#x}", self.address)?,
        }
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            write!(f, "\n             at {}:{line}", file.display())?;
        }
        Ok(())
    }
}
