//! The pipes to and from a child.

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll};

use mio::unix::pipe::{Receiver, Sender};
use raddle_io::{AsyncRead, AsyncWrite, ReadBuf};
use raddle_reactor::{Evented, Handle, Interest};

/// The pipe to a child's standard input. Dropping it closes it: the child reads the end.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncWriteExt;
/// use raddle::process::Command;
/// use std::process::Stdio;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
/// let mut input = child.stdin.take().unwrap();
/// input.write_all(b"hello").await?;
/// // The end of the child's input.
/// drop(input);
/// assert!(child.wait().await?.success());
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct ChildStdin(Evented<Sender>);

/// The pipe from a child's standard output.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncBufReadExt, BufReader};
/// use raddle::process::Command;
/// use std::process::Stdio;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
/// let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
/// assert_eq!(lines.next_line().await?.as_deref(), Some("hello"));
/// child.wait().await?;
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct ChildStdout(Evented<Receiver>);

/// The pipe from a child's standard error.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncReadExt;
/// use raddle::process::Command;
/// use std::process::Stdio;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut command = Command::new("sh");
/// let mut child = command.args(["-c", "echo problem >&2"]).stderr(Stdio::piped()).spawn()?;
/// let mut errors = String::new();
/// child.stderr.take().unwrap().read_to_string(&mut errors).await?;
/// assert_eq!(errors, "problem\n");
/// child.wait().await?;
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct ChildStderr(Evented<Receiver>);

impl ChildStdin {
    /// Converts a pipe of std's type.
    ///
    /// # Errors
    ///
    /// Returns an error if the descriptor cannot be made non-blocking or be registered.
    ///
    /// # Panics
    ///
    /// Panics if the thread is not in a runtime with I/O.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncWriteExt;
    /// use raddle::process::ChildStdin;
    /// use std::process::{Command, Stdio};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    /// let mut input = ChildStdin::from_std(child.stdin.take().unwrap())?;
    /// input.write_all(b"hello").await?;
    /// drop(input);
    /// assert!(child.wait()?.success());
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn from_std(std: std::process::ChildStdin) -> io::Result<Self> {
        let pipe = Sender::from(std);
        pipe.set_nonblocking(true)?;
        Evented::new(pipe, Interest::WRITABLE, &Handle::current()).map(Self)
    }

    /// Returns the descriptor, in blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the descriptor cannot be made blocking or be deregistered.
    pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
        let pipe = self.0.into_inner()?;
        pipe.set_nonblocking(false)?;
        Ok(pipe.into())
    }
}

impl AsyncWrite for ChildStdin {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_write_io(cx, |mut pipe| pipe.write(buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0
            .poll_write_io(cx, |mut pipe| pipe.write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A pipe is closed by dropping it.
        raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
    }
}

/// Reads into the unfilled part of `buf`.
fn poll_read(
    pipe: &Evented<Receiver>,
    cx: &mut Context<'_>,
    buf: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    pipe.poll_read_io(cx, |mut pipe| {
        let count = pipe.read(buf.initialize_unfilled())?;
        buf.advance(count);
        Ok(())
    })
}

/// The methods of both outputs.
macro_rules! output {
    ($name:ident, $std:ty) => {
        impl $name {
            /// Converts a pipe of std's type.
            ///
            /// # Errors
            ///
            /// Returns an error if the descriptor cannot be made non-blocking or be registered.
            ///
            /// # Panics
            ///
            /// Panics if the thread is not in a runtime with I/O.
            #[track_caller]
            pub fn from_std(std: $std) -> io::Result<Self> {
                let pipe = Receiver::from(std);
                pipe.set_nonblocking(true)?;
                Evented::new(pipe, Interest::READABLE, &Handle::current()).map(Self)
            }

            /// Returns the descriptor, in blocking mode.
            ///
            /// # Errors
            ///
            /// Returns an error if the descriptor cannot be made blocking or be deregistered.
            ///
            /// # Examples
            ///
            /// ```
            /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
            /// use raddle::process::Command;
            /// use std::process::Stdio;
            ///
            /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
            /// // As in the shell: `echo hello | tr a-z A-Z`.
            /// let mut echo = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
            /// let hello = echo.stdout.take().unwrap().into_owned_fd()?;
            /// let output = Command::new("tr").args(["a-z", "A-Z"]).stdin(hello).output().await?;
            /// assert_eq!(output.stdout, b"HELLO\n");
            /// echo.wait().await?;
            /// # Ok(()) }) }
            /// ```
            pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
                let pipe = self.0.into_inner()?;
                pipe.set_nonblocking(false)?;
                Ok(pipe.into())
            }
        }

        impl AsyncRead for $name {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                poll_read(&self.0, cx, buf)
            }
        }
    };
}

output!(ChildStdout, std::process::ChildStdout);
output!(ChildStderr, std::process::ChildStderr);

/// The methods of all three types. `Stdio::try_from` makes a pipe the input or output of another
/// child.
macro_rules! descriptor {
    ($name:ident) => {
        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.0.as_raw_fd()
            }
        }

        impl TryFrom<$name> for Stdio {
            type Error = io::Error;

            fn try_from(pipe: $name) -> io::Result<Self> {
                pipe.into_owned_fd().map(Self::from)
            }
        }
    };
}

descriptor!(ChildStdin);
descriptor!(ChildStdout);
descriptor!(ChildStderr);
