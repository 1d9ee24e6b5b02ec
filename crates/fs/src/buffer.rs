//! The bytes that a call on the pool writes or has read.

use std::cmp;
use std::io::{self, ErrorKind, IoSlice, Read, Write};

use raddle_io::ReadBuf;

/// The default maximum number of bytes that one call transfers.
pub(crate) const DEFAULT_MAX_BUF_SIZE: usize = 2 * 1024 * 1024;

/// An owned buffer, which can move to another thread.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// The memory that was used before, so that it is zeroed only once.
    bytes: Vec<u8>,
    /// The content is the bytes from `pos` to `end`.
    pos: usize,
    end: usize,
}

impl Buffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.pos == self.end
    }

    fn content(&self) -> &[u8] {
        &self.bytes[self.pos..self.end]
    }

    /// Discards the content, and returns its length.
    pub(crate) fn discard(&mut self) -> usize {
        let len = self.end - self.pos;
        (self.pos, self.end) = (0, 0);
        len
    }

    /// Moves as much of the content as `target` has room for.
    pub(crate) fn move_to(&mut self, target: &mut ReadBuf<'_>) {
        let n = cmp::min(self.end - self.pos, target.remaining());
        target.put_slice(&self.content()[..n]);
        self.pos += n;
    }

    /// Replaces the content with the first bytes of `sources`, at most `max`, and returns their
    /// number.
    pub(crate) fn copy_from(&mut self, sources: &[IoSlice<'_>], max: usize) -> usize {
        self.discard();
        self.bytes.clear();
        for source in sources {
            let room = max - self.bytes.len();
            self.bytes
                .extend_from_slice(&source[..cmp::min(room, source.len())]);
        }
        self.end = self.bytes.len();
        self.end
    }

    /// Shortens the content to the end of its last whole character, if it ends inside one, and
    /// returns how many bytes remain. Content that is not UTF-8 becomes at most three bytes
    /// shorter, and never empty.
    pub(crate) fn end_at_character(&mut self) -> usize {
        let content = self.content();
        let is_start = |byte: &u8| !matches!(byte, 0x80..=0xBF);
        // The first byte of a character determines its length.
        let start = content.iter().rev().take(3).position(is_start);
        if let Some(before) = start.map(|at| content.len() - 1 - at) {
            let length = match content[before] {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => 1,
            };
            if before > 0 && before + length > content.len() {
                self.end = self.pos + before;
            }
        }
        self.end - self.pos
    }

    /// Replaces the content with the result of one read of at most `max` bytes, and returns the
    /// number of bytes.
    pub(crate) fn read_from(&mut self, reader: &mut impl Read, max: usize) -> io::Result<usize> {
        self.discard();
        if self.bytes.len() < max {
            self.bytes.resize(max, 0);
        }
        loop {
            match reader.read(&mut self.bytes[..max]) {
                Ok(n) => {
                    self.end = n;
                    return Ok(n);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes the whole content, and empties it even if the write fails.
    pub(crate) fn write_to(&mut self, writer: &mut impl Write) -> io::Result<()> {
        let result = writer.write_all(self.content());
        self.discard();
        result
    }
}
