//! Tests of files.
#![cfg(not(raddle_loom))]

#[cfg(unix)]
mod raw_descriptor;
