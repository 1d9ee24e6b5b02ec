//! The ready list and the free list of an executor, both through its slots.

use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;

use crate::header::Header;

/// The next entry of a list.
pub(crate) type Link = Cell<Option<NonNull<Header>>>;

/// The list of ready slots, the list of free slots, and the counts that all parts of an executor
/// use.
pub struct Lists {
    /// First in, first out.
    first: Link,
    /// The link that the next pushed slot goes into: `first`, or that of the last slot.
    end: Cell<NonNull<Link>>,
    /// Last in, first out, so that the next slot is likely to be in the cache.
    free: Link,
    /// The number of tasks.
    tasks: Cell<usize>,
    /// The offset of the content of a slot from its header.
    offset: Cell<usize>,
    /// Whether a call of the executor is polling.
    running: Cell<bool>,
}

impl Lists {
    pub(crate) const fn new() -> Self {
        Self {
            first: Cell::new(None),
            end: Cell::new(NonNull::dangling()),
            free: Cell::new(None),
            tasks: Cell::new(0),
            offset: Cell::new(0),
            running: Cell::new(false),
        }
    }

    /// Stores the offset of contents. The lists are pinned from now on; before that, no slot is
    /// pushed onto the ready list.
    pub(crate) fn attach(&self, offset: usize) {
        self.end.set(NonNull::from(&self.first));
        self.offset.set(offset);
    }

    /// Appends a slot that is on no list to the ready list.
    #[inline]
    pub(crate) fn push_ready(&self, slot: NonNull<Header>) {
        // SAFETY: the slot is valid: the caller is a waker, which keeps its slot's memory from
        // being freed, or the executor, which owns the slot.
        let header = unsafe { slot.as_ref() };
        header.next.set(None);
        let end = self.end.replace(NonNull::from(&header.next));
        // SAFETY: `end` is a link of these lists or of a slot on the ready list, and all of them
        // are valid; see `attach`.
        unsafe { end.as_ref() }.set(Some(slot));
    }

    /// Removes the slot that has been ready for longest.
    #[inline]
    pub(crate) fn pop_ready(&self) -> Option<NonNull<Header>> {
        let slot = pop(&self.first)?;
        if self.first.get().is_none() {
            self.end.set(NonNull::from(&self.first));
        }
        Some(slot)
    }

    pub(crate) fn has_ready(&self) -> bool {
        self.first.get().is_some()
    }

    /// Pushes a vacant slot, which is on no list, onto the free list.
    #[inline]
    pub(crate) fn push_free(&self, slot: NonNull<Header>) {
        // SAFETY: as in `push_ready`.
        unsafe { slot.as_ref() }.next.set(self.free.get());
        self.free.set(Some(slot));
    }

    #[inline]
    pub(crate) fn pop_free(&self) -> Option<NonNull<Header>> {
        pop(&self.free)
    }

    pub(crate) fn tasks(&self) -> usize {
        self.tasks.get()
    }

    #[inline]
    pub(crate) fn count_spawn(&self) {
        self.tasks.set(self.tasks.get() + 1);
    }

    #[inline]
    pub(crate) fn count_end(&self) {
        self.tasks.set(self.tasks.get() - 1);
    }

    #[inline]
    pub(crate) fn offset(&self) -> usize {
        self.offset.get()
    }

    /// Marks the executor as polling until the guard is dropped.
    ///
    /// # Panics
    ///
    /// Panics if a call further up the stack is polling.
    #[inline]
    #[track_caller]
    pub(crate) fn enter(&self) -> Running<'_> {
        assert!(
            !self.running.replace(true),
            "a task may not run the executor that runs it; await instead"
        );
        Running(self)
    }
}

#[inline]
fn pop(list: &Link) -> Option<NonNull<Header>> {
    let slot = list.get()?;
    // SAFETY: a list contains only slots of the executor, which are valid as long as its lists.
    list.set(unsafe { slot.as_ref() }.next.get());
    Some(slot)
}

/// A call of the executor that polls.
pub(crate) struct Running<'a>(&'a Lists);

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.running.set(false);
    }
}

impl fmt::Debug for Lists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lists")
            .field("tasks", &self.tasks.get())
            .field("ready", &self.has_ready())
            .finish_non_exhaustive()
    }
}
