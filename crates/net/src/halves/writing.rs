//! The writing half.

use std::io::{self, IoSlice, Write};
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_io::AsyncWrite;
use raddle_reactor::{Interest, Ready};

use super::{End, Ending, Stream};

/// The writing half of a stream, which `P` refers to. It comes from `split` or
/// `into_split`; modules name it `WriteHalf` and `OwnedWriteHalf`.
///
/// Dropping the half of `into_split` ends the writing direction, unless it is
/// forgotten or reunited with the other one; dropping the half of `split` does
/// not. Its methods are those of the stream of the same names.
#[derive(Debug)]
pub struct Writing<P>(pub(crate) P);

#[expect(private_bounds, reason = "no other stream can be split")]
impl<P> Writing<P>
where
    P: Deref<Target: Stream>,
{
    /// Waits until the stream is ready for any of `interest`, and says for
    /// what.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped, not even the readiness.
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.0.io().ready(interest).await
    }

    /// Waits until there is room to write.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped, not even the readiness.
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(Interest::WRITABLE).await.map(drop)
    }
}

#[expect(private_bounds, reason = "no other stream can be split")]
impl<P, A> Writing<P>
where
    P: Deref,
    P::Target: Stream<Addr = A>,
{
    /// The address of the other side.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn peer_addr(&self) -> io::Result<A> {
        self.0.peer_addr()
    }

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<A> {
        self.0.local_addr()
    }
}

#[expect(private_bounds, reason = "no other stream can be split")]
impl<P> Writing<P>
where
    P: Deref<Target: Stream>,
    for<'a> &'a <P::Target as Stream>::Source: Write,
{
    /// Writes as much as there is room for without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none. Others are the connection's.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.io().try_write(buf)
    }

    /// As [`try_write`](Self::try_write), from one buffer after the other.
    ///
    /// # Errors
    ///
    /// As [`try_write`](Self::try_write).
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.io().try_write_vectored(bufs)
    }
}

#[expect(private_bounds, reason = "no other stream can be split")]
impl<S: Stream> Writing<Ending<S>> {
    /// Drops the half without ending the writing direction.
    pub fn forget(mut self) {
        self.0.on_drop = false;
    }
}

impl<P> AsyncWrite for Writing<P>
where
    P: End + Unpin,
    for<'a> &'a <P::Target as Stream>::Source: Write,
{
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.io().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.io().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.end())
    }
}

impl<P: Deref> AsRef<P::Target> for Writing<P> {
    fn as_ref(&self) -> &P::Target {
        &self.0
    }
}
