//! Copying between two streams in both directions.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::copy::{CAPACITY, CopyBuffer};
use crate::{AsyncRead, AsyncWrite};

/// Copies between `a` and `b` in both directions, until both have reached their end. Returns the
/// number of bytes from `a` to `b`, and from `b` to `a`.
///
/// When one direction ends, its target is flushed and shut down, and the other direction continues.
/// Interrupted reads and writes are retried. Takes part in the poll's budget; neither direction
/// starves the other.
///
/// # Errors
///
/// Returns the first error of a stream, in either direction, or `WriteZero` if a stream takes no
/// more bytes. The other direction then stops as well.
///
/// # Cancel safety
///
/// Not cancel safe: if the future is dropped before completion, up to 8 KiB in each direction that
/// were read and not yet written are lost.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional, duplex};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (mut client, mut proxy_client) = duplex(64);
/// let (mut proxy_server, mut server) = duplex(64);
/// let proxy = raddle::spawn(async move {
///     copy_bidirectional(&mut proxy_client, &mut proxy_server).await
/// });
///
/// client.write_all(b"ping").await?;
/// client.shutdown().await?;
/// let mut request = String::new();
/// server.read_to_string(&mut request).await?;
/// server.write_all(b"answer").await?;
/// server.shutdown().await?;
/// assert_eq!(proxy.await??, (4, 6));
/// # Ok(())
/// # }) }
/// ```
pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    copy_bidirectional_with_sizes(a, b, CAPACITY, CAPACITY).await
}

/// Like [`copy_bidirectional`], with a buffer of `a_to_b_buf_size` bytes for the one direction, and
/// of `b_to_a_buf_size` bytes for the other.
///
/// # Errors
///
/// Returns the same errors as [`copy_bidirectional`].
///
/// # Panics
///
/// Panics if a size is zero.
///
/// # Cancel safety
///
/// Not cancel safe: if the future is dropped before completion, the bytes in the buffers are lost.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncWriteExt, copy_bidirectional_with_sizes, duplex};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (mut client, mut proxy_client) = duplex(64);
/// let (mut proxy_server, mut server) = duplex(64);
/// client.write_all(b"ping").await?;
/// client.shutdown().await?;
/// server.shutdown().await?;
/// // Small buffers for a program with very many idle connections.
/// let sides = (&mut proxy_client, &mut proxy_server);
/// let copied = copy_bidirectional_with_sizes(sides.0, sides.1, 512, 512).await?;
/// assert_eq!(copied, (4, 0));
/// # Ok(())
/// # }) }
/// ```
pub async fn copy_bidirectional_with_sizes<A, B>(
    a: &mut A,
    b: &mut B,
    a_to_b_buf_size: usize,
    b_to_a_buf_size: usize,
) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    // A read into an empty buffer would look like the end.
    assert!(
        a_to_b_buf_size > 0,
        "`a_to_b_buf_size` must be greater than 0"
    );
    assert!(
        b_to_a_buf_size > 0,
        "`b_to_a_buf_size` must be greater than 0"
    );
    let mut a_to_b = Transfer::new(a_to_b_buf_size);
    let mut b_to_a = Transfer::new(b_to_a_buf_size);
    let mut b_first = false;
    poll_fn(|cx| {
        // A direction that is always ready uses up the budget, so each poll starts with the other
        // direction.
        b_first = !b_first;
        let (to_b, to_a) = if b_first {
            let to_a = b_to_a.poll(cx, &mut *b, &mut *a)?;
            (a_to_b.poll(cx, &mut *a, &mut *b)?, to_a)
        } else {
            let to_b = a_to_b.poll(cx, &mut *a, &mut *b)?;
            (to_b, b_to_a.poll(cx, &mut *b, &mut *a)?)
        };
        Poll::Ready(Ok((ready!(to_b), ready!(to_a))))
    })
    .await
}

/// The state of one direction.
enum Transfer {
    Copying(CopyBuffer),
    /// All bytes were copied; the target is being shut down.
    ShuttingDown(u64),
    Done(u64),
}

impl Transfer {
    fn new(buf_size: usize) -> Self {
        Self::Copying(CopyBuffer::new(buf_size))
    }

    fn poll<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut R,
        writer: &mut W,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + Unpin + ?Sized,
        W: AsyncWrite + Unpin + ?Sized,
    {
        loop {
            *self = match self {
                Self::Copying(buffer) => Self::ShuttingDown(ready!(buffer.poll_copy(
                    cx,
                    Pin::new(&mut *reader),
                    Pin::new(&mut *writer)
                ))?),
                Self::ShuttingDown(copied) => {
                    ready!(Pin::new(&mut *writer).poll_shutdown(cx))?;
                    Self::Done(*copied)
                }
                Self::Done(copied) => return Poll::Ready(Ok(*copied)),
            };
        }
    }
}
