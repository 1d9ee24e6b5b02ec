#![doc = include_str!("../README.md")]

pub mod exchange;
mod observer;
mod registry;
mod report;
pub mod slot;
mod stack;
mod watchdog;

pub use report::{NoSpareWorkers, Report, ShutdownReport, SlowPoll, WaitingJobs, warn};
pub use stack::{StackFrame, StackTrace};
pub use watchdog::Watchdog;
