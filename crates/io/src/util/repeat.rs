//! A reader without end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::poll_consume_budget;
use crate::{AsyncRead, ReadBuf};

/// A reader that returns the same byte forever.
///
/// Comes from [`repeat`]. Takes units of the task's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat(u8);

/// Makes a reader that returns `byte` forever.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, repeat};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut bytes = [0; 3];
/// repeat(7).read_exact(&mut bytes).await?;
/// assert_eq!(bytes, [7, 7, 7]);
/// # Ok(())
/// # }) }
/// ```
pub const fn repeat(byte: u8) -> Repeat {
    Repeat(byte)
}

impl AsyncRead for Repeat {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(poll_consume_budget(cx));
        let n = buf.remaining();
        buf.initialize_unfilled().fill(self.0);
        buf.advance(n);
        Poll::Ready(Ok(()))
    }
}
