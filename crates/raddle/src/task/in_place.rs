//! Blocking inside a task.

use raddle_task::CurrentLocalSet;

/// Calls a function that may block on the current thread, inside a task, while another thread takes
/// over the tasks of its worker.
///
/// In contrast to [`spawn_blocking`](crate::task::spawn_blocking) the function need not be `Send`
/// or `'static`, and its result is returned directly; but the rest of its own task, such as other
/// branches of a `join!`, waits, and it cannot be cancelled. The runtime's shutdown waits for it.
///
/// Inside the function the thread may spawn tasks, and wait for futures with
/// [`Handle::block_on`](crate::runtime::Handle::block_on). Operations inside it do not use the
/// task's budget.
///
/// The other threads come from a separate pool, which has the same settings as that for blocking
/// work, including [`max_blocking_threads`](crate::runtime::Builder::max_blocking_threads). If no
/// thread is available, the function is called anyway; the tasks of the worker wait until it
/// returns, unless other workers take them. If the function returns before another thread has taken
/// the worker, the current thread keeps it. Otherwise the current thread only finishes the poll.
///
/// In the future of [`Runtime::block_on`](crate::runtime::Runtime::block_on) on a multi-thread
/// runtime, in blocking work, and outside a runtime, the function is simply called.
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
        !CurrentLocalSet::is_any_polled(),
        "block_in_place would block every task of the LocalSet; use spawn_blocking"
    );
    raddle_sched::block_in_place(f)
}
