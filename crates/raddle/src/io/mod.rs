//! Reading and writing without blocking: the traits, buffers and helpers of
//! `raddle-io`, what sockets can be waited for, and the standard streams of
//! the process.
//!
//! # Standard streams
//!
//! [`stdin`], [`stdout`] and [`stderr`] are for programs that read and write
//! them now and then, as a filter or a server's log does. Each operation is one
//! of std, on a thread for [blocking work](crate::task::spawn_blocking).
//!
//! A program that talks to a person does better with a thread of its own for
//! reading: a read that has begun cannot be stopped, and the shutdown of the
//! runtime waits for it, until the person presses enter.
//! [`Runtime::shutdown_background`](crate::runtime::Runtime::shutdown_background)
//! does not wait.

#[cfg(feature = "io-std")]
pub use raddle_fs::stdio::{Output, Stderr, Stdin, Stdout, stderr, stdin, stdout};
pub use raddle_io::*;
#[cfg(feature = "mio")]
pub use raddle_reactor::{Interest, Ready};
pub use std::io::{Error, ErrorKind, Result, SeekFrom};

/// Waiting for any descriptor, by [`AsyncFd`](unix::AsyncFd).
#[cfg(all(feature = "net", unix))]
pub mod unix {
    pub use raddle_net::async_fd::*;
}
