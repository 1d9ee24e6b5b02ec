//! What a task costs in memory.

use std::alloc::Layout;
use std::future::pending;

use crate::ALLOCATIONS;
use raddle_task::{Outcome, Runnable};

/// What `body` allocates on this thread.
fn allocations(body: impl FnOnce()) -> Vec<Layout> {
    ALLOCATIONS.with(|allocations| *allocations.borrow_mut() = ([None; 4], 0));
    body();
    let (noted, count) = ALLOCATIONS.with(|allocations| *allocations.borrow());
    assert!(count <= noted.len(), "{count} allocations");
    noted.into_iter().flatten().collect()
}

/// No other test of this binary has tasks of this size: the depot of a size is common to all
/// threads.
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
