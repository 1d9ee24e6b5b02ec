//! Storage in the heap.

use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::lists::Lists;
use crate::slot::TaskSlot;
use crate::storage::{has_wakers, sealed};

/// Room for a number of tasks in the heap, allocated once.
///
/// If wakers point into it when it is dropped, with its executor, its memory is leaked, so that
/// such a waker does nothing when it is used.
///
/// ```
/// use std::pin::pin;
///
/// use raddle_bare::{Executor, Slab, Spawner};
///
/// // The number of tasks is known only when the program runs.
/// let connections = 16;
/// let spawner = Spawner::new();
/// let serve = |number: usize| async move { println!("serves connection {number}") };
/// let executor = pin!(Executor::new(&spawner, Slab::with_capacity(connections), serve));
/// let executor = executor.as_ref();
/// executor.spawn(0).unwrap();
/// assert_eq!(executor.capacity(), 16);
/// while executor.step() {}
/// ```
pub struct Slab<A, F> {
    /// A box that outlives the slab if there are wakers.
    contents: NonNull<Contents<A, F>>,
    _owns: PhantomData<Contents<A, F>>,
}

struct Contents<A, F> {
    lists: Lists,
    slots: Box<[TaskSlot<A, F>]>,
}

impl<A, F> Slab<A, F> {
    /// Makes an empty slab with room for `capacity` tasks.
    pub fn with_capacity(capacity: usize) -> Self {
        let contents = Box::new(Contents {
            lists: Lists::new(),
            slots: (0..capacity).map(|_| TaskSlot::vacant()).collect(),
        });
        Self {
            contents: NonNull::from(Box::leak(contents)),
            _owns: PhantomData,
        }
    }

    #[inline]
    fn contents(&self) -> &Contents<A, F> {
        // SAFETY: the box is valid until the slab is dropped, and only the drop makes a unique
        // reference to it.
        unsafe { self.contents.as_ref() }
    }
}

// SAFETY: both parts are in a box, which the drop below does not free while there are wakers.
unsafe impl<A, F> sealed::Parts<A, F> for Slab<A, F> {
    #[inline]
    fn lists(&self) -> &Lists {
        &self.contents().lists
    }

    #[inline]
    fn slots(&self) -> &[TaskSlot<A, F>] {
        &self.contents().slots
    }
}

impl<A, F> Drop for Slab<A, F> {
    fn drop(&mut self) {
        if !has_wakers(&self.contents().slots) {
            // SAFETY: the pointer comes from the box that `with_capacity` made. The executor has
            // been dropped and there are no wakers, so no other pointer into the box is used.
            drop(unsafe { Box::from_raw(self.contents.as_ptr()) });
        }
    }
}

impl<A, F> fmt::Debug for Slab<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab")
            .field("capacity", &self.contents().slots.len())
            .field("lists", &self.contents().lists)
            .finish()
    }
}
