//! Answers from a recording: which polls are long, what waits, and for what.
//!
//! Each function reads the whole recording. [`AnalysisReport`] prints all answers.

mod delays;
mod distribution;
mod messages;
mod polls;
mod report;
mod spans;
mod spares;
mod tasks;
pub(crate) mod text;
mod threads;

pub use delays::{
    IdleWhileWaiting, blocking_jobs, idle_while_waiting, long_delays, scheduling_delays,
};
pub use distribution::Distribution;
pub use messages::message_times;
pub use polls::{Poll, longest_polls, polls, polls_by_location};
pub use report::AnalysisReport;
pub use spans::spans_by_name;
pub use spares::{SpareWorkers, spare_workers};
pub(crate) use tasks::Callers;
pub use tasks::Tasks;

pub use crate::Task;
pub use threads::{KernelDelays, kernel_delays};
