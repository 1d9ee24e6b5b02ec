//! A place for the waker of the one party that waits.

use std::fmt;
use std::mem::MaybeUninit;
use std::task::Waker;

use raddle_primitives::cell::UnsafeCell;

/// Room for a waker, whose owner follows from the state word beside it.
///
/// The cell has no word of its own: what is waited for has one anyhow, and the read-modify-write
/// that makes it ready is the one that takes the waker over. The protocol, in which *waiter*
/// registers and *waker* wakes:
///
/// 1. While the word does not say that a waker is registered, the cell is the
///    waiter's. It writes there and then sets "registered", unless the
///    word says "over" meanwhile.
/// 2. To change its mind, the waiter clears "registered", unless the word says
///    "over" meanwhile. Then the cell is the waiter's again.
/// 3. The thread that sets "over" while "registered" is set has the content from then on, and
///    takes it out once. The waiter does not touch the cell again.
///
/// So there is no critical section: wakers are cloned before they are registered, and woken or
/// dropped after they were taken out.
pub(crate) struct WakerCell(UnsafeCell<MaybeUninit<Waker>>);

impl WakerCell {
    /// A cell with nothing in it.
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Writes a waker; what was there is forgotten.
    ///
    /// # Safety
    ///
    /// The caller is the waiter, and "registered" is not set.
    pub(crate) unsafe fn put(&self, waker: Waker) {
        self.0.with_mut(|content| {
            // SAFETY: by the first rule no other thread touches the cell.
            unsafe { (*content).write(waker) };
        });
    }

    /// Takes the waker out.
    ///
    /// # Safety
    ///
    /// The content is the caller's by one of the rules, and it takes it once.
    pub(crate) unsafe fn take(&self) -> Waker {
        self.0.with(|content| {
            // SAFETY: a waker was put there before "registered" was set, and it is taken only once.
            // The waiter may be comparing it.
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
            // SAFETY: a waker was written, and only the waiter writes. That it is taken out
            // meanwhile leaves its bytes in place; they are compared, and nothing they point to is
            // read.
            unsafe { (*content).assume_init_ref() }.will_wake(waker)
        })
    }
}

impl Drop for WakerCell {
    /// Drops no waker. To a model it is a write, so that each access has to be ordered before.
    fn drop(&mut self) {
        self.0.with_mut(|_| ());
    }
}

impl fmt::Debug for WakerCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WakerCell")
    }
}
