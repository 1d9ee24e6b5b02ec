//! Whether a worker searches, and where it begins.

use std::cell::Cell;

/// The state of a worker's search.
pub(super) struct Searching {
    /// Whether the idle set counts the worker as searching.
    is_counted: Cell<bool>,
    random: Cell<u32>,
}

impl Searching {
    pub(super) fn new(worker: usize) -> Self {
        let number = u32::try_from(worker + 1).expect("MAX_WORKERS fits");
        Self {
            is_counted: Cell::new(false),
            random: Cell::new(number.wrapping_mul(0x9E37_79B9)),
        }
    }

    #[inline]
    pub(super) fn is_counted(&self) -> bool {
        self.is_counted.get()
    }

    pub(super) fn set(&self, is_counted: bool) {
        self.is_counted.set(is_counted);
    }

    /// Whether the worker was counted; it is not from now on.
    #[inline]
    pub(super) fn take(&self) -> bool {
        self.is_counted.replace(false)
    }

    /// A number for the choice of a victim (Marsaglia's xorshift).
    pub(super) fn next_random(&self) -> u32 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.random.set(random);
        random
    }
}
