//! Filling a part of a [`ReadBuf`], and a vector or any `BufMut` through one.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

use bytes::BufMut;
use bytes::buf::UninitSlice;

use super::ReadBuf;
use crate::AsyncRead;

impl ReadBuf<'_> {
    /// Calls `fill` with a buffer over the first `limit` unfilled bytes. The bytes that it fills
    /// become filled in this buffer; returns their number.
    ///
    /// # Panics
    ///
    /// Panics if `fill` replaces the buffer with another one.
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
            "the reader exchanged its ReadBuf; fill the buffer that poll_read was given"
        );
        let (filled, initialized) = (window.filled, window.initialized);
        // SAFETY: the window is still over this buffer's unfilled bytes, and its invariant says
        // that these are initialised.
        unsafe { self.assume_init(initialized) };
        self.advance(filled);
        (result, filled)
    }
}

/// Reads once from `reader` into `buf`, and returns the number of bytes.
///
/// Gives the reader one chunk of `buf`; the caller makes sure that there is room.
pub(crate) fn poll_read_into<R, B>(
    reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    buf: &mut B,
) -> Poll<io::Result<usize>>
where
    R: AsyncRead + ?Sized,
    B: BufMut + ?Sized,
{
    // SAFETY: a `ReadBuf` writes only initialised bytes, and the contracts of its unsafe accessors
    // forbid anything else.
    let chunk = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    let mut window = ReadBuf::uninit(chunk);
    let place: *const [_] = window.buf;
    ready!(reader.poll_read(cx, &mut window))?;
    assert!(
        ptr::eq(place, window.buf),
        "the reader exchanged its ReadBuf; fill the buffer that poll_read was given"
    );
    let filled = window.filled;
    // SAFETY: the window is still over the first unwritten bytes of `buf`, and its first `filled`
    // bytes are initialised.
    unsafe { buf.advance_mut(filled) };
    Poll::Ready(Ok(filled))
}

/// The minimum spare capacity of a vector for a read, in bytes. A vector with less grows. But while
/// it has the capacity that its owner gave it, a read goes to a buffer of this size on the stack,
/// so that a vector that is exactly as large as the content does not grow just to find the end.
const MIN_ROOM: usize = 32;

/// A vector that a reader appends to, which remembers across reads how much of its spare capacity
/// is initialised.
#[derive(Debug)]
pub(crate) struct Appender<V> {
    vec: V,
    /// The capacity that the vector's owner gave it.
    own_capacity: usize,
    /// The number of bytes after the vector's length that earlier reads have initialised. No other
    /// code has changed the vector since.
    initialized: usize,
}

/// A vector, owned or borrowed, which is the same at each call.
pub(crate) trait VecMut: Sealed {
    fn vec(&mut self) -> &mut Vec<u8>;
}

pub(crate) trait Sealed {}

impl Sealed for Vec<u8> {}

impl VecMut for Vec<u8> {
    fn vec(&mut self) -> &mut Vec<u8> {
        self
    }
}

impl Sealed for &mut Vec<u8> {}

impl VecMut for &mut Vec<u8> {
    fn vec(&mut self) -> &mut Vec<u8> {
        self
    }
}

impl<V: VecMut> Appender<V> {
    pub(crate) fn new(mut vec: V) -> Self {
        let own_capacity = vec.vec().capacity();
        Self {
            vec,
            own_capacity,
            initialized: 0,
        }
    }

    /// Returns the vector, which the caller may change in any way.
    pub(crate) fn vec_mut(&mut self) -> &mut Vec<u8> {
        self.initialized = 0;
        self.vec.vec()
    }

    /// Reads once, and appends the bytes. The vector grows only if it has to.
    pub(crate) fn poll_read<R: AsyncRead + ?Sized>(
        &mut self,
        reader: Pin<&mut R>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let vec = self.vec.vec();
        if vec.capacity() - vec.len() < MIN_ROOM {
            if vec.capacity() == self.own_capacity && self.own_capacity >= MIN_ROOM {
                return self.poll_read_beside(reader, cx);
            }
            vec.reserve(MIN_ROOM);
            self.initialized = 0;
        }
        let mut window = ReadBuf::uninit(vec.spare_capacity_mut());
        // SAFETY: earlier reads have initialised these bytes, and the vector has neither moved nor
        // been changed since: both would have reset the number.
        unsafe { window.assume_init(self.initialized) };
        let place: *const [_] = window.buf;
        ready!(reader.poll_read(cx, &mut window))?;
        assert!(
            ptr::eq(place, window.buf),
            "the reader exchanged its ReadBuf; fill the buffer that poll_read was given"
        );
        let (filled, initialized) = (window.filled, window.initialized);
        let len = vec.len() + filled;
        // SAFETY: the window is over the bytes after the vector's length, and the filled ones are
        // initialised.
        unsafe { vec.set_len(len) };
        self.initialized = initialized - filled;
        Poll::Ready(Ok(filled))
    }

    fn poll_read_beside<R: AsyncRead + ?Sized>(
        &mut self,
        reader: Pin<&mut R>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let mut probe = [MaybeUninit::uninit(); MIN_ROOM];
        let mut probe = ReadBuf::uninit(&mut probe);
        ready!(reader.poll_read(cx, &mut probe))?;
        let read = probe.filled();
        if !read.is_empty() {
            self.vec_mut().extend_from_slice(read);
        }
        Poll::Ready(Ok(read.len()))
    }
}

// SAFETY: `chunk_mut` returns all unfilled bytes, which do not move, and `remaining_mut` their
// number.
unsafe impl BufMut for ReadBuf<'_> {
    #[inline]
    fn remaining_mut(&self) -> usize {
        self.remaining()
    }

    #[inline]
    unsafe fn advance_mut(&mut self, n: usize) {
        assert!(n <= self.remaining(), "n is larger than remaining()");
        // SAFETY: the caller has initialised these bytes.
        unsafe { self.assume_init(n) };
        self.advance(n);
    }

    #[inline]
    fn chunk_mut(&mut self) -> &mut UninitSlice {
        UninitSlice::uninit(&mut self.buf[self.filled..])
    }
}
