//! Filling a part of a [`ReadBuf`], and any `BufMut` through one.

use std::io;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

use bytes::BufMut;
use bytes::buf::UninitSlice;

use super::ReadBuf;
use crate::AsyncRead;

impl ReadBuf<'_> {
    /// Lets `fill` fill a buffer over the first `limit` unfilled bytes, whose
    /// filled bytes become filled here, and says how many they were.
    ///
    /// # Panics
    ///
    /// If `fill` exchanges the buffer it is given for another.
    pub(crate) fn fill_limited<R>(
        &mut self,
        limit: usize,
        fill: impl FnOnce(&mut ReadBuf<'_>) -> R,
    ) -> (R, usize) {
        let mut window = self.take(limit);
        let place: *const [_] = window.buf;
        let result = fill(&mut window);
        assert!(
            ptr::eq(place, window.buf),
            "the reader exchanged its ReadBuf"
        );
        let (filled, initialized) = (window.filled, window.initialized);
        // SAFETY: the window is still the one over our own unfilled bytes, and
        // its invariant says that these are initialised.
        unsafe { self.assume_init(initialized) };
        self.advance(filled);
        (result, filled)
    }
}

/// Reads once from `reader` into `buf`, and says how many bytes it were.
///
/// Shows the reader one chunk of `buf`; the caller sees to it that there is
/// room.
pub(crate) fn poll_read_into<R, B>(
    reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    buf: &mut B,
) -> Poll<io::Result<usize>>
where
    R: AsyncRead + ?Sized,
    B: BufMut + ?Sized,
{
    // SAFETY: a `ReadBuf` writes only initialised bytes, and its unsafe
    // accessors forbid anything else to their callers.
    let chunk = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    let mut window = ReadBuf::uninit(chunk);
    let place: *const [_] = window.buf;
    ready!(reader.poll_read(cx, &mut window))?;
    assert!(
        ptr::eq(place, window.buf),
        "the reader exchanged its ReadBuf"
    );
    let filled = window.filled;
    // SAFETY: the window is still the one over the first unwritten bytes of
    // `buf`, and its first `filled` bytes are initialised.
    unsafe { buf.advance_mut(filled) };
    Poll::Ready(Ok(filled))
}

// SAFETY: `chunk_mut` is the whole of the unfilled bytes, which stay where
// they are, and `remaining_mut` is their number.
unsafe impl BufMut for ReadBuf<'_> {
    #[inline]
    fn remaining_mut(&self) -> usize {
        self.remaining()
    }

    #[inline]
    unsafe fn advance_mut(&mut self, n: usize) {
        assert!(n <= self.remaining(), "n is larger than remaining()");
        // SAFETY: the caller has initialised them.
        unsafe { self.assume_init(n) };
        self.advance(n);
    }

    #[inline]
    fn chunk_mut(&mut self) -> &mut UninitSlice {
        UninitSlice::uninit(&mut self.buf[self.filled..])
    }
}
