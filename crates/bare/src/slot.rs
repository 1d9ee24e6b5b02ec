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

/// Nothing, then an argument, then a future, then nothing: the header's state
/// says which.
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

    /// The slot as the lists and the wakers know it, with the provenance of all
    /// of it.
    pub(crate) fn erased(&self) -> NonNull<Header> {
        NonNull::from(self).cast()
    }

    /// The slot behind a pointer of [`erased`](Self::erased).
    ///
    /// # Safety
    ///
    /// It is one of a storage of these types that outlives `'a`, and there is no
    /// unique reference to it meanwhile.
    #[inline]
    pub(crate) unsafe fn of<'a>(erased: NonNull<Header>) -> &'a Self {
        // SAFETY: the caller promises it.
        unsafe { erased.cast().as_ref() }
    }

    /// Puts the future that `make` makes of the argument in its place.
    ///
    /// # Safety
    ///
    /// There is an argument, this is the executor's turn with the slot, and the
    /// slot does not move any more. If `make` panics there is nothing.
    #[inline]
    pub(crate) unsafe fn start(&self, make: impl FnOnce(A) -> F) {
        let content = self.content.get();
        // SAFETY: rule 1 of docs/bare.md: the executor alone looks at contents,
        // and now they are an argument.
        let argument =
            ManuallyDrop::into_inner(unsafe { content.cast::<ManuallyDrop<A>>().read() });
        // SAFETY: the argument is out; a future begins where the content does.
        unsafe { content.cast::<F>().write(make(argument)) };
    }

    /// # Safety
    ///
    /// There is a future, this is the executor's turn with the slot, and the
    /// slot does not move any more.
    #[inline]
    #[allow(
        clippy::mut_from_ref,
        reason = "the caller says that it is the only one"
    )]
    pub(crate) unsafe fn future(&self) -> Pin<&mut F> {
        // SAFETY: rule 1 of docs/bare.md. It is pinned: the slot stays, and
        // `drop_content` is what ends the future.
        unsafe { Pin::new_unchecked(&mut *self.content.get().cast::<F>()) }
    }

    /// # Safety
    ///
    /// There is a future, or else an argument, as `is_future` says; this is the
    /// executor's turn with the slot, and from now on there is nothing, even if
    /// the drop panics.
    #[inline]
    pub(crate) unsafe fn drop_content(&self, is_future: bool) {
        let content = self.content.get();
        if is_future {
            // SAFETY: rule 1 of docs/bare.md; it is dropped in its place.
            unsafe { content.cast::<F>().drop_in_place() };
        } else {
            // SAFETY: likewise.
            unsafe { content.cast::<A>().drop_in_place() };
        }
    }
}

impl<A, F> fmt::Debug for TaskSlot<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskSlot").field(&self.header).finish()
    }
}
