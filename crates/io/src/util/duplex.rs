//! A pair of connected streams in memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_primitives::sync::Arc;

use super::pipe::{Pipe, write_to_pipe};
use crate::{AsyncRead, AsyncWrite, ReadBuf};

/// One of two connected streams in memory.
///
/// Comes from [`duplex`]. Takes units of the task's budget.
#[derive(Debug)]
pub struct DuplexStream {
    incoming: Arc<Pipe>,
    outgoing: Arc<Pipe>,
}

/// Makes two connected streams in memory: each reads what the other writes.
///
/// Each direction holds `max_buf_size` bytes at most; a write waits while there is no room. After
/// one stream was shut down or dropped, the other reads the bytes that were written before, and
/// then the end. Writing fails with `BrokenPipe` after the other stream was dropped, or after a
/// shutdown of the stream itself.
///
/// # Panics
///
/// Panics if the size is zero.
///
/// # Cancel safety
///
/// Cancel safe: reads and writes have no state of their own. Dropped while they wait, they have
/// transferred no bytes.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt, duplex};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (mut client, mut server) = duplex(64);
/// client.write_all(b"ping").await?;
///
/// let mut request = [0; 4];
/// server.read_exact(&mut request).await?;
/// assert_eq!(&request, b"ping");
/// # Ok(())
/// # }) }
/// ```
#[track_caller]
pub fn duplex(max_buf_size: usize) -> (DuplexStream, DuplexStream) {
    let there = Arc::new(Pipe::new(max_buf_size));
    let back = Arc::new(Pipe::new(max_buf_size));
    let one = DuplexStream {
        incoming: back.clone(),
        outgoing: there.clone(),
    };
    let other = DuplexStream {
        incoming: there,
        outgoing: back,
    };
    (one, other)
}

impl AsyncRead for DuplexStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.incoming.poll_read(cx, buf)
    }
}

impl AsyncWrite for DuplexStream {
    write_to_pipe!(outgoing);
}

impl Drop for DuplexStream {
    fn drop(&mut self) {
        self.outgoing.drop_writer();
        self.incoming.drop_reader();
    }
}
