#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

pub mod analysis;
mod event;
pub mod export;
mod format;
mod reader;
mod record;
#[allow(
    unsafe_code,
    reason = "the clock of the processor and the mask of signals"
)]
pub mod recorder;
mod recording;
mod string_id;
mod writer;

pub use event::{EndReason, Event, MonitorAction, PollEnd, PollResult};
pub use reader::ReadError;
pub use record::Record;
pub use recording::{Entry, Recording, Task, Thread};
pub use string_id::StringId;
pub use writer::Writer;
