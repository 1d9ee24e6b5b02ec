//! Files and directories.
//!
//! The functions and types of `std::fs`, to be awaited. The operating system
//! has no files that are waited for as sockets are, so each call is made on a
//! thread for [blocking work](crate::task::spawn_blocking). That costs some
//! microseconds: read and write in large pieces, through a
//! [`BufReader`](crate::io::BufReader) or [`BufWriter`](crate::io::BufWriter)
//! if need be, and where many calls belong together, make them in one
//! `spawn_blocking`.
//!
//! ```
//! use raddle::fs::File;
//! use raddle::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[raddle::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! # let directory = std::env::temp_dir().join(format!("raddle-fs-{}", std::process::id()));
//! # raddle::fs::create_dir_all(&directory).await?;
//! # let path = directory.join("greeting");
//! let mut file = File::create(&path).await?;
//! file.write_all(b"good morning").await?;
//! file.flush().await?;
//!
//! let mut text = String::new();
//! File::open(&path).await?.read_to_string(&mut text).await?;
//! assert_eq!(text, "good morning");
//! # raddle::fs::remove_dir_all(&directory).await
//! # }
//! ```
//!
//! # Errors
//!
//! Those of `std::fs`. If the runtime is shut down before a call is made, or the
//! system has no thread for it, it fails with an error of the kind `Other`.
//!
//! # Panics
//!
//! Each function and method that makes a call panics if the thread is in no
//! runtime.
//!
//! # Cancel safety
//!
//! A call that has begun cannot be stopped: to drop its future is not to wait
//! for it, and whether it is made is not known then.

mod dir_builder;
mod file;
mod functions;
mod in_flight;
#[cfg(unix)]
mod links;
mod open_options;
mod read_dir;

pub use std::fs::FileTimes;

pub use self::dir_builder::DirBuilder;
pub use self::file::File;
pub use self::functions::{
    canonicalize, copy, create_dir, create_dir_all, hard_link, metadata, read, read_link,
    read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions,
    symlink_metadata, try_exists, write,
};
#[cfg(unix)]
pub use self::links::symlink;
pub use self::open_options::OpenOptions;
pub use self::read_dir::{DirEntry, ReadDir, read_dir};
