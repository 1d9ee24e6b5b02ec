#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod observer;
mod outcome;
mod task;

pub use observer::Observer;
pub use outcome::{MonitorAction, PollResult, Turn};
pub use raddle_task::{EndReason, Id};
pub use task::{SpawnedTask, TaskRef};
