//! Reads bytes as random choices.
//!
//! `arbitrary::Unstructured` does the same, but returns a `Result` for each choice. None of these
//! choices can fail, and about 250 places would have to unwrap it.

/// A sequence of choices that ends with its bytes.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Makes choices from these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether all bytes are used up. Every further choice is then the first possible one.
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

    /// Returns a number of `count` bits.
    pub fn bits(&mut self, count: u32) -> u64 {
        let mut word = 0;
        for _ in 0..count.div_ceil(8) {
            word = word << 8 | u64::from(self.byte());
        }
        word & (u64::MAX >> (64 - count.clamp(1, 64)))
    }

    /// Returns a number below `bound`.
    ///
    /// # Panics
    ///
    /// Panics if `bound` is zero or more than 256.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!((1..=256).contains(&bound));
        usize::from(self.byte()) % bound
    }

    /// Returns true about once in `times` calls.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }
}
