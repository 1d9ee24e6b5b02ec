//! Measures the memory that a thread has allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes that the thread has allocated and not freed. The count is per thread because
/// other threads of the process, such as that of the test harness, allocate at any time.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

pub(crate) fn held() -> isize {
    HELD.get()
}

// SAFETY: all calls go to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
