//! Files and directories.
//!
//! Async versions of the functions and types of [`std::fs`]. Operating systems do not report when a
//! file is ready as they do for sockets, so each call runs on a thread for [blocking
//! work](crate::task::spawn_blocking). That costs a few microseconds per call:
//!
//! - Read and write in large pieces, through a [`BufReader`](crate::io::BufReader) or
//!   [`BufWriter`](crate::io::BufWriter) if the program has small ones.
//! - [`read`](fn@read), [`read_to_string`] and [`write`](fn@write) make one call for a whole file.
//! - Make many calls that belong together in one `spawn_blocking`, with `std::fs`.
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
//! // A write returns when the bytes are in the file's buffer; this waits for the system.
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
//! Each function returns the errors of the function of `std::fs` with the same name, for instance
//! `NotFound` and `PermissionDenied`. In addition, each call fails with an error of the kind
//! `Other` if the runtime shuts down before the call begins, or if the system has no thread for it.
//!
//! # Panics
//!
//! Each function and method that makes a call panics if the thread is not in a runtime.
//!
//! # Cancel safety
//!
//! A call that has begun cannot be stopped. Dropping its future only stops the wait: the call may
//! or may not be made.

#[cfg(unix)]
pub use raddle_fs::symlink;
pub use raddle_fs::{
    DirBuilder, DirEntry, File, FileTimes, OpenOptions, ReadDir, canonicalize, copy, create_dir,
    create_dir_all, hard_link, metadata, read, read_dir, read_link, read_to_string, remove_dir,
    remove_dir_all, remove_file, rename, set_permissions, symlink_metadata, try_exists, write,
};
#[cfg(windows)]
pub use raddle_fs::{symlink_dir, symlink_file};
