#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg(any(unix, windows))]
#![deny(unsafe_code)]

#[cfg(feature = "process")]
mod child;
#[cfg(feature = "process")]
mod command;
#[cfg(unix)]
mod descriptor;
#[cfg(feature = "process")]
mod exit_notifier;
#[cfg(all(feature = "process", unix))]
mod orphans;
#[cfg(feature = "process")]
mod reap;
pub mod signal;
#[cfg(all(feature = "process", unix))]
mod stdio;
#[cfg(all(feature = "process", windows))]
#[path = "windows/stdio.rs"]
mod stdio;
#[cfg(all(feature = "process", target_os = "linux"))]
#[allow(unsafe_code, reason = "system calls")]
mod sys;
#[cfg(all(feature = "process", windows))]
#[path = "windows/sys.rs"]
#[allow(unsafe_code, reason = "system calls")]
mod sys;

#[cfg(feature = "process")]
pub use self::child::Child;
#[cfg(feature = "process")]
pub use self::command::Command;
#[cfg(feature = "process")]
pub use self::stdio::{ChildStderr, ChildStdin, ChildStdout};
