//! A second word for the permits of a semaphore: releases add to it, and acquisitions take from the
//! semaphore's own word.

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use std::fmt;

/// Set while there is a waiter, and once the semaphore is closed; set and cleared under the lock of
/// the wait list, and cleared by the first release that finds no waiter. Never with permits: while
/// it is set, permits are released to the semaphore's own word.
const DISABLED: usize = 1;

/// The unit of the count of permits, which is above the flag.
const PERMIT: usize = DISABLED << 1;

/// The word to which the permits of a semaphore are released while there is no waiter.
pub(crate) trait ReleaseWord {
    /// Whether there is a second word for released permits.
    const IS_SEPARATE: bool;

    /// Takes `permits`, at least one, if the word has exactly this number.
    fn take(&self, permits: usize) -> bool;

    /// Takes all permits of this word. The caller holds the lock of the wait list.
    fn collect(&self) -> usize;

    /// Takes all permits of this word, and refuses further ones. The caller holds the lock.
    fn transition_to_disabled(&self) -> usize;

    /// Accepts permits again. The caller holds the lock.
    fn transition_to_enabled(&self);

    /// Returns the number of permits in this word.
    fn permits(&self) -> usize;
}

/// No second word: permits are released to the semaphore's own.
impl ReleaseWord for () {
    const IS_SEPARATE: bool = false;

    #[inline]
    fn take(&self, _permits: usize) -> bool {
        false
    }

    #[inline]
    fn collect(&self) -> usize {
        0
    }

    #[inline]
    fn transition_to_disabled(&self) -> usize {
        0
    }

    #[inline]
    fn transition_to_enabled(&self) {}

    #[inline]
    fn permits(&self) -> usize {
        0
    }
}

/// A second word, for a semaphore whose permits are acquired by some threads and released by
/// another. Behind the state of the semaphore and its waiters it is on another cache line than the
/// state, so that the two sides do not contend for one line.
#[repr(C)]
pub(crate) struct SeparateWord {
    _line: [usize; 4],
    word: AtomicUsize,
}

impl SeparateWord {
    /// The distance of the word from the start.
    #[cfg(all(target_pointer_width = "64", not(raddle_loom)))]
    pub(super) const OFFSET: usize = std::mem::offset_of!(Self, word);

    pub(crate) fn new() -> Self {
        Self {
            _line: [0; 4],
            word: AtomicUsize::new(0),
        }
    }

    /// Releases `permits`. Returns `false` if the word is disabled: the caller still has them.
    #[inline]
    #[must_use]
    pub(super) fn give(&self, permits: usize) -> bool {
        // ORDERING: a hint, which the exchange checks; on failure the caller continues under the
        // lock.
        let mut now = self.word.load(Ordering::Relaxed);
        while now & DISABLED == 0 {
            // ORDERING: Release pairs with `collect` and `transition_to_disabled`: the next holder
            // of the permits sees the writes of this one.
            match self.word.compare_exchange_weak(
                now,
                now + permits * PERMIT,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        false
    }
}

impl ReleaseWord for SeparateWord {
    const IS_SEPARATE: bool = true;

    #[inline]
    fn take(&self, permits: usize) -> bool {
        let all = permits * PERMIT;
        // ORDERING: a hint, which saves an exchange that would fail. Acquire pairs with `give`.
        self.word.load(Ordering::Relaxed) == all
            && self
                .word
                .compare_exchange(all, 0, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    fn collect(&self) -> usize {
        // ORDERING: Acquire pairs with `give`. The flag is clear, because there were permits, and
        // the flag is set only under the lock, which the caller holds.
        self.word.swap(0, Ordering::Acquire) / PERMIT
    }

    fn transition_to_disabled(&self) -> usize {
        // ORDERING: Acquire pairs with `give`. Both are read-modify-writes of one word, so either
        // this finds the permits or `give` finds the flag.
        self.word.swap(DISABLED, Ordering::Acquire) / PERMIT
    }

    fn transition_to_enabled(&self) {
        // ORDERING: earlier releases have already passed their permits on.
        self.word.fetch_and(!DISABLED, Ordering::Relaxed);
    }

    fn permits(&self) -> usize {
        // ORDERING: the number may change at any time.
        self.word.load(Ordering::Relaxed) / PERMIT
    }
}

impl fmt::Debug for SeparateWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SeparateWord")
            .field(&self.permits())
            .finish()
    }
}
