//! Standard input.

use std::io;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use raddle_io::{AsyncRead, ReadBuf};

use super::blocking::Blocking;
use super::input;

/// The standard input of the process.
///
/// Comes from [`stdin`].
#[derive(Debug)]
pub struct Stdin {
    inner: Blocking<io::Stdin>,
    /// The same stream, for requests of its descriptor.
    #[cfg(any(unix, windows))]
    pub(crate) std: io::Stdin,
}

/// Makes a reader of the standard input of the process.
///
/// Each read runs on a thread that the process has for the standard input, reads at most 2 MiB, and
/// cannot be stopped once it has begun. The shutdown of a runtime does not wait for it, and neither
/// does the end of the process.
///
/// All handles share the stream, as those of `std::io::stdin` do. If a read is dropped, its bytes
/// are returned by the next read of any [`Stdin`], in any runtime. A read of `std::io::stdin` does
/// not see them.
///
/// # Errors
///
/// Returns the errors of `std::io::Stdin`. If the system has no thread for it, the read fails, and
/// can be retried.
///
/// # Cancel safety
///
/// As forevery reader: `read` is cancel safe, `read_exact` is not.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncBufReadExt, BufReader};
///
/// # fn main() { async fn example() -> std::io::Result<()> {
/// let mut lines = BufReader::new(raddle::io::stdin()).lines();
/// while let Some(line) = lines.next_line().await? {
///     println!("{}", line.to_uppercase());
/// }
/// # Ok(()) } }
/// ```
pub fn stdin() -> Stdin {
    static STDIN: OnceLock<Blocking<io::Stdin>> = OnceLock::new();
    let shared = STDIN.get_or_init(|| Blocking::with_submit(io::stdin(), input::submit));
    Stdin {
        inner: shared.share(),
        #[cfg(any(unix, windows))]
        std: io::stdin(),
    }
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for Stdin {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.std.as_raw_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for Stdin {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.std.as_fd()
    }
}
