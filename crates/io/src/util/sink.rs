//! A writer that discards its input.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::poll_consume_budget;
use crate::AsyncWrite;

/// Discards what is written to it.
///
/// Comes from [`sink`]. Takes units of the task's budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sink(());

/// Makes a writer that discards what is written to it.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncWriteExt, sink};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// assert_eq!(sink().write(b"text").await?, 4);
/// # Ok(())
/// # }) }
/// ```
pub const fn sink() -> Sink {
    Sink(())
}

/// Implements `AsyncWrite` for a type that discards everything.
macro_rules! swallow {
    ($name:ty) => {
        impl AsyncWrite for $name {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                ready!(poll_consume_budget(cx));
                Poll::Ready(Ok(buf.len()))
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                ready!(poll_consume_budget(cx));
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                ready!(poll_consume_budget(cx));
                Poll::Ready(Ok(()))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                ready!(poll_consume_budget(cx));
                Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()))
            }

            fn is_write_vectored(&self) -> bool {
                true
            }
        }
    };
}
pub(super) use swallow;

swallow!(Sink);
