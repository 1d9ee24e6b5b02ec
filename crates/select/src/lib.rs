#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod join;
mod select;

/// For the code that the macros write only.
#[doc(hidden)]
pub mod support;
