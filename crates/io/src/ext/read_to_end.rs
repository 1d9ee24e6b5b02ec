//! `AsyncReadExt::read_to_end`.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::read_buf::poll_read_into;
use crate::util::poll_spend;
use crate::{AsyncRead, ReadBuf};

/// Bytes of room a vector gets at least when it grows.
const MIN_GROWTH: usize = 512;

/// Bytes read beside a full vector, to see whether it has to grow at all.
const PROBE: usize = 32;

/// The future of
/// [`AsyncReadExt::read_to_end`](crate::AsyncReadExt::read_to_end), which is
/// cancel safe.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct ReadToEnd<'a, R: ?Sized> {
    reader: &'a mut R,
    buf: &'a mut Vec<u8>,
    /// Bytes appended to `buf` by now.
    read: usize,
}

impl<'a, R: ?Sized> ReadToEnd<'a, R> {
    pub(super) fn new(reader: &'a mut R, buf: &'a mut Vec<u8>) -> Self {
        let read = 0;
        Self { reader, buf, read }
    }
}

impl<R: AsyncRead + Unpin + ?Sized> Future for ReadToEnd<'_, R> {
    type Output = io::Result<usize>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        poll_read_to_end(Pin::new(&mut *this.reader), cx, this.buf, &mut this.read)
    }
}

/// Reads to the end, appending to `buf` and counting in `read`.
pub(super) fn poll_read_to_end<R: AsyncRead + ?Sized>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    buf: &mut Vec<u8>,
    read: &mut usize,
) -> Poll<io::Result<usize>> {
    loop {
        match ready!(poll_append(reader.as_mut(), cx, buf)) {
            Ok(0) => return Poll::Ready(Ok(*read)),
            Ok(n) => *read += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
        // The reader may be ready for ever without counting it.
        ready!(poll_spend(cx));
    }
}

/// Reads once and appends it to `buf`, which grows only if it has to.
fn poll_append<R: AsyncRead + ?Sized>(
    reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    buf: &mut Vec<u8>,
) -> Poll<io::Result<usize>> {
    if buf.len() < buf.capacity() {
        return poll_read_into(reader, cx, buf);
    }
    if buf.capacity() < PROBE {
        buf.reserve(MIN_GROWTH);
        return poll_read_into(reader, cx, buf);
    }
    // Who made the vector as large as the content expects no second
    // allocation just because the end is still to be seen.
    let mut probe = [0; PROBE];
    let mut probe = ReadBuf::new(&mut probe);
    ready!(reader.poll_read(cx, &mut probe))?;
    let n = probe.filled().len();
    if n > 0 {
        buf.reserve(MIN_GROWTH);
        buf.extend_from_slice(probe.filled());
    }
    Poll::Ready(Ok(n))
}
