//! Blocking inside a task.

use raddle_task::CurrentLocalSet;

/// Calls a function that may block on the present thread, inside a task, while
/// another thread takes over the tasks of its worker.
///
/// In contrast to [`spawn_blocking`](crate::task::spawn_blocking) the function
/// need not be `Send` or `'static`, and its result is there at once; but the
/// rest of its own task, such as other branches of a `join!`, waits, and it
/// cannot be cancelled. The runtime's shutdown waits for it.
///
/// Inside the function the thread may wait for futures, by
/// [`Handle::block_on`](crate::runtime::Handle::block_on), and spawn. The budget
/// of the poll is not counted.
///
/// The threads are as those for blocking work, and kept like them, but there
/// are [`max_blocking_threads`](crate::runtime::Builder::max_blocking_threads)
/// of their own. If none can be had, the function is called all the same; the
/// tasks of the worker wait for its return, unless other workers take them. A
/// function that returns before the other thread has come keeps its worker.
/// Otherwise the other thread keeps it, and the present one only ends the poll.
///
/// In the future of [`Runtime::block_on`](crate::runtime::Runtime::block_on) on
/// a multi-thread runtime, in blocking work, and outside a runtime the function
/// is just called.
///
/// ```
/// use raddle::runtime::Handle;
/// use raddle::task;
///
/// # #[raddle::main]
/// # async fn main() {
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let answer = task::spawn(async move {
///     task::spawn(async move { sender.send(42).unwrap() });
///     task::block_in_place(|| receiver.recv().unwrap())
/// });
/// assert_eq!(answer.await.unwrap(), 42);
/// let blocks = || Handle::current().block_on(async { 7 });
/// assert_eq!(task::block_in_place(blocks), 7);
/// # }
/// ```
///
/// # Panics
///
/// Panics if the function does, on a current-thread runtime, and in a
/// [`LocalSet`](crate::task::LocalSet), whose tasks cannot go to another thread.
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    assert!(
        !CurrentLocalSet::get().is_some_and(|set| set.is_polled()),
        "block_in_place would block every task of the LocalSet; use spawn_blocking"
    );
    raddle_sched::block_in_place(f)
}
