//! Numbers that are unique in the process.

#[cfg(not(target_has_atomic = "64"))]
use crate::locked_u64::AtomicU64;
#[cfg(target_has_atomic = "64")]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

/// A source of numbers from zero up. Each number occurs once in the process. A static of this type
/// gives unique ids.
///
/// It orders no other memory, so it is not modelled: a model does not switch threads here.
///
/// ```
/// use raddle_primitives::Numbers;
///
/// static NUMBERS: Numbers = Numbers::new();
///
/// let first = NUMBERS.take(10);
/// assert_eq!(NUMBERS.take(1), first + 10);
/// ```
#[derive(Debug)]
pub struct Numbers(AtomicU64);

impl Numbers {
    /// Starts at zero.
    #[allow(clippy::new_without_default, reason = "it is for statics")]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Takes the next `count` numbers and returns the first of them. They repeat after 2^64.
    #[inline]
    pub fn take(&self, count: u64) -> u64 {
        // ORDERING: only uniqueness matters.
        self.0.fetch_add(count, Ordering::Relaxed)
    }
}
