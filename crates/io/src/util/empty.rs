//! A stream without bytes.

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::poll_consume_budget;
use crate::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

/// A reader that is always at its end, and a writer that discards what is written to it.
///
/// Comes from [`empty`]. Takes units of the task's budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Empty(());

/// Makes a stream that is always at its end, and discards what is written to it.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, empty};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut bytes = Vec::new();
/// assert_eq!(empty().read_to_end(&mut bytes).await?, 0);
/// # Ok(())
/// # }) }
/// ```
pub const fn empty() -> Empty {
    Empty(())
}

impl AsyncRead for Empty {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(poll_consume_budget(cx));
        Poll::Ready(Ok(()))
    }
}

impl AsyncBufRead for Empty {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        ready!(poll_consume_budget(cx));
        Poll::Ready(Ok(&[]))
    }

    fn consume(self: Pin<&mut Self>, _: usize) {}
}

/// Every seek returns position 0, which is also the end.
impl AsyncSeek for Empty {
    fn start_seek(self: Pin<&mut Self>, _: SeekFrom) -> io::Result<()> {
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        ready!(poll_consume_budget(cx));
        Poll::Ready(Ok(0))
    }
}

super::sink::swallow!(Empty);
