//! Models of the utilities.
#![cfg(raddle_loom)]

mod duplex;
