//! A copy of a part of a thread's stack.

/// The largest part of a stack that is copied, in words: 256 KiB. The outer frames of a deeper
/// stack are left out.
const MAX_WORDS: usize = 32 * 1024;

/// The registers from which a stack is unwound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Registers {
    pub(super) instruction: usize,
    pub(super) stack: usize,
    /// The frame pointer, if it is known.
    pub(super) frame: Option<usize>,
    /// The link register, 0 if it is unknown.
    #[cfg(target_arch = "aarch64")]
    pub(super) link: usize,
}

/// Registers, and the words of the stack from the stack pointer up.
pub(super) struct Sample {
    pub(super) registers: Registers,
    pub(super) words: Box<[usize]>,
    /// The number of words that are copied; 0 if the thread was not on its own stack.
    pub(super) length: usize,
}

impl Sample {
    pub(super) fn new() -> Self {
        Self {
            registers: Registers::default(),
            words: vec![0; MAX_WORDS].into_boxed_slice(),
            length: 0,
        }
    }

    /// Returns whether the thread was on another stack than its own.
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the word at an address of the copied stack.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let start = self.registers.stack & !(size_of::<usize>() - 1);
        let offset = usize::try_from(address).ok()?.checked_sub(start)?;
        let (index, within) = (offset / size_of::<usize>(), offset % size_of::<usize>());
        let words = &self.words[..self.length];
        (within == 0)
            .then(|| words.get(index))
            .flatten()
            .map(|word| *word as u64)
    }
}
