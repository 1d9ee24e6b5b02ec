//! The errors of this crate, all of them `io::Error`.

use std::io;

pub(crate) const NO_REACTOR: &str =
    "no reactor on this thread; run inside a Raddle runtime built with enable_io";

#[cold]
pub(crate) fn shut_down() -> io::Error {
    io::Error::other("the runtime has shut down; keep it alive while its I/O resources are used")
}

#[cold]
pub(crate) fn forked() -> io::Error {
    io::Error::other("the reactor belongs to the parent process; create a runtime after the fork")
}

#[cold]
pub(crate) fn full() -> io::Error {
    io::Error::other("too many registrations; close some before opening more")
}
