//! The flight recorder: each thread keeps its latest events in a ring of fixed size, 16 bytes per
//! event. A thread writes its own ring without locks and without allocation. Readers copy a ring
//! while its thread runs, and leave out events that are overwritten meanwhile.
//!
//! A [`Recorder`] is an observer of a scheduler (`raddle-sched`) and of a blocking pool
//! (`raddle-blocking`); other code calls [`Recorder::record`]. [`Archive`] writes all events to
//! files that it rotates by size and age.

mod archive;
mod clock;
mod follower;
#[cfg_attr(not(target_os = "linux"), path = "recorder/kernel/unknown.rs")]
mod kernel;
mod lane;
mod live;
mod observe;
mod options;
pub mod ring;
mod strings;

pub use archive::{Archive, ArchiveOptions};
pub use follower::Follower;
pub use live::Recorder;
pub use options::RecorderOptions;
