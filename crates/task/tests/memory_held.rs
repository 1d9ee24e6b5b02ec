//! The memory of tasks that have ended.
#![cfg(not(raddle_loom))]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::Executor;

thread_local! {
    /// The bytes that this thread holds: allocated and not freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does all that is asked of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = HELD.try_with(|held| held.set(held.get() + layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let _ = HELD.try_with(|held| held.set(held.get() - layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `rounds` of `count` tasks at once, each with `SIZE` bytes, leave behind.
fn held_after<const SIZE: usize>(rounds: usize, count: usize) -> isize {
    let executor = Executor::new();
    let run = || {
        let handles: Vec<_> = (0..count)
            .map(|_| {
                let bytes = [7_u8; SIZE];
                executor.spawn(async move {
                    std::future::ready(()).await;
                    bytes[0]
                })
            })
            .collect();
        executor.run();
        drop(handles);
        executor.check();
    };
    // The executor's own queue has its size then.
    run();
    let before = HELD.get();
    (0..rounds).for_each(|_| run());
    HELD.get() - before
}

#[test]
fn a_large_task_frees_its_memory() {
    assert_eq!(held_after::<4096>(4, 50), 0);
}

#[test]
fn small_tasks_use_memory_again() {
    // A size that no other test uses: the depot of a size is common to all threads.
    assert_eq!(held_after::<160>(4, 1_000), 0);
}

#[test]
fn a_burst_of_small_tasks_returns_most_of_its_memory() {
    let before = HELD.get();
    held_after::<64>(1, 40_000);
    // The depot keeps a megabyte of one size, the thread two batches.
    let held = HELD.get() - before;
    assert!(held < 3 << 19, "{held} bytes");
}
