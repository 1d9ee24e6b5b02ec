//! A word of 64 bits under a lock, for targets that have no atomic one, such as ARMv5 and 32-bit
//! PowerPC.
//!
//! It promises no less than an atomic word does, with any ordering and fences: the lock orders all
//! operations on the word, and an operation happens before the next one of another thread. A thread
//! that is interrupted under the lock delays the others, so the layers are not lock-free on such a
//! target.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// std's atomic word of the same name, under a lock. The operations take orderings only to have the
/// same signatures; every operation has the strongest one.
#[derive(Default)]
pub struct AtomicU64(Mutex<u64>);

impl AtomicU64 {
    /// Makes a word with a value.
    pub const fn new(value: u64) -> Self {
        Self(Mutex::new(value))
    }

    fn word(&self) -> MutexGuard<'_, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, new: impl FnOnce(u64) -> u64) -> u64 {
        let mut word = self.word();
        let old = *word;
        *word = new(old);
        old
    }

    /// Reads the value.
    pub fn load(&self, _order: Ordering) -> u64 {
        *self.word()
    }

    /// Writes a value.
    pub fn store(&self, value: u64, _order: Ordering) {
        *self.word() = value;
    }

    /// Replaces the value, and returns the old one.
    pub fn swap(&self, value: u64, _order: Ordering) -> u64 {
        self.update(|_| value)
    }

    /// Replaces the value if it is `current`.
    ///
    /// # Errors
    ///
    /// Returns the value if it is not `current`.
    pub fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<u64, u64> {
        let mut word = self.word();
        if *word != current {
            return Err(*word);
        }
        *word = new;
        Ok(current)
    }

    /// Like [`compare_exchange`](Self::compare_exchange). It never fails spuriously.
    ///
    /// # Errors
    ///
    /// Returns the value if it is not `current`.
    pub fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.compare_exchange(current, new, success, failure)
    }

    /// Replaces the value by the result of `f`, unless that is `None`.
    ///
    /// # Errors
    ///
    /// Returns the value if `f` returned `None`.
    pub fn fetch_update(
        &self,
        _set: Ordering,
        _fetch: Ordering,
        f: impl FnMut(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        let mut word = self.word();
        let old = *word;
        let mut f = f;
        *word = f(old).ok_or(old)?;
        Ok(old)
    }

    /// Adds, and returns the old value. It wraps around.
    pub fn fetch_add(&self, number: u64, _order: Ordering) -> u64 {
        self.update(|word| word.wrapping_add(number))
    }

    /// Subtracts, and returns the old value. It wraps around.
    pub fn fetch_sub(&self, number: u64, _order: Ordering) -> u64 {
        self.update(|word| word.wrapping_sub(number))
    }

    /// Keeps the bits of `bits`, and returns the old value.
    pub fn fetch_and(&self, bits: u64, _order: Ordering) -> u64 {
        self.update(|word| word & bits)
    }

    /// Sets the bits of `bits`, and returns the old value.
    pub fn fetch_or(&self, bits: u64, _order: Ordering) -> u64 {
        self.update(|word| word | bits)
    }

    /// Sets the word to the larger of its value and `number`, and returns the old value.
    pub fn fetch_max(&self, number: u64, _order: Ordering) -> u64 {
        self.update(|word| word.max(number))
    }

    /// Sets the word to the smaller of its value and `number`, and returns the old value.
    pub fn fetch_min(&self, number: u64, _order: Ordering) -> u64 {
        self.update(|word| word.min(number))
    }

    /// Returns the value: the borrow proves that no other thread uses the word.
    pub fn get_mut(&mut self) -> &mut u64 {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the value out.
    pub fn into_inner(self) -> u64 {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for AtomicU64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.word().fmt(f)
    }
}

#[cfg(test)]
mod tests;
