//! Bytes, read as decisions.
//!
//! `arbitrary::Unstructured` reads bytes in the same way. It returns a `Result` for each decision,
//! though none of these can fail, and about 250 places would have to unwrap it.

/// Decisions, until the bytes they are made of end.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Makes decisions of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether all bytes are used up. Decisions are then the first of their kind.
    pub fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number of so many bits.
    pub fn bits(&mut self, count: u32) -> u64 {
        let mut word = 0;
        for _ in 0..count.div_ceil(8) {
            word = word << 8 | u64::from(self.byte());
        }
        word & (u64::MAX >> (64 - count.clamp(1, 64)))
    }

    /// One of `bound` numbers, from zero.
    ///
    /// # Panics
    ///
    /// If there are none, or more than 256.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!((1..=256).contains(&bound));
        usize::from(self.byte()) % bound
    }

    /// True about once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }
}
