//! Property tests: the machines, and the file format of recordings.
#![cfg(not(raddle_loom))]

mod machines;
mod recording;
