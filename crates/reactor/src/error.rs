//! The errors of this crate, all of them `io::Error`.

use std::error::Error;
use std::{fmt, io};

use raddle_leaf::misuse::Misuse;
use raddle_primitives::current;

use crate::Handle;

/// What an operation panics with if no reactor is current.
#[cold]
pub(crate) fn no_reactor() -> Misuse {
    Misuse::new(match current::is_hidden::<Handle>() {
        true => "no reactor in this runtime; call Builder::enable_io or Builder::enable_all",
        false => {
            "no reactor on this thread, which is outside a runtime; call this inside \
             `rt.block_on(async { ... })` or after `let _guard = rt.enter()`, where rt is built \
             with enable_io; without a runtime, enter a raddle_reactor::Handle"
        }
    })
}

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
