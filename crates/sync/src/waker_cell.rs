//! A place for the waker of the one party that waits.

use std::fmt;
use std::mem::MaybeUninit;
use std::task::Waker;

use raddle_primitives::cell::UnsafeCell;

/// A cell for a waker. The state word beside the cell says which thread may access it.
///
/// The cell has no word of its own, because the awaited state has one: the read-modify-write that
/// ends the wait also takes over the waker. The protocol, in which *waiter* registers and *waker*
/// wakes:
///
/// 1. While the word does not say "registered", only the waiter accesses the cell. It writes the
///    cell, and then sets "registered", unless the word says "over" by then.
/// 2. To stop waiting, the waiter clears "registered", unless the word says "over" by then.
///    Afterwards, only the waiter accesses the cell again.
/// 3. The thread that sets "over" while "registered" is set owns the content from then on, and
///    takes it out once. The waiter does not access the cell again.
///
/// So there is no critical section: wakers are cloned before they are registered, and woken or
/// dropped after they were taken out.
pub(crate) struct WakerCell(UnsafeCell<MaybeUninit<Waker>>);

impl WakerCell {
    /// Makes an empty cell.
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Writes a waker. Forgets the previous content.
    ///
    /// # Safety
    ///
    /// The caller is the waiter, and "registered" is not set.
    pub(crate) unsafe fn put(&self, waker: Waker) {
        self.0.with_mut(|content| {
            // SAFETY: by the first rule no other thread accesses the cell.
            unsafe { (*content).write(waker) };
        });
    }

    /// Takes the waker out.
    ///
    /// # Safety
    ///
    /// The caller owns the content by one of the rules, and takes it once.
    pub(crate) unsafe fn take(&self) -> Waker {
        self.0.with(|content| {
            // SAFETY: a waker was written before "registered" was set, and it is taken only once.
            // The waiter may compare it at the same time.
            unsafe { (*content).assume_init_read() }
        })
    }

    /// Returns whether the waker that is registered wakes the same task as `waker`.
    ///
    /// # Safety
    ///
    /// The caller is the waiter, and it has set "registered" and not cleared it.
    pub(crate) unsafe fn will_wake(&self, waker: &Waker) -> bool {
        self.0.with(|content| {
            // SAFETY: a waker was written, and only the waiter writes. Another thread that takes it
            // out leaves its bytes in place; they are compared, and no memory that they point to is
            // read.
            unsafe { (*content).assume_init_ref() }.will_wake(waker)
        })
    }
}

impl Drop for WakerCell {
    /// Drops no waker. In a model this counts as a write, so each access has to be ordered before
    /// it.
    fn drop(&mut self) {
        self.0.with_mut(|_| ());
    }
}

impl fmt::Debug for WakerCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WakerCell")
    }
}
