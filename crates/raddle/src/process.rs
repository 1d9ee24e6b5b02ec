//! Child processes.
//!
//! [`Command`] is [`std::process::Command`] with futures: [`output`](Command::output) and
//! [`status`](Command::status) run a command to completion, and [`spawn`](Command::spawn) returns a
//! [`Child`] with pipes to read and write. It needs a runtime built with
//! [`enable_io`](crate::runtime::Builder::enable_io).
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
//! # Pipes
//!
//! Write a child's input and read its output at the same time, with
//! [`try_join!`](crate::try_join) or in two tasks: a child whose output pipe is full stops reading.
//! Drop [`ChildStdin`] to end the child's input.
//!
//! ```
//! use raddle::io::{AsyncReadExt, AsyncWriteExt};
//! use raddle::process::Command;
//! use std::process::Stdio;
//!
//! # #[raddle::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let mut command = Command::new("sort");
//! let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
//! let mut input = child.stdin.take().unwrap();
//! let mut output = child.stdout.take().unwrap();
//! let write = async move { input.write_all(b"b\na\n").await };
//! let mut sorted = String::new();
//! raddle::try_join!(write, output.read_to_string(&mut sorted))?;
//! assert_eq!(sorted, "a\nb\n");
//! assert!(child.wait().await?.success());
//! # Ok(())
//! # }
//! ```
//!
//! # Children that are dropped
//!
//! Dropping a [`Child`] leaves the process running, unless [`kill_on_drop`](Command::kill_on_drop)
//! is set. In both cases any running runtime of the program takes the exit status when the process
//! ends, so that it leaves no zombie. To end a process and wait for it, use [`Child::kill`].

pub use raddle_process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
