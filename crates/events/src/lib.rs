#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod outcome;
mod observer;
mod task;

pub use outcome::{MonitorAction, PollResult, Turn};
pub use observer::Observer;
pub use raddle_task::{EndReason, Id};
pub use task::{SpawnedTask, TaskRef};
