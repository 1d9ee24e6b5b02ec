#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod dump;
mod error;
mod graph;
mod observer;
#[cfg(unix)]
mod sigquit;
mod table;

pub use dump::{BlockOn, Dump, LastWake, TaskDump, TaskState, WokenBy};
pub use error::DumpError;
pub use graph::{Deadlock, Edge};
#[cfg(unix)]
pub use sigquit::SigquitGuard;
pub use table::TaskTable;

pub use raddle_leaf::wait::{Direction, Resource, Wait};
