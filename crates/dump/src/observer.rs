//! Keeps the table of tasks up to date.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::thread;
use std::time::{Duration, Instant};

use raddle_leaf::wait::{PollFrame, Wait};
use raddle_sched::{EndReason, PollResult, SpawnedTask, TaskRef, Turn};
use raddle_task::Id;

use crate::dump::{TaskState, WokenBy};
use crate::graph::is_holdable;
use crate::table::{Entry, Poll, Task, TaskTable, Waiting};

raddle_primitives::thread_local! {
    /// Whether this thread is in the driver, which wakes tasks for events and timers.
    static IS_IN_DRIVER: Cell<bool> = Cell::new(false);
}

/// The observer of a table.
pub(crate) struct DumpObserver(pub(crate) TaskTable);

fn number(task: Id) -> u64 {
    NonZeroU64::from(task).get()
}

/// Returns a number that no other living thread has.
fn thread() -> usize {
    let address = IS_IN_DRIVER.try_with(|cell| std::ptr::from_ref(cell).addr());
    address.unwrap_or(0)
}

fn set_is_in_driver(is_in_driver: bool) {
    // A thread whose thread-locals have been dropped no longer runs its driver.
    let _ = IS_IN_DRIVER.try_with(|cell| cell.set(is_in_driver));
}

fn present_waker() -> WokenBy {
    match raddle_task::try_id() {
        Some(task) => WokenBy::Task(number(task)),
        None if IS_IN_DRIVER.try_with(Cell::get).unwrap_or(false) => WokenBy::Driver,
        None => WokenBy::Other,
    }
}

impl raddle_sched::Observer for DumpObserver {
    fn needs_locations(&self) -> bool {
        false
    }

    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        let now = Instant::now();
        self.0.add(Task {
            id: number(task.id()),
            name: task.name().map(Into::into),
            location: task.location(),
            spawned: now,
            state: TaskState::Queued,
            since: now,
            poll: None,
            polls: 0,
            busy: Duration::ZERO,
            longest: Duration::ZERO,
            woken: None,
            span: None,
            waits: Vec::new(),
            blocked: now,
        });
    }

    fn task_woken(&self, task: Id) {
        let (now, by) = (Instant::now(), present_waker());
        let thread = (by == WokenBy::Other).then(thread::current);
        self.0.change(number(task), |Entry { task, history, .. }| {
            task.state = TaskState::Queued;
            task.since = now;
            task.woken = Some((now, by));
            history.wake(by, thread);
        });
    }

    fn poll_started(&self, _worker: usize, task: TaskRef<'_>) {
        let (now, thread) = (Instant::now(), thread());
        let count = || task.waker_count();
        self.0.change(number(task.id()), |entry| {
            entry.wakers.get_or_insert_with(count);
            let Entry { task, history, .. } = entry;
            let delay = match task.state {
                TaskState::Queued => now.saturating_duration_since(task.since),
                _ => Duration::ZERO,
            };
            task.state = TaskState::Running;
            task.since = now;
            task.span = None;
            task.poll = Some(Poll {
                started: now,
                thread,
                delay,
                cause: history.start(delay),
            });
        });
        let _ = PollFrame::begin(number(task.id()), Some(task.waker_address()));
    }

    fn poll_finished(&self, _worker: Option<usize>, task: Id, result: PollResult) {
        let (now, thread) = (Instant::now(), thread());
        let finish = |Entry { task, history, .. }: &mut Entry, waits: &[Wait]| {
            task.polls += 1;
            if result == PollResult::Rescheduled {
                history.wake_during_poll();
            }
            // Another thread may already poll the task, if it was woken after this poll returned.
            // The table then has that poll, and the duration of this one is lost.
            let Some(poll) = task.poll.take_if(|poll| poll.thread == thread) else {
                return;
            };
            let time = now.saturating_duration_since(poll.started);
            task.busy += time;
            task.longest = task.longest.max(time);
            let mut held = waits.iter().filter(|wait| is_holdable(wait));
            if !held.any(|wait| task.waits.contains(wait)) {
                task.blocked = now;
            }
            task.waits.clear();
            if result != PollResult::Ended {
                history.finish(poll.started, time, poll.delay, poll.cause);
            }
            if result == PollResult::Pending {
                task.waits.extend_from_slice(waits);
            }
            // A task that another thread has woken in the meantime stays queued.
            if task.state == TaskState::Running {
                task.since = now;
                task.state = match result {
                    PollResult::Rescheduled => TaskState::Queued,
                    _ => TaskState::Waiting,
                };
            }
        };
        PollFrame::resume(number(task)).finish(|waits| {
            self.0.change(number(task), |entry| finish(entry, waits));
        });
    }

    fn task_ended(&self, task: Id, _: EndReason) {
        self.0.remove(number(task));
    }

    fn root_poll_started(&self, _worker: Option<usize>) {
        let id = raddle_leaf::wait::root_task();
        self.0.unblock(id);
        let _ = PollFrame::begin(id, None);
    }

    fn root_poll_finished(&self, _worker: Option<usize>, is_ready: bool) {
        let id = raddle_leaf::wait::root_task();
        PollFrame::resume(id).finish(|waits| {
            // A future that has panicked was not ready, but does not wait.
            if !is_ready && !thread::panicking() {
                let since = Instant::now();
                let thread = thread::current().name().map(Into::into);
                let waits = waits.to_vec();
                self.0.block(
                    id,
                    Waiting {
                        thread,
                        since,
                        waits,
                    },
                );
            }
        });
    }

    fn driver_started(&self, _worker: usize, _timeout: Option<Duration>) {
        set_is_in_driver(true);
    }

    fn driver_finished(&self, _worker: usize, _turn: Turn) {
        set_is_in_driver(false);
    }
}
