//! Reading and writing, for all byte streams.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::task::{Context, Poll};

use bytes::BufMut;
use mio::event::Source;
use raddle_io::ReadBuf;
use raddle_reactor::{Evented, Interest, ReadyEvent, poll_budgeted};

use crate::sys::{Receive, Received, fill};

/// Whether a short read or write proves that a stream is drained or full, so that the next attempt
/// can wait for an event. This holds for epoll; elsewhere another attempt is made at once.
const SHORT_READ_DRAINS: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// The operating system transfers at most this many bytes in one call.
const MAX_BYTES: usize = 0x7fff_f000;
const MAX_SLICES: usize = 1024;

/// The number of bytes up to which several slices are copied together and written in one plain
/// call. A vectored call costs some 200 ns more, on a socket.
const MAX_JOINED_BYTES: usize = 1024;

impl<E: Source> ByteStream<E> for Evented<E> {
    fn evented(&self) -> &Evented<E> {
        self
    }
}

/// A byte stream that is registered with the reactor.
pub(crate) trait ByteStream<E: Source> {
    fn evented(&self) -> &Evented<E>;

    /// Reads into the unfilled part of `buf`.
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>>
    where
        E: Receive,
    {
        poll_budgeted(cx, |cx| {
            let registration = self.evented().registration();
            registration.poll_read_event(cx, |event| self.receive_after(event, buf))
        })
    }

    /// Reads without waiting, and returns the number of bytes.
    ///
    /// Unlike [`poll_read`](Self::poll_read), a short read leaves the source ready, as in Tokio. So
    /// a caller that tries again after it has sent a request finds an answer that has arrived
    /// since, without an event.
    fn try_read(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize>
    where
        E: Receive,
    {
        let before = buf.filled().len();
        self.evented()
            .try_io(Interest::READABLE, |stream| stream.receive(buf))?;
        Ok(buf.filled().len() - before)
    }

    /// Like [`try_read`](Self::try_read), but appends to `buf`.
    fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize>
    where
        E: Receive,
    {
        fill(buf, |buf| self.try_read(buf))
    }

    fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize>
    where
        for<'a> &'a E: Read,
    {
        self.evented()
            .try_io(Interest::READABLE, |mut stream| stream.read_vectored(bufs))
    }

    /// Writes `buf`.
    fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>
    where
        for<'a> &'a E: Write,
    {
        self.poll_send(cx, buf.len(), |mut stream| stream.write(buf))
    }

    /// Writes `bufs`, or the first of them if there are very many, in one call.
    fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>>
    where
        for<'a> &'a E: Write,
    {
        let (bufs, asked) = writable_part(bufs);
        self.poll_send(cx, asked, |stream| write_slices(stream, bufs, asked))
    }

    /// Writes without waiting. A short write leaves the stream writable; the next write then
    /// returns `WouldBlock`, as programs expect that write until they get that error.
    fn try_write(&self, buf: &[u8]) -> io::Result<usize>
    where
        for<'a> &'a E: Write,
    {
        self.evented()
            .try_io(Interest::WRITABLE, |mut stream| stream.write(buf))
    }

    fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize>
    where
        for<'a> &'a E: Write,
    {
        let (bufs, asked) = writable_part(bufs);
        self.evented().try_io(Interest::WRITABLE, |stream| {
            write_slices(stream, bufs, asked)
        })
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        asked: usize,
        mut send: impl FnMut(&E) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        poll_budgeted(cx, |cx| {
            let registration = self.evented().registration();
            registration.poll_write_event(cx, |event| self.send_after(event, asked, &mut send))
        })
    }

    /// Receives after `event`, and clears the readiness if the source is drained.
    fn receive_after(&self, event: ReadyEvent, buf: &mut ReadBuf<'_>) -> io::Result<()>
    where
        E: Receive,
    {
        let asked = buf.remaining();
        let Received {
            bytes,
            short_read_drains,
        } = self.evented().receive(buf)?;
        if short_read_drains {
            self.clear_short(event, bytes, asked);
        }
        Ok(())
    }

    /// Sends after `event`, and clears the readiness if the source is full.
    fn send_after(
        &self,
        event: ReadyEvent,
        asked: usize,
        send: impl FnOnce(&E) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let sent = send(self.evented())?;
        self.clear_short(event, sent, asked);
        Ok(sent)
    }

    /// Clears readiness after a short read or write. Zero bytes mean the end of the stream, not
    /// that it is drained or full.
    fn clear_short(&self, event: ReadyEvent, moved: usize, asked: usize) {
        if SHORT_READ_DRAINS && 0 < moved && moved < asked.min(MAX_BYTES) {
            let _ = self.evented().registration().clear_drained(event);
        }
    }
}

/// Writes `bufs`, which hold `bytes` in all. If they are few bytes in several slices, such as the
/// head and the body of a small response, copying them together is cheaper than a vectored call.
fn write_slices<E>(mut stream: &E, bufs: &[IoSlice<'_>], bytes: usize) -> io::Result<usize>
where
    for<'a> &'a E: Write,
{
    if bufs.len() == 1 {
        return stream.write(&bufs[0]);
    }
    let mut joint = [0; MAX_JOINED_BYTES];
    let Some(mut rest) = joint.get_mut(..bytes) else {
        return stream.write_vectored(bufs);
    };
    for buf in bufs {
        let part;
        (part, rest) = rest.split_at_mut(buf.len());
        part.copy_from_slice(buf);
    }
    stream.write(&joint[..bytes])
}

/// Returns the slices that fit into one call, and the number of their bytes.
fn writable_part<'a, 'b>(bufs: &'a [IoSlice<'b>]) -> (&'a [IoSlice<'b>], usize) {
    let bufs = &bufs[..bufs.len().min(MAX_SLICES)];
    let bytes = bufs
        .iter()
        .fold(0_usize, |sum, buf| sum.saturating_add(buf.len()));
    (bufs, bytes)
}
