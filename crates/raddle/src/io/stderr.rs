//! Standard error output.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_io::AsyncWrite;

use super::blocking::Blocking;

/// The standard error output of the process.
///
/// Comes from [`stderr`].
#[derive(Debug)]
pub struct Stderr {
    inner: Blocking<io::Stderr>,
    /// The same stream, to be asked for its descriptor.
    #[cfg(unix)]
    std: io::Stderr,
}

/// Makes a writer of the standard error output of the process.
///
/// A write is complete when its bytes are copied, 2 MiB at most at a time; they
/// are written afterwards, and before those of the next write to the same
/// `Stderr`. Nothing that was written is lost: a write that has been taken is done
/// even if the writer is dropped or the runtime shut down, as long as the
/// process lives. Only a flush says that it is done, so flush before the
/// process exits.
///
/// Two `Stderr`, or one and `std::io::stderr`, may write at the same time: each write
/// is whole, and which one is first is not said.
///
/// # Errors
///
/// An error of a write is that of the next write or flush.
///
/// # Panics
///
/// Writing and flushing panic if the thread is in no runtime.
///
/// # Cancel safety
///
/// As for every writer: `write` and `flush` are cancel safe, `write_all` is
/// not.
///
/// # Examples
///
/// ```
/// use raddle::io::AsyncWriteExt;
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut stderr = raddle::io::stderr();
/// stderr.write_all(b"good morning\n").await?;
/// stderr.flush().await?;
/// # Ok(())
/// # }
/// ```
pub fn stderr() -> Stderr {
    Stderr {
        inner: Blocking::new(io::stderr()),
        #[cfg(unix)]
        std: io::stderr(),
    }
}

impl AsyncWrite for Stderr {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for Stderr {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.std.as_raw_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for Stderr {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.std.as_fd()
    }
}
