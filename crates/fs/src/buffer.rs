//! The bytes that were read ahead of the caller.

use std::cmp;
use std::io::{self, ErrorKind, Read};

use raddle_io::ReadBuf;

/// The default maximum number of bytes that one call transfers.
pub(crate) const DEFAULT_MAX_BUF_SIZE: usize = 2 * 1024 * 1024;

/// Unused capacity above which a buffer is reallocated before it is kept.
const MAX_UNUSED: usize = 4 * 1024;

/// The bytes of one read that no caller has received. It has no memory when it is empty.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// The bytes before this index were received.
    pos: usize,
}

impl Buffer {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.pos
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Moves as much of the content as `target` has room for.
    pub(crate) fn move_to(&mut self, target: &mut ReadBuf<'_>) {
        let n = cmp::min(self.len(), target.remaining());
        target.put_slice(&self.bytes[self.pos..self.pos + n]);
        self.pos += n;
        if self.is_empty() {
            self.clear();
        }
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(mut bytes: Vec<u8>) -> Self {
        if bytes.capacity() - bytes.len() > MAX_UNUSED {
            bytes.shrink_to_fit();
        }
        Self { bytes, pos: 0 }
    }
}

/// Returns the result of one read of at most `max` bytes, repeated while a signal interrupts it.
pub(crate) fn read(reader: &mut impl Read, max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; max];
    let n = uninterrupted(|| reader.read(&mut bytes))?;
    bytes.truncate(n);
    Ok(bytes)
}

/// Calls `read` until no signal interrupts it.
pub(crate) fn uninterrupted(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Returns how many of `bytes` are whole characters: fewer than all if the last character is cut.
/// Bytes that are not UTF-8 are shortened by at most three, and never to nothing.
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    let is_start = |byte: &u8| !matches!(byte, 0x80..=0xBF);
    // The first byte of a character determines its length.
    let start = bytes.iter().rev().take(3).position(is_start);
    if let Some(before) = start.map(|at| bytes.len() - 1 - at) {
        let length = match bytes[before] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        if before > 0 && before + length > bytes.len() {
            return before;
        }
    }
    bytes.len()
}
