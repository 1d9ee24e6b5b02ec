//! The standard streams of the process.
//!
//! [`stdin`], [`stdout`] and [`stderr`] are for programs that read and write
//! them now and then, as a filter or a server's log does. Each operation is one
//! of std, on a runtime's thread for blocking work.
//!
//! A program that talks to a person does better with a thread of its own for
//! reading: a read that has begun cannot be stopped, and the shutdown of the
//! runtime waits for it, until the person presses enter.

mod blocking;
mod output;
mod stderr;
mod stdin;
mod stdout;

pub use self::output::Output;
pub use self::stderr::{Stderr, stderr};
pub use self::stdin::{Stdin, stdin};
pub use self::stdout::{Stdout, stdout};
