//! The memory that a thread has kept for its next tasks, when the thread ends.
#![cfg(not(raddle_loom))]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::thread;

use common::Executor;

/// The bytes that the process holds: allocated and not freed.
static HELD: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: the system's allocator does all that is asked of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Half a batch of tasks of some 300 bytes.
fn spawn_and_run() {
    let executor = Executor::new();
    let handles: Vec<_> = (0..32)
        .map(|_| {
            let bytes = [7_u8; 200];
            executor.spawn(async move {
                std::future::ready(()).await;
                bytes[0]
            })
        })
        .collect();
    executor.run();
    drop(handles);
    executor.check();
}

#[test]
fn a_thread_that_ends_returns_what_it_has_kept() {
    thread::spawn(spawn_and_run).join().unwrap();
    let before = HELD.load(Ordering::SeqCst);
    for _ in 0..50 {
        thread::spawn(spawn_and_run).join().unwrap();
    }
    let grown = HELD.load(Ordering::SeqCst) - before;
    assert!(grown < 100_000, "{grown} bytes");
}
