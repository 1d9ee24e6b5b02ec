#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod dump;
mod error;
mod graph;
mod group;
mod history;
mod observer;
mod resources;
#[cfg(unix)]
#[allow(unsafe_code, reason = "system calls")]
mod sigquit;
mod table;

pub use dump::{BlockOn, Dump, LastWake, TaskDump, TaskState, WokenBy};
pub use error::DumpError;
pub use graph::{Deadlock, Edge, Exit};
pub use group::TaskGroup;
pub use history::{PollCause, PollRecord, TaskHistory, WakeCounts};
pub use resources::{ResourceDump, ResourceKind, ResourceUse, ResourceWaiter};
#[cfg(unix)]
pub use sigquit::SigquitGuard;
pub use table::TaskTable;

pub use raddle_leaf::wait::{Direction, Resource, Role, Wait};
