//! Blocking waits, for callers outside any executor.

use std::pin::pin;

use raddle_primitives::thread;

/// Polls the future on this thread until it is ready, and sleeps in between.
///
/// # Panics
///
/// Panics if the thread has a poll budget. The thread is then inside a poll, and blocking it would
/// block the other tasks of its executor, possibly also the task that would wake it.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    assert!(
        !raddle_leaf::coop::is_limited(),
        "this thread runs a task and must not block; await the operation, or call it from \
         spawn_blocking or block_in_place"
    );
    let mut future = pin!(future);
    thread::block_on(|cx| future.as_mut().poll(cx))
}
