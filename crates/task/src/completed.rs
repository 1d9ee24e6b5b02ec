//! Completed tasks on their way back to their live list.

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::num::NonZeroU32;
use std::ptr::{self, NonNull};

use raddle_std::sync::atomic::{AtomicPtr, Ordering};

use crate::cell::Header;
use crate::live::ListId;
use crate::waker;

/// A task that completed on another thread than the one whose live list it is
/// in, or after that list [went](crate::LiveList::part_with_running) to another
/// thread during a poll of the task. [`LiveList::retire`](crate::LiveList::retire) frees it; if the token is dropped instead, the
/// task's memory is kept until that list is dropped.
#[derive(Debug)]
pub struct Completed(NonNull<Header>);

// SAFETY: the future is gone, and the output is not reached through the token.
unsafe impl Send for Completed {}
// SAFETY: a shared token gives away whose task it is, nothing else.
unsafe impl Sync for Completed {}

impl Completed {
    /// # Safety
    ///
    /// The task is complete, was adopted, and a reference is the token's.
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        Self(header)
    }

    /// The number of the list that the task is in.
    pub fn owner(&self) -> NonZeroU32 {
        self.list().owner()
    }

    pub(crate) fn list(&self) -> ListId {
        // SAFETY: the token's reference.
        unsafe { self.0.as_ref() }
            .owner
            // SAFETY: nobody writes it after completion (rule 4).
            .with(|owner| unsafe { *owner })
            .expect("a task that is completed elsewhere was adopted")
            .of_list()
    }

    pub(crate) fn into_header(self) -> NonNull<Header> {
        let header = self.0;
        mem::forget(self);
        header
    }
}

impl Drop for Completed {
    fn drop(&mut self) {
        // SAFETY: the token's reference.
        unsafe { waker::release(self.0) };
    }
}

/// Completed tasks on their way back to the thread whose live list they are
/// in: any thread pushes, the owner takes them all.
pub struct CompletedStack {
    top: AtomicPtr<Header>,
    owned: PhantomData<Completed>,
}

impl CompletedStack {
    /// Makes an empty stack.
    pub fn new() -> Self {
        Self {
            top: AtomicPtr::new(ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// Adds a task.
    pub fn push(&self, completed: Completed) {
        let header = completed.into_header();
        // ORDERING: a guess for the exchange.
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: the token's reference, now the stack's.
            unsafe { header.as_ref() }
                .queue_link
                // SAFETY: a completed task is in no queue (rule 3).
                .with_mut(|link| unsafe { *link = NonNull::new(top.cast()) });
            // ORDERING: Release pairs with the Acquire of `take_all`.
            match self.top.compare_exchange_weak(
                top,
                header.as_ptr(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(actual) => top = actual,
            }
        }
    }

    /// Takes all tasks out. Costs one load while there are none.
    #[inline]
    pub fn take_all(&self, each: impl FnMut(Completed)) {
        // ORDERING: a hint; the swap decides.
        if self.top.load(Ordering::Relaxed).is_null() {
            return;
        }
        // ORDERING: Acquire pairs with the Release of `push`.
        let top = self.top.swap(ptr::null_mut(), Ordering::Acquire);
        Taken(NonNull::new(top)).for_each(each);
    }
}

impl Drop for CompletedStack {
    fn drop(&mut self) {
        self.take_all(drop);
    }
}

/// What was taken off a stack.
struct Taken(Option<NonNull<Header>>);

impl Iterator for Taken {
    type Item = Completed;

    fn next(&mut self) -> Option<Completed> {
        let header = self.0?;
        // SAFETY: the stack's reference keeps the cell alive.
        self.0 = unsafe { header.as_ref() }
            .queue_link
            // SAFETY: the stack was taken as a whole (rule 3).
            .with(|link| unsafe { *link })
            .map(NonNull::cast);
        // SAFETY: `push` took a token apart.
        Some(unsafe { Completed::new(header) })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl Default for CompletedStack {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CompletedStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletedStack").finish_non_exhaustive()
    }
}
