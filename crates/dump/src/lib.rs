#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod dump;
mod observer;
mod table;

pub use dump::{Dump, State, TaskDump, Wake, WokenBy};
pub use table::Tasks;
