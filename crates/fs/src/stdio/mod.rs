//! The standard streams of the process.
//!
//! [`stdin`], [`stdout`] and [`stderr`] are for programs that use them occasionally, such as a
//! filter or a server's log. Each operation is one of std's. Writes run on a thread of the
//! runtime's blocking pool, reads on a thread of the process: a read that waits for the user
//! cannot be stopped, and neither the shutdown of the runtime nor the end of the process waits for
//! it.

mod blocking;
mod input;
mod output;
mod stderr;
mod stdin;
mod stdout;

pub use self::output::Output;
pub use self::stderr::{Stderr, stderr};
pub use self::stdin::{Stdin, stdin};
pub use self::stdout::{Stdout, stdout};
