//! The storage of an executor's tasks: an array, or a slab on the heap.

use core::fmt;

use crate::lists::Lists;
use crate::slot::TaskSlot;

/// Storage for the tasks of an [`Executor`](crate::Executor): an [`Array`] or a
/// [`Slab`](crate::Slab).
///
/// `A` is the argument that a task is spawned with, `F` its future.
pub trait Storage<A, F>: sealed::Parts<A, F> {}

impl<A, F, T: sealed::Parts<A, F>> Storage<A, F> for T {}

pub(crate) mod sealed {
    use crate::lists::Lists;
    use crate::slot::TaskSlot;

    /// The interface between the executor and its storage.
    ///
    /// # Safety
    ///
    /// Once the storage is pinned, lists and slots do not move; they are the same in each call, and
    /// stay as long as the storage does, and longer while a slot has wakers.
    pub unsafe trait Parts<A, F> {
        fn lists(&self) -> &Lists;
        fn slots(&self) -> &[TaskSlot<A, F>];
    }
}

/// Storage for `N` tasks inside the executor: on the stack, or in another struct.
///
/// # Aborts
///
/// Dropping it, with its executor, aborts the process while there are wakers that point into it,
/// since its memory is reused. A [`Slab`](crate::Slab) is leaked instead.
pub struct Array<A, F, const N: usize> {
    lists: Lists,
    slots: [TaskSlot<A, F>; N],
}

impl<A, F, const N: usize> Array<A, F, N> {
    /// Makes an empty array.
    pub const fn new() -> Self {
        Self {
            lists: Lists::new(),
            slots: [const { TaskSlot::vacant() }; N],
        }
    }
}

impl<A, F, const N: usize> Default for Array<A, F, N> {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: both parts are fields, and the drop below does not return while there are wakers.
unsafe impl<A, F, const N: usize> sealed::Parts<A, F> for Array<A, F, N> {
    #[inline]
    fn lists(&self) -> &Lists {
        &self.lists
    }

    #[inline]
    fn slots(&self) -> &[TaskSlot<A, F>] {
        &self.slots
    }
}

impl<A, F, const N: usize> Drop for Array<A, F, N> {
    fn drop(&mut self) {
        if has_wakers(&self.slots) {
            abort();
        }
    }
}

impl<A, F, const N: usize> fmt::Debug for Array<A, F, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array")
            .field("capacity", &N)
            .field("lists", &self.lists)
            .finish()
    }
}

/// Returns whether one of the slots has wakers.
pub(crate) fn has_wakers<A, F>(slots: &[TaskSlot<A, F>]) -> bool {
    slots.iter().any(|slot| slot.header().state.wakers() > 0)
}

/// Reports the reason and aborts the process.
#[cold]
extern "C" fn abort() -> ! {
    // A panic in an `extern "C"` function aborts. Without std there is no other way to abort.
    panic!(
        "a waker outlives the executor that it points into; \
         drop wakers before the executor, or use a Slab"
    )
}
