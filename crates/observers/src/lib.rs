#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod observers;

pub use observers::Observers;
