//! Child processes that can be awaited.
//!
//! [`Command`] is [`std::process::Command`] with futures: its children are
//! waited for, and their pipes read and written, without blocking a thread. It
//! needs a runtime built with [`enable_io`](crate::runtime::Builder::enable_io).
//!
//! ```
//! use raddle::process::Command;
//!
//! # #[raddle::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let output = Command::new("echo").arg("hello").output().await?;
//! assert!(output.status.success());
//! assert_eq!(output.stdout, b"hello\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Children that nobody waits for
//!
//! Dropping a [`Child`] does not end the process, unless
//! [`kill_on_drop`](Command::kill_on_drop) is set. When it ends, the runtime
//! takes its exit status, so that no zombie is left. If the runtime has shut
//! down by then, the next child that is spawned or dropped anywhere in the program
//! sees to it.
//!
//! On Linux, a child takes a descriptor when it is spawned, which says that it has
//! ended. Elsewhere, and where the system does not give one, that is noticed by
//! `SIGCHLD`; programs that
//! handle that signal otherwise than by [`signal`](crate::signal), or
//! [`signal-hook-registry`](https://docs.rs/signal-hook-registry), must call the
//! former handler. A child of a Linux process that has no descriptors left for
//! either is waited for by a thread.

mod child;
mod command;
mod ending;
mod orphans;
mod reap;
mod stdio;

pub use self::child::Child;
pub use self::command::Command;
pub use self::stdio::{ChildStderr, ChildStdin, ChildStdout};
