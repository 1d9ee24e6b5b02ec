#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod join;
mod select;

/// Only for the code that the macros generate.
#[doc(hidden)]
pub mod support;
