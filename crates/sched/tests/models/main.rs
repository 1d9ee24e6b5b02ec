//! The models of schedulers with all lower layers: one module per subject.
#![cfg(raddle_loom)]

#[path = "../common/mod.rs"]
mod common;
mod gate;

mod current_thread;
mod in_place;
mod monitor;
mod panics;
mod policies;
mod pool;
mod tasks;
