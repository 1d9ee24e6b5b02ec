//! The memory of tasks.
//!
//! These tests need a process of their own, in which one runs at a time: they count allocations,
//! and the depot of cells is common to all threads.
#![cfg(not(raddle_loom))]

#[path = "../common/mod.rs"]
mod common;

mod completed;
mod live_pages;
mod size;
mod threads;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicIsize, Ordering};

use raddle_primitives::sync::Mutex;

/// Held by each test that allocates more than a few blocks.
static ONE_TEST_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The bytes that the process holds: allocated and not freed.
static HELD_BY_PROCESS: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    /// The bytes that this thread holds: allocated and not freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// The first allocations of this thread since the last reset, and the number of all.
    static ALLOCATIONS: RefCell<([Option<Layout>; 4], usize)> = const { RefCell::new(([None; 4], 0)) };
}

struct Counting;

impl Counting {
    fn add(size: isize) {
        HELD_BY_PROCESS.fetch_add(size, Ordering::SeqCst);
        let _ = HELD.try_with(|held| held.set(held.get() + size));
    }
}

// SAFETY: all calls go to the system's allocator, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size() as isize);
        let _ = ALLOCATIONS.try_with(|allocations| {
            let (recorded, count) = &mut *allocations.borrow_mut();
            if let Some(slot) = recorded.get_mut(*count) {
                *slot = Some(layout);
            }
            *count += 1;
        });
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        Self::add(-(layout.size() as isize));
        // SAFETY: the caller upholds the contract of `dealloc`; `alloc` used the same allocator.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
