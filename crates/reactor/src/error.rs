//! The errors of this crate, all of them `io::Error`.

use std::error::Error;
use std::{fmt, io};

pub(crate) const NO_REACTOR: &str =
    "no reactor on this thread; run inside a Raddle runtime built with enable_io";

/// The reactor of a resource has been shut down.
struct ShutdownError;

const SHUT_DOWN: &str = "the runtime has shut down; keep it alive while its I/O resources are used";

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHUT_DOWN)
    }
}

/// Shows only the text, because an `unwrap` prints it.
impl fmt::Debug for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(SHUT_DOWN, f)
    }
}

impl Error for ShutdownError {}

#[cold]
pub(crate) fn shut_down() -> io::Error {
    io::Error::other(ShutdownError)
}

/// Returns whether an error says that the reactor of a resource has been shut down.
pub fn is_shut_down(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<ShutdownError>())
}

#[cold]
pub(crate) fn forked() -> io::Error {
    io::Error::other("the reactor belongs to the parent process; create a runtime after the fork")
}

#[cold]
pub(crate) fn full() -> io::Error {
    io::Error::other("too many registrations; close some before opening more")
}

/// Names the system call if the system lacks it or a filter forbids it. Does not change other
/// errors.
#[cold]
pub(crate) fn refused(call: &str, error: io::Error) -> io::Error {
    match error.kind() {
        kind @ (io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) => io::Error::new(
            kind,
            format!("the system or its filter of system calls refuses {call}: {error}; allow it"),
        ),
        _ => error,
    }
}
