//! The standard streams of the process.
//!
//! [`stdin`], [`stdout`] and [`stderr`] are for programs that use them occasionally, such as a
//! filter or a server's log. Each operation is one of std's, on a thread of the runtime's blocking
//! pool.
//!
//! An interactive program should read on a separate thread: a read that has begun cannot be
//! stopped, and the shutdown of the runtime waits for it until the user presses enter.

mod blocking;
mod output;
mod stderr;
mod stdin;
mod stdout;

pub use self::output::Output;
pub use self::stderr::{Stderr, stderr};
pub use self::stdin::{Stdin, stdin};
pub use self::stdout::{Stdout, stdout};
