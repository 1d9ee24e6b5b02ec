//! The memory of the process, read through the system: an address that is not mapped is an error.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// `/proc/self/mem`.
pub(super) struct Memory(File);

impl Memory {
    /// Returns `None` if the system does not offer it.
    pub(super) fn open() -> Option<Self> {
        File::open("/proc/self/mem").ok().map(Self)
    }

    /// Reads the bytes at an address until the first one that is not mapped, and returns how many.
    pub(super) fn read(&self, address: usize, bytes: &mut [u8]) -> usize {
        self.0.read_at(bytes, address as u64).unwrap_or(0)
    }

    /// Reads words, as [`read`](Self::read).
    pub(super) fn read_words(&self, address: usize, words: &mut [usize]) -> usize {
        let length = size_of_val(words);
        // SAFETY: the bytes are those of `words`, which is borrowed as long; each value of them is
        // one of an integer.
        let bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), length) };
        self.read(address, bytes) / size_of::<usize>()
    }

    /// Returns whether no byte of the range differs from zero. Bytes that are not mapped do not.
    pub(super) fn is_zero(&self, addresses: Range<usize>) -> bool {
        const PIECE: usize = 4096;
        let mut bytes = [0; PIECE];
        addresses.clone().step_by(PIECE).all(|start| {
            let length = PIECE.min(addresses.end - start);
            let read = self.read(start, &mut bytes[..length]);
            bytes[..read].iter().all(|&byte| byte == 0)
        })
    }
}
