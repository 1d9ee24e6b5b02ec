//! Memory for cells in a model, and under a sanitizer (`raddle_sanitize`): the allocator's, with
//! nothing kept, so that a use after the end is seen.

use std::alloc::{self, Layout};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::Duration;

/// A size of blocks; this build keeps no blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size;

impl Size {
    pub(crate) const fn of(_: Layout) -> Option<Self> {
        None
    }
}

/// Makes the calling thread a keeper of memory; this build keeps none.
pub fn keep() -> Keeper {
    Keeper {
        thread: PhantomData,
    }
}

/// A thread is a keeper of memory while it has this guard.
#[derive(Debug)]
#[must_use = "the thread keeps memory only while the guard lives"]
pub struct Keeper {
    thread: PhantomData<*mut ()>,
}

/// Returns memory that has not been used for a while; this build keeps none.
pub fn release_unused() -> Option<Duration> {
    None
}

/// Returns all memory that is kept; this build keeps none.
pub fn release() {}

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
