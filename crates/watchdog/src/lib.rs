#![doc = include_str!("../README.md")]

pub mod exchange;
mod observer;
mod registry;
mod report;
pub mod slot;
mod span;
mod stack;
mod warn;
mod watchdog;

pub use report::{NoSpareWorkers, Report, ShutdownReport, SlowPoll, WaitingJobs};
pub use stack::{StackFrame, StackTrace};
pub use warn::warn;
pub use watchdog::Watchdog;
