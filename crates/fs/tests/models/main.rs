//! Models of the operations on one file or stream.
#![cfg(raddle_loom)]

mod serial;
