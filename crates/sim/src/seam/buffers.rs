//! Memory of callers, in several pieces.

use std::marker::PhantomData;

use libc::{c_void, iovec};

/// Pieces of memory that a caller has passed, to be read or to be filled from the first on.
pub(super) struct Buffers<'a> {
    pieces: Pieces,
    /// How much of them is filled.
    filled: usize,
    lives: PhantomData<&'a ()>,
}

enum Pieces {
    One(iovec),
    Several(*const iovec, usize),
}

impl Buffers<'_> {
    /// # Safety
    ///
    /// So many bytes are valid for what the buffer is used for, and stay so.
    pub(super) unsafe fn one(buf: *const c_void, length: usize) -> Self {
        let piece = iovec {
            iov_base: buf.cast_mut(),
            iov_len: length,
        };
        Self::new(Pieces::One(piece))
    }

    /// # Safety
    ///
    /// As for [`one`](Self::one), for each piece. So many pieces are valid.
    pub(super) unsafe fn several(pieces: *const iovec, count: usize) -> Self {
        Self::new(Pieces::Several(pieces, count))
    }

    fn new(pieces: Pieces) -> Self {
        Self {
            pieces,
            filled: 0,
            lives: PhantomData,
        }
    }

    pub(super) fn pieces(&self) -> &[iovec] {
        match &self.pieces {
            Pieces::One(piece) => std::slice::from_ref(piece),
            Pieces::Several(_, 0) => &[],
            // SAFETY: promised to `several`.
            Pieces::Several(pieces, count) => unsafe {
                std::slice::from_raw_parts(*pieces, *count)
            },
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pieces().iter().map(|piece| piece.iov_len).sum()
    }

    /// How much was filled.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// Copies as many bytes as there is room for behind those that are filled. Returns how many.
    pub(super) fn fill(&mut self, mut bytes: &[u8]) -> usize {
        let (mut skipped, before) = (self.filled, self.filled);
        let mut filled = 0;
        for piece in self.pieces() {
            let skip = skipped.min(piece.iov_len);
            skipped -= skip;
            let count = bytes.len().min(piece.iov_len - skip);
            if count > 0 {
                // SAFETY: promised to `one` and `several`; the piece has so many bytes.
                unsafe {
                    let into = piece.iov_base.cast::<u8>().add(skip);
                    into.copy_from_nonoverlapping(bytes.as_ptr(), count);
                }
            }
            bytes = &bytes[count..];
            filled += count;
        }
        self.filled = before + filled;
        filled
    }

    /// Calls `f` with the bytes of the pieces.
    pub(super) fn read<R>(&self, f: impl FnOnce(&[&[u8]]) -> R) -> R {
        let bytes = |piece: &iovec| -> &[u8] {
            match piece.iov_len {
                0 => &[],
                // SAFETY: promised to `one` and `several`.
                length => unsafe {
                    std::slice::from_raw_parts(piece.iov_base.cast::<u8>(), length)
                },
            }
        };
        match self.pieces() {
            [piece] => f(&[bytes(piece)]),
            pieces => f(&pieces.iter().map(bytes).collect::<Vec<_>>()),
        }
    }
}
