//! Copying between two streams in both directions.

use std::future::{Future, poll_fn};
use std::io;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_leaf::misuse::{Misuse, io_at_caller};

use super::copy::{CAPACITY, CopyBuffer, MAX_YIELDS};
use crate::{AsyncRead, AsyncWrite};

/// Copies between `a` and `b` in both directions, until both have reached their end. Returns the
/// number of bytes from `a` to `b`, and from `b` to `a`.
///
/// When one direction ends, its target is flushed and shut down, and the other direction continues.
/// While a write is pending, its direction reads ahead until its buffer is full. Interrupted reads
/// and writes are retried. Takes units of the task's budget. The directions take turns, and neither
/// starves the other, even if no budget limits the poll.
///
/// # Errors
///
/// Returns the first error of a stream, in either direction, or `WriteZero` if a stream takes no
/// more bytes. Neither direction then reads any further. Before the error is returned, the bytes
/// that were read are written and flushed. This does not wait for a stream that accepts nothing:
/// the task yields to its peer, and when it has done so 64 times in succession, what is left is
/// lost. Errors of these writes are ignored. With [`Counted`](crate::Counted) streams the number of
/// bytes that each has accepted is there after an error too.
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
#[track_caller]
pub fn copy_bidirectional<A, B>(
    a: &mut A,
    b: &mut B,
) -> impl Future<Output = io::Result<(u64, u64)>>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    io_at_caller(copy_both_ways(a, b, CAPACITY, CAPACITY))
}

/// Like [`copy_bidirectional`], with a buffer of `a_to_b_buf_size` bytes for the first direction,
/// and of `b_to_a_buf_size` bytes for the second. Small buffers suit a program with many idle
/// connections.
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
#[track_caller]
pub fn copy_bidirectional_with_sizes<A, B>(
    a: &mut A,
    b: &mut B,
    a_to_b_buf_size: usize,
    b_to_a_buf_size: usize,
) -> impl Future<Output = io::Result<(u64, u64)>>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    io_at_caller(async move {
        // A read into an empty buffer would look like the end.
        if a_to_b_buf_size == 0 {
            return Err(Misuse::new("`a_to_b_buf_size` must be greater than 0").into());
        }
        if b_to_a_buf_size == 0 {
            return Err(Misuse::new("`b_to_a_buf_size` must be greater than 0").into());
        }
        copy_both_ways(a, b, a_to_b_buf_size, b_to_a_buf_size).await
    })
}

async fn copy_both_ways<A, B>(
    a: &mut A,
    b: &mut B,
    a_to_b_buf_size: usize,
    b_to_a_buf_size: usize,
) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    let mut transfers = Transfers {
        a_to_b: Transfer::new(a_to_b_buf_size),
        b_to_a: Transfer::new(b_to_a_buf_size),
        b_first: false,
    };
    let error = match poll_fn(|cx| transfers.poll(cx, a, b)).await {
        Ok(copied) => return Ok(copied),
        // As in `CopyBuffer`.
        Err(error) => AssertUnwindSafe(error),
    };
    let mut yields_left = MAX_YIELDS;
    poll_fn(|cx| transfers.poll_drain(cx, a, b, &mut yields_left)).await;
    Err(error.0)
}

/// The maximum number of reads and writes of both directions in a poll that no budget limits.
const MAX_STEPS: usize = 8 * 1024;

/// Both directions.
struct Transfers {
    a_to_b: Transfer,
    b_to_a: Transfer,
    /// Whether the last poll began with the direction from `b` to `a`. Polls begin with alternating
    /// directions, so that both make progress with a budget of one unit.
    b_first: bool,
}

impl Transfers {
    /// Takes steps of both directions in turn, until both are pending or done.
    fn poll<A, B>(
        &mut self,
        cx: &mut Context<'_>,
        a: &mut A,
        b: &mut B,
    ) -> Poll<io::Result<(u64, u64)>>
    where
        A: AsyncRead + AsyncWrite + Unpin + ?Sized,
        B: AsyncRead + AsyncWrite + Unpin + ?Sized,
    {
        self.b_first = !self.b_first;
        let mut b_next = self.b_first;
        let mut other_is_pending = false;
        for _ in 0..MAX_STEPS {
            let step = match b_next {
                true => self.b_to_a.poll_step(cx, b, a)?,
                false => self.a_to_b.poll_step(cx, a, b)?,
            };
            match step {
                Poll::Ready(()) if other_is_pending => {}
                Poll::Ready(()) => b_next = !b_next,
                Poll::Pending if other_is_pending => {
                    return match (&self.a_to_b, &self.b_to_a) {
                        (&Transfer::Done(to_b), &Transfer::Done(to_a)) => {
                            Poll::Ready(Ok((to_b, to_a)))
                        }
                        _ => Poll::Pending,
                    };
                }
                Poll::Pending => {
                    other_is_pending = true;
                    b_next = !b_next;
                }
            }
        }
        // A poll that lasts longer would starve the other tasks, and the direction that is pending.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// After an error: writes and flushes what either direction has read, as far as the streams
    /// accept it: the task yields `yields_left` times between two writes.
    fn poll_drain<A, B>(
        &mut self,
        cx: &mut Context<'_>,
        a: &mut A,
        b: &mut B,
        yields_left: &mut u32,
    ) -> Poll<()>
    where
        A: AsyncWrite + Unpin + ?Sized,
        B: AsyncWrite + Unpin + ?Sized,
    {
        let before = self.a_to_b.unwritten() + self.b_to_a.unwritten();
        let drained = [self.a_to_b.poll_drain(cx, b), self.b_to_a.poll_drain(cx, a)];
        if self.a_to_b.unwritten() + self.b_to_a.unwritten() < before {
            *yields_left = MAX_YIELDS;
        }
        if drained.iter().all(Poll::is_ready) || *yields_left == 0 {
            return Poll::Ready(());
        }
        *yields_left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
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

    /// Reads, writes or shuts down once. Also pending when the direction is done.
    fn poll_step<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut R,
        writer: &mut W,
    ) -> Poll<io::Result<()>>
    where
        R: AsyncRead + Unpin + ?Sized,
        W: AsyncWrite + Unpin + ?Sized,
    {
        *self = match self {
            Self::Copying(buffer) => {
                let step = buffer.poll_step(cx, Pin::new(reader), Pin::new(writer));
                // The error is not held back while a write is pending.
                if let Some(error) = buffer.take_read_error() {
                    return Poll::Ready(Err(error));
                }
                match ready!(step)? {
                    Some(copied) => Self::ShuttingDown(copied),
                    None => return Poll::Ready(Ok(())),
                }
            }
            Self::ShuttingDown(copied) => {
                ready!(Pin::new(writer).poll_shutdown(cx))?;
                Self::Done(*copied)
            }
            Self::Done(_) => return Poll::Pending,
        };
        Poll::Ready(Ok(()))
    }

    /// The number of bytes that were read and not written yet.
    fn unwritten(&self) -> usize {
        match self {
            Self::Copying(buffer) => buffer.unwritten(),
            Self::ShuttingDown(_) | Self::Done(_) => 0,
        }
    }

    fn poll_drain<W: AsyncWrite + Unpin + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut W,
    ) -> Poll<()> {
        match self {
            Self::Copying(buffer) => buffer.poll_drain(cx, Pin::new(writer)),
            Self::ShuttingDown(_) | Self::Done(_) => Poll::Ready(()),
        }
    }
}
