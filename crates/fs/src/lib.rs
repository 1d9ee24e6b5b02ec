#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod buffer;
mod dir_builder;
mod file;
mod functions;
#[cfg(unix)]
mod links;
mod offload;
mod open_options;
mod read_dir;
mod serial;
pub mod stdio;
mod stream;
#[cfg(windows)]
mod windows;

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
#[cfg(windows)]
pub use self::windows::{symlink_dir, symlink_file};
