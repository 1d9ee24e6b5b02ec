//! The place of one task.

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::{ManuallyDrop, offset_of};
use core::pin::Pin;
use core::ptr::NonNull;

use crate::header::Header;

/// The place of one task: its header, and the argument or the future.
#[repr(C)]
pub struct TaskSlot<A, F> {
    header: Header,
    content: UnsafeCell<Content<A, F>>,
}

/// The content of a slot: first nothing, then an argument, then a future, then nothing. The state
/// in the header says which.
#[repr(C)]
union Content<A, F> {
    nothing: (),
    argument: ManuallyDrop<A>,
    future: ManuallyDrop<F>,
}

impl<A, F> TaskSlot<A, F> {
    /// The offset of the content of a slot from the header.
    pub(crate) const OFFSET: usize = offset_of!(Self, content);

    pub(crate) const fn vacant() -> Self {
        Self {
            header: Header::vacant(),
            content: UnsafeCell::new(Content { nothing: () }),
        }
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the pointer that the lists and the wakers use, with the provenance of the whole
    /// slot.
    pub(crate) fn erased(&self) -> NonNull<Header> {
        NonNull::from(self).cast()
    }

    /// Returns the slot of a pointer that [`erased`](Self::erased) has returned.
    ///
    /// # Safety
    ///
    /// The slot belongs to a storage of these types that outlives `'a`, and there is no unique
    /// reference to it during `'a`.
    #[inline]
    pub(crate) unsafe fn of<'a>(erased: NonNull<Header>) -> &'a Self {
        // SAFETY: as the caller promises.
        unsafe { erased.cast().as_ref() }
    }

    /// Replaces the argument by the future that `make` makes of it.
    ///
    /// # Safety
    ///
    /// The content is an argument, no other call uses the content, and the slot does not move any
    /// more. If `make` panics, the slot has no content.
    #[inline]
    pub(crate) unsafe fn start(&self, make: impl FnOnce(A) -> F) {
        let content = self.content.get();
        // SAFETY: the caller promises that the content is an argument, and that no other call uses
        // it.
        let argument =
            ManuallyDrop::into_inner(unsafe { content.cast::<ManuallyDrop<A>>().read() });
        // SAFETY: the argument has been moved out, and a future starts where the content does.
        unsafe { content.cast::<F>().write(make(argument)) };
    }

    /// # Safety
    ///
    /// The content is a future, no other call uses the content, and the slot does not move any
    /// more.
    #[inline]
    #[allow(
        clippy::mut_from_ref,
        reason = "the caller says that it is the only one"
    )]
    pub(crate) unsafe fn future(&self) -> Pin<&mut F> {
        // SAFETY: the caller promises that the content is a future, and that no other call uses it.
        // The future is pinned: the slot does not move, and only `drop_content` drops the future.
        unsafe { Pin::new_unchecked(&mut *self.content.get().cast::<F>()) }
    }

    /// # Safety
    ///
    /// The content is a future if `is_future`, otherwise an argument. No other call uses the
    /// content. Afterwards the slot has no content, even if the drop panics.
    #[inline]
    pub(crate) unsafe fn drop_content(&self, is_future: bool) {
        let content = self.content.get();
        if is_future {
            // SAFETY: the caller promises that the content is a future, and that no other call uses
            // it. It is pinned, and is dropped in place.
            unsafe { content.cast::<F>().drop_in_place() };
        } else {
            // SAFETY: as above; here the content is an argument.
            unsafe { content.cast::<A>().drop_in_place() };
        }
    }
}

impl<A, F> fmt::Debug for TaskSlot<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskSlot").field(&self.header).finish()
    }
}
