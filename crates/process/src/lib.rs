#![doc = include_str!("../README.md")]
#![cfg(unix)]
#![deny(unsafe_code)]

#[cfg(feature = "process")]
mod child;
#[cfg(feature = "process")]
mod command;
#[cfg(feature = "process")]
mod ending;
#[cfg(feature = "process")]
mod orphans;
#[cfg(feature = "process")]
mod reap;
pub mod signal;
#[cfg(feature = "process")]
mod stdio;
#[cfg(all(feature = "process", target_os = "linux"))]
#[allow(unsafe_code, reason = "system calls")]
mod sys;

#[cfg(feature = "process")]
pub use self::child::Child;
#[cfg(feature = "process")]
pub use self::command::Command;
#[cfg(feature = "process")]
pub use self::stdio::{ChildStderr, ChildStdin, ChildStdout};
