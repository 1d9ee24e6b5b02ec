//! The events of workers and tasks that a scheduler reports to an observer.

use std::time::Duration;

use raddle_task::{EndReason, Id};

use crate::{MonitorAction, PollResult, SpawnedTask, TaskRef, Turn};

/// Callbacks for the events of a scheduler, for a recorder, a watchdog or a list of tasks.
///
/// Each method does nothing by default. The scheduler calls it on the thread where the event
/// happens, never under an internal lock. If it panics, std's panic hook reports the panic and the
/// scheduler continues. `worker` is the worker's index in the whole scheduler, from 0.
///
/// Without an observer, a spawn, a wake, a poll and a park cost one predictable branch each. The
/// scheduler reads no clock for the observer, and workers write no shared word for their events.
///
/// # What a method must not do
///
/// - Block: the worker runs no task in the meantime.
/// - Spawn or wake tasks of this scheduler: the worker may be about to park, and would not check
///   its queue again. Pass such work to another thread.
/// - Rely on `block_in_place` to hand the worker off: inside an observer
///   it only calls the closure.
///
/// # What is not reported
///
/// Tasks of a [`LocalSet`](raddle_task::LocalSet): they are polled inside the poll of the task, or
/// of the `block_on` future, that polls the set.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use raddle_sched::{Observer, TaskRef};
///
/// #[derive(Default)]
/// struct Polls(AtomicUsize);
///
/// impl Observer for Polls {
///     fn poll_started(&self, _worker: usize, task: TaskRef<'_>) {
///         println!("task {} from {}", task.id(), task.location());
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// // For `Config::observer` of a scheduler.
/// let polls = Polls::default();
/// assert!(polls.needs_locations());
/// ```
pub trait Observer: Send + Sync {
    /// Returns whether the observer reads the [location](TaskRef::location) of a polled task. The
    /// scheduler calls this once, when it is made. With `false` a spawn costs about half as much:
    /// the task has no room for its location, and its future is not boxed. Default: `true`.
    fn needs_locations(&self) -> bool {
        true
    }

    /// Returns whether the observer is called at the end of each poll. The scheduler calls this
    /// once, when it is made. With `false` it leaves out [`poll_finished`](Self::poll_finished),
    /// and [`task_ended`](Self::task_ended) after it, where another event of the observer follows
    /// on the same thread, such as the next poll; the observer then gets both from
    /// [`take_ended_poll`](crate::take_ended_poll). Default: `true`.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_sched::{Observer, TaskRef, take_ended_poll};
    ///
    /// struct Printer;
    ///
    /// impl Observer for Printer {
    ///     fn needs_poll_ends(&self) -> bool {
    ///         false
    ///     }
    ///
    ///     fn poll_started(&self, _worker: usize, task: TaskRef<'_>) {
    ///         if let Some((task, result, _)) = take_ended_poll() {
    ///             println!("task {task} is {result:?}");
    ///         }
    ///         println!("task {} is polled", task.id());
    ///     }
    /// }
    ///
    /// assert!(!Printer.needs_poll_ends());
    /// ```
    fn needs_poll_ends(&self) -> bool {
        true
    }

    /// The scheduler was made. No other method is called before this one. The indexes of spare
    /// workers begin at `workers`.
    fn started(&self, workers: usize) {
        let _ = workers;
    }

    /// The scheduler starts to shut down: each task is dropped when its current poll returns.
    fn shutdown_started(&self) {}

    /// The calling thread drives a worker from now on: a thread of a pool, or the one that blocks
    /// on the future of a current-thread scheduler. Not called for a worker that is stepped.
    fn worker_started(&self, worker: usize) {
        let _ = worker;
    }

    /// The calling thread stops driving the worker. Not called on a thread that has lost the worker
    /// by a handoff.
    fn worker_stopped(&self, worker: usize) {
        let _ = worker;
    }

    /// The calling thread takes a worker over from a thread that is in `block_in_place`.
    /// [`worker_started`](Self::worker_started) follows.
    fn worker_handed_off(&self, worker: usize) {
        let _ = worker;
    }

    /// A task is being spawned on this thread. It cannot run yet. [`raddle_task::try_id`] returns
    /// the id of the task that spawns it, if a task does.
    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        let _ = task;
    }

    /// A waiting task is woken or aborted on this thread. It is queued after this call. The cause
    /// is the task that [`raddle_task::try_id`] names, or the driver if this thread is in it, or
    /// code outside both.
    ///
    /// Not called for a task that is woken during its poll: the result of the poll reports it.
    fn task_woken(&self, task: Id) {
        let _ = task;
    }

    /// A worker is about to poll a task, or to drop a task that was aborted.
    fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
        let _ = (worker, task);
    }

    /// The poll of a task has returned, on the thread where it started. `worker` is `None` if the
    /// worker was handed off to another thread during the poll.
    fn poll_finished(&self, worker: Option<usize>, task: Id, result: PollResult) {
        let _ = (worker, task, result);
    }

    /// A task has ended. Its future is dropped, and its join handle may have been woken. The call
    /// comes after that of the task's last poll; a task that is cancelled at shutdown may have
    /// none.
    fn task_ended(&self, task: Id, reason: EndReason) {
        let _ = (task, reason);
    }

    /// The future of a `block_on` is about to be polled. `worker` is the worker that the calling
    /// thread drives between such polls, if any.
    fn root_poll_started(&self, worker: Option<usize>) {
        let _ = worker;
    }

    /// That poll has returned. `is_ready` is whether the future was ready; it is `false` if the
    /// future panicked.
    fn root_poll_finished(&self, worker: Option<usize>, is_ready: bool) {
        let _ = (worker, is_ready);
    }

    /// A worker has no task and parks. It may wait several times, in the driver or on its thread,
    /// before it is unparked.
    fn worker_parked(&self, worker: usize) {
        let _ = worker;
    }

    /// A worker stops parking.
    fn worker_unparked(&self, worker: usize) {
        let _ = worker;
    }

    /// A worker starts to search the queues and next-task slots of the other workers. The search
    /// ends with its next poll or park.
    fn search_started(&self, worker: usize) {
        let _ = worker;
    }

    /// A worker has stolen tasks from the queue or the next-task slot of another one. It runs the
    /// first of them next.
    fn tasks_stolen(&self, worker: usize, victim: usize, count: usize) {
        let _ = (worker, victim, count);
    }

    /// A worker enters the driver for at most `timeout`. With zero it only looks for events; with
    /// `None` it waits without a limit.
    fn driver_started(&self, worker: usize, timeout: Option<Duration>) {
        let _ = (worker, timeout);
    }

    /// A worker has left the driver, which has woken the tasks of its events and timers.
    fn driver_finished(&self, worker: usize, turn: Turn) {
        let _ = (worker, turn);
    }

    /// The monitor acts for tasks or events that wait behind a poll of the worker `stuck`. Called
    /// on the monitor's thread.
    fn monitor_acted(&self, stuck: usize, action: MonitorAction) {
        let _ = (stuck, action);
    }
}
