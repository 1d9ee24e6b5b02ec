//! Counting without a read-modify-write.

#[cfg(raddle_count)]
use crate::counting::AtomicU64;
#[cfg(not(target_has_atomic = "64"))]
use crate::locked_u64::AtomicU64;
#[cfg(all(not(raddle_count), target_has_atomic = "64"))]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

/// A number that one thread at a time writes with plain stores, and any thread reads.
///
/// A model does not switch threads at its operations, because counts would multiply the executions.
/// No code may therefore rely on it for synchronization.
#[derive(Debug)]
pub struct Count(AtomicU64);

impl Count {
    /// Starts at `number`.
    #[cfg(not(raddle_count))]
    pub const fn new(number: u64) -> Self {
        Self(AtomicU64::new(number))
    }

    /// Starts at `number`.
    #[cfg(raddle_count)]
    pub fn new(number: u64) -> Self {
        Self(crate::named("counters", AtomicU64::new(number)))
    }

    #[cfg(raddle_count)]
    pub(crate) fn word(&self) -> &AtomicU64 {
        &self.0
    }

    /// Adds to the number. Only the writer may call it.
    #[inline]
    pub fn add(&self, number: u64) {
        // ORDERING: only the caller writes it.
        self.set(self.0.load(Ordering::Relaxed).wrapping_add(number));
    }

    /// Sets the number. Only the writer may call it.
    #[inline]
    pub fn set(&self, number: u64) {
        // ORDERING: Release pairs with `get`: a thread that reads the number also sees what the
        // writer counted elsewhere before.
        self.0.store(number, Ordering::Release);
    }

    /// The number, as last written.
    #[inline]
    pub fn get(&self) -> u64 {
        // ORDERING: pairs with `set`.
        self.0.load(Ordering::Acquire)
    }
}

impl Default for Count {
    fn default() -> Self {
        Self::new(0)
    }
}
