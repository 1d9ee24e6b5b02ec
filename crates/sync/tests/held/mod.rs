//! The memory that a thread holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what the thread has allocated and not freed: other threads of the process, as that of the
/// test harness, allocate whenever they run.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

pub(crate) fn held() -> isize {
    HELD.get()
}

// SAFETY: it is the system's, and counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size() as isize);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: as the caller says.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
