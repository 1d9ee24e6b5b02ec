//! Memory for cells in a model, and under a sanitizer (`raddle_sanitize`): the allocator's, with
//! nothing kept, so that a use after the end is seen.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

/// A size of blocks; this build keeps no blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size;

impl Size {
    pub(crate) const fn of(_: Layout) -> Option<Self> {
        None
    }
}

/// Allocates memory for a cell of `layout`.
pub(crate) fn allocate(layout: Layout, _: Option<Size>) -> NonNull<u8> {
    // SAFETY: a cell has a state word, so the layout is not empty.
    let memory = unsafe { alloc::alloc(layout) };
    NonNull::new(memory).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}

/// Frees the memory of a cell.
///
/// # Safety
///
/// `memory` comes from [`allocate`] with the same layout, and is not used again.
pub(crate) unsafe fn free(memory: NonNull<u8>, layout: Layout, _: Option<Size>) {
    // SAFETY: the caller gives up the memory.
    unsafe { alloc::dealloc(memory.as_ptr(), layout) };
}
