//! A place for the waker of the one party that waits.

use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;
use std::task::{RawWakerVTable, Waker};

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
///
/// The cell holds the two pointers of the waker, not the waker. While "registered" is set, the
/// waiter may read them, but the waker may be gone already: another thread may have set "over", and
/// woken it. Only [`take`](Self::take) makes a waker of the pointers again, for the owner.
pub(crate) struct WakerCell(UnsafeCell<MaybeUninit<Parts>>);

/// The two pointers of a waker. Copying or dropping them neither clones nor drops the waker.
#[derive(Clone, Copy)]
struct Parts {
    data: *const (),
    vtable: &'static RawWakerVTable,
}

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
        let waker = ManuallyDrop::new(waker);
        let parts = Parts {
            data: waker.data(),
            vtable: waker.vtable(),
        };
        self.0.with_mut(|content| {
            // SAFETY: by the first rule no other thread accesses the cell.
            unsafe { (*content).write(parts) };
        });
    }

    /// Takes the waker out.
    ///
    /// # Safety
    ///
    /// The caller owns the content by one of the rules, and takes it once.
    pub(crate) unsafe fn take(&self) -> Waker {
        // SAFETY: a waker was written before "registered" was set.
        let parts = unsafe { self.parts() };
        // SAFETY: the pointers are those of a waker that `put` has forgotten. The caller owns it,
        // and takes it once, so it is neither dropped nor taken by another thread.
        unsafe { Waker::new(parts.data, parts.vtable) }
    }

    /// Returns whether the waker that was registered wakes the same task as `waker`.
    ///
    /// A `true` holds even if the registered waker is gone by now. It existed when the caller read
    /// "registered", as did `waker`, so no later task can have its address. The thread that took
    /// it out wakes it.
    ///
    /// # Safety
    ///
    /// The caller is the waiter. It has read that "registered" is set and "over" is not, during
    /// the lifetime of `waker`, and has not cleared "registered" since.
    pub(crate) unsafe fn will_wake(&self, waker: &Waker) -> bool {
        // SAFETY: "registered" is set, so a waker was written.
        let parts = unsafe { self.parts() };
        parts.data == waker.data() && ptr::eq(parts.vtable, waker.vtable())
    }

    /// Copies the pointers.
    ///
    /// # Safety
    ///
    /// A waker was written, and the caller is the waiter or owns the content.
    unsafe fn parts(&self) -> Parts {
        self.0.with(|content| {
            // SAFETY: the pointers were written, by the waiter: it is the caller, or its write was
            // before "registered", which the owner of the content has read. The waiter does not
            // write while "registered" is set, so the copy races only with other reads. The
            // pointers need not point to a waker that exists: they are copied, not followed.
            unsafe { (*content).assume_init() }
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
