//! Stack traces of other threads.

mod application;
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
mod text;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub(crate) use linux::{Sampler, ThreadStack, block_signal, unblock_signal};

/// The functions that a thread was executing when a sample of its stack was taken, the innermost
/// first.
///
/// It stores addresses. [`frames`](Self::frames), [`application_frame`](Self::application_frame)
/// and `Display` look up the names, once for all clones. That takes milliseconds, and tens of
/// milliseconds the first time.
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
#[derive(Clone)]
pub struct StackTrace(Arc<Trace>);

struct Trace {
    /// One address for each frame, inside the instruction that it executes.
    addresses: Vec<usize>,
    frames: OnceLock<Vec<StackFrame>>,
}

/// The reason why a report has no stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the platform decides which occur")]
pub(crate) enum NoStack {
    Unsupported,
    Returned,
    OtherStack,
    SignalBlocked,
    NoRoom,
    NoAnswer,
    WouldInterrupt,
}

impl NoStack {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Unsupported => "stacks are read on Linux on x86-64 and AArch64 only",
            Self::Returned => "it had just returned",
            Self::OtherStack => "the thread was on another stack than its own, such as a fiber's",
            Self::SignalBlocked => "the thread runs and blocks the signal SIGURG",
            Self::NoRoom => {
                "the thread may have no room for the signal handler; give it a larger stack"
            }
            Self::NoAnswer => "the thread got no processor",
            Self::WouldInterrupt => {
                "it is in a system call that a signal would end, and can only be read by a signal"
            }
        }
    }
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
    pub fn frames(&self) -> &[StackFrame] {
        let Trace { addresses, frames } = &*self.0;
        frames.get_or_init(|| linux::resolve(addresses))
    }

    /// Returns the innermost frame in a function of the application: not of the standard library,
    /// of Raddle, or of another library.
    ///
    /// A function whose file is below `/registry/src/`, `/git/checkouts/`, `/vendor/` or the
    /// sources of the standard library or of Raddle is one of a library, and so is one of a crate
    /// that many asynchronous programs use, such as `tokio`, `futures_util`, `tracing`, `hyper`, `tower`,
    /// `axum`, `tonic` and `h2`. Without line tables only the names of crates count. A method of a
    /// library's trait for any type, such as axum's `<F as Handler>::call`, is one of the library.
    pub fn application_frame(&self) -> Option<&StackFrame> {
        self.frames().iter().find(|frame| frame.is_of_application())
    }

    /// Returns a text for the innermost function of a library other than Raddle, with its address:
    /// without line tables there is no name of a function that is inlined into it.
    pub(crate) fn library_place(&self) -> Option<String> {
        let mut frames = self.frames().iter();
        let is_of_library = |function: &str| application::is_of_library(function);
        let frame = frames.find(|frame| frame.function().is_some_and(is_of_library))?;
        Some(format!("{} at {:#x}", frame.function()?, frame.address))
    }

    #[allow(dead_code, reason = "some platforms have no stacks")]
    fn new(addresses: Vec<usize>) -> Self {
        let frames = OnceLock::new();
        Self(Arc::new(Trace { addresses, frames }))
    }
}

/// Compares addresses.
impl PartialEq for StackTrace {
    fn eq(&self, other: &Self) -> bool {
        self.0.addresses == other.0.addresses
    }
}

impl Eq for StackTrace {}

impl fmt::Debug for StackTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StackTrace")
            .field(&self.0.addresses)
            .finish()
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

    /// Returns a text that distinguishes the function from others: its name without generic
    /// arguments, and the file and line if the name has no path. Line tables have no paths of
    /// inlined functions.
    pub fn place(&self) -> Option<String> {
        let function = text::without_arguments(self.function.as_ref()?);
        match (function.contains("::"), &self.file, self.line) {
            (false, Some(file), Some(line)) => {
                Some(format!("{function} at {}:{line}", file.display()))
            }
            _ => Some(function.into_owned()),
        }
    }

    fn is_of_application(&self) -> bool {
        let function = self.function.as_deref();
        function.is_some_and(|function| application::owns(function, self.file()))
    }

    /// Returns the line in the source file, starting at 1, if it is known.
    pub fn line(&self) -> Option<u32> {
        self.line
    }
}
