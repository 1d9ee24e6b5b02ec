//! The pipes to and from a child, on Windows: the ends that std opens are named pipes for
//! overlapped operations, as mio's.

use std::io::{self, Read, Write};
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, OwnedHandle, RawHandle};
use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll};

use mio::windows::NamedPipe;
use raddle_io::{AsyncRead, AsyncWrite, ReadBuf};
use raddle_reactor::{Evented, Handle, Interest};

use crate::sys;

/// The pipe to a child's standard input. Dropping it closes it: the child reads the end.
///
/// A write is complete when the bytes are in a buffer of the pipe; the system takes them while the
/// program goes on.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncWriteExt;
/// use raddle::process::Command;
/// use std::process::Stdio;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut child = Command::new("sort").stdin(Stdio::piped()).spawn()?;
/// let mut input = child.stdin.take().unwrap();
/// input.write_all(b"two\r\none\r\n").await?;
/// // The end of the child's input.
/// drop(input);
/// assert!(child.wait().await?.success());
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct ChildStdin(Evented<NamedPipe>);

/// The pipe from a child's standard output.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncReadExt;
/// use raddle::process::Command;
/// use std::process::Stdio;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut child = Command::new("hostname").stdout(Stdio::piped()).spawn()?;
/// let mut name = String::new();
/// child.stdout.take().unwrap().read_to_string(&mut name).await?;
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct ChildStdout(Evented<NamedPipe>);

/// The pipe from a child's standard error output.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncReadExt;
/// use raddle::process::Command;
/// use std::process::Stdio;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut child = Command::new("sort").arg("missing").stderr(Stdio::piped()).spawn()?;
/// let mut errors = String::new();
/// child.stderr.take().unwrap().read_to_string(&mut errors).await?;
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct ChildStderr(Evented<NamedPipe>);

impl AsyncWrite for ChildStdin {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_write_io(cx, |mut pipe| pipe.write(buf))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A pipe is closed by dropping it.
        Poll::Ready(Ok(()))
    }
}

/// Reads into the unfilled part of `buf`. If the child has closed its side, the data ends.
fn poll_read(
    pipe: &Evented<NamedPipe>,
    cx: &mut Context<'_>,
    buf: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    pipe.poll_read_io(cx, |mut pipe| {
        match pipe.read(buf.initialize_unfilled()) {
            Ok(count) => buf.advance(count),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => return Err(error),
        }
        Ok(())
    })
}

impl AsyncRead for ChildStdout {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        poll_read(&self.0, cx, buf)
    }
}

impl AsyncRead for ChildStderr {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        poll_read(&self.0, cx, buf)
    }
}

/// The methods that all three have.
macro_rules! pipe {
    ($name:ident, $std:ty, $interest:expr) => {
        impl $name {
            /// Takes a pipe over from std.
            ///
            /// # Errors
            ///
            /// Returns an error if the pipe cannot be registered with the reactor.
            ///
            /// # Panics
            ///
            /// Panics if there is no reactor.
            #[track_caller]
            pub fn from_std(std: $std) -> io::Result<Self> {
                Evented::new(sys::pipe_of(std), $interest, &Handle::current()).map(Self)
            }

            /// Returns a duplicate of the handle, and closes this one. Bytes that were read ahead
            /// are lost.
            ///
            /// # Errors
            ///
            /// Returns an error if the system has no further handle.
            pub fn into_owned_handle(self) -> io::Result<OwnedHandle> {
                self.as_handle().try_clone_to_owned()
            }
        }

        impl AsHandle for $name {
            fn as_handle(&self) -> BorrowedHandle<'_> {
                sys::handle_of(&self.0)
            }
        }

        impl AsRawHandle for $name {
            fn as_raw_handle(&self) -> RawHandle {
                self.0.as_raw_handle()
            }
        }

        impl TryFrom<$name> for Stdio {
            type Error = io::Error;

            fn try_from(pipe: $name) -> io::Result<Self> {
                pipe.into_owned_handle().map(Self::from)
            }
        }
    };
}

pipe!(ChildStdin, std::process::ChildStdin, Interest::WRITABLE);
pipe!(ChildStdout, std::process::ChildStdout, Interest::READABLE);
pipe!(ChildStderr, std::process::ChildStderr, Interest::READABLE);
