//! Callbacks for the events of workers and tasks. A flight recorder, a watchdog or a list of tasks
//! is an observer; `TaskHooks` are for a user who needs only the events of a task.

mod hooks;
mod observer;
mod outcome;
mod task;

pub use hooks::{TaskHook, TaskHooks, TaskMeta};
pub use observer::Observer;
pub use outcome::{MonitorAction, PollResult, Turn};
pub use raddle_task::EndReason;
pub use task::{SpawnedTask, TaskRef};
