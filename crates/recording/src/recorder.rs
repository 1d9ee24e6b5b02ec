//! The flight recorder: each thread keeps its latest events in a ring of fixed size, 16 bytes per
//! event. A thread writes its own ring without locks and without allocation. Readers copy a ring
//! while its thread runs, and leave out events that are overwritten meanwhile.
//!
//! A [`Recorder`] is an observer of a scheduler (`raddle-sched`) and of a blocking pool
//! (`raddle-blocking`); other code calls [`Recorder::record`]. [`Archive`] writes all events to
//! files that it rotates by size and age, and [`Triggers`] write what the rings hold when something
//! happens.
//!
//! # Slow and rare events
//!
//! A busy thread overwrites its ring within milliseconds. So the records of slow and rare events
//! ([`RecorderOptions`] lists them) are copied to a second ring of the thread, each with the
//! position that it has in the first one. A reader takes from the second ring what the first one
//! has lost ([`Thread::rare`](crate::Thread::rare)), so that no event counts twice.
//!
//! # Identities of tasks
//!
//! The location of a task is not stored in the task: room for it would double the cost of a spawn.
//! A table of the recorder has it, by the number of the task, until the task has ended and
//! [`RecorderOptions::task_places`] others were spawned. A snapshot takes from it the tasks of its
//! events whose spawn is overwritten; a slow poll is copied together with the identity of its task.

mod archive;
mod clock;
mod files;
mod follower;
#[cfg_attr(not(target_os = "linux"), path = "recorder/kernel/unknown.rs")]
mod kernel;
mod lane;
mod live;
mod local;
mod observe;
mod options;
pub mod ring;
mod strings;
mod tasks;
mod trigger;

pub use archive::{Archive, ArchiveOptions};
pub use files::ErrorHandler;
pub use follower::Follower;
pub use live::Recorder;
pub use options::RecorderOptions;
pub use trigger::{TriggerOptions, Triggers};
