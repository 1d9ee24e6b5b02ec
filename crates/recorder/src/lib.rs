#![doc = include_str!("../README.md")]

mod archive;
mod clock;
mod follower;
#[cfg_attr(not(target_os = "linux"), path = "kernel/unknown.rs")]
mod kernel;
mod lane;
mod observe;
mod options;
mod recorder;
pub mod ring;
mod strings;

pub use archive::{Archive, ArchiveOptions};
pub use follower::Follower;
pub use options::RecorderOptions;
pub use recorder::Recorder;
