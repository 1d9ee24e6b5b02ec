#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod hooks;
mod observer;
mod outcome;
mod task;

pub use hooks::{TaskHook, TaskHooks, TaskMeta};
pub use observer::Observer;
pub use outcome::{MonitorAction, PollResult, Turn};
pub use raddle_task::{EndReason, Id};
pub use task::{SpawnedTask, TaskRef};
