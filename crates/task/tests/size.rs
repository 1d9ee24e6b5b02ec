//! What a task costs in memory.
#![cfg(not(raddle_loom))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::future::pending;

use raddle_task::{Outcome, Runnable};

thread_local! {
    static ALLOCATIONS: RefCell<([Option<Layout>; 4], usize)> = const { RefCell::new(([None; 4], 0)) };
}

struct RecordingAllocator;

// SAFETY: it is the system's allocator; noting a layout allocates nothing.
unsafe impl GlobalAlloc for RecordingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|allocations| {
            let (noted, count) = &mut *allocations.borrow_mut();
            if let Some(slot) = noted.get_mut(*count) {
                *slot = Some(layout);
            }
            *count += 1;
        });
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's; `alloc` is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: RecordingAllocator = RecordingAllocator;

/// What `body` allocates on this thread.
fn allocations(body: impl FnOnce()) -> Vec<Layout> {
    ALLOCATIONS.with(|allocations| *allocations.borrow_mut() = ([None; 4], 0));
    body();
    let (noted, count) = ALLOCATIONS.with(|allocations| *allocations.borrow());
    assert!(count <= noted.len(), "{count} allocations");
    noted.into_iter().flatten().collect()
}

#[test]
fn a_task_is_one_small_allocation() {
    let word = 7_usize;
    let scheduler = move |task: Runnable| {
        assert_eq!(word, 7);
        drop(task);
    };
    assert_eq!(size_of_val(&scheduler), size_of::<usize>());
    let layouts = allocations(|| {
        let (task, handle) = raddle_task::spawn(pending::<()>(), scheduler);
        assert!(matches!(task.run(), Outcome::Idle));
        handle.abort();
        assert!(handle.is_finished());
    });
    let [layout] = layouts[..] else {
        panic!("a task allocates {layouts:?}");
    };
    // With the feature `tracing` the header has the id of the task's span, and the cell is of the
    // next size of memory.
    let most = if cfg!(feature = "tracing") { 104 } else { 88 };
    assert!(layout.size() <= most, "{layout:?}");
    assert!(layout.align() <= 16, "{layout:?}");
}

/// The README of `raddle` has the figure.
#[cfg(feature = "tracing")]
#[test]
fn a_span_makes_a_future_40_bytes_larger() {
    use raddle_task::trace::{Kind, task};

    let future = std::future::ready([0_u64; 4]);
    let size = size_of_val(&future);
    assert_eq!(size_of_val(&task(Kind::BlockOn, future)), size + 40);
}

#[test]
fn handles_are_one_word() {
    assert_eq!(size_of::<Option<Runnable>>(), size_of::<usize>());
    assert_eq!(
        size_of::<Option<raddle_task::JoinHandle<String>>>(),
        size_of::<usize>()
    );
    assert!(size_of::<raddle_task::JoinError>() <= 16);
}
