//! Standard output.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_io::AsyncWrite;

use super::blocking::Blocking;

/// The standard output of the process.
///
/// Comes from [`stdout`].
#[derive(Debug)]
pub struct Stdout {
    inner: Blocking<io::Stdout>,
    /// The same stream, to be asked for its descriptor.
    #[cfg(unix)]
    std: io::Stdout,
}

/// Makes a writer of the standard output of the process.
///
/// A write is complete when its bytes are copied, 2 MiB at most at a time; they
/// are written afterwards, and before those of the next write to the same
/// `Stdout`. Nothing that was written is lost: a write that has been taken is done
/// even if the writer is dropped or the runtime shut down, as long as the
/// process lives. Only a flush says that it is done, so flush before the
/// process exits.
///
/// Two `Stdout`, or one and `std::io::stdout`, may write at the same time: each write
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
/// let mut stdout = raddle::io::stdout();
/// stdout.write_all(b"good morning\n").await?;
/// stdout.flush().await?;
/// # Ok(())
/// # }
/// ```
pub fn stdout() -> Stdout {
    Stdout {
        inner: Blocking::new(io::stdout()),
        #[cfg(unix)]
        std: io::stdout(),
    }
}

impl AsyncWrite for Stdout {
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
impl std::os::fd::AsRawFd for Stdout {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.std.as_raw_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for Stdout {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.std.as_fd()
    }
}
