//! The models of schedulers with all lower layers: one module per subject.
#![cfg(raddle_loom)]

#[path = "../common/mod.rs"]
mod common;
mod gate;

mod current_thread;
mod idle;
mod in_place;
mod monitor;
mod panics;
mod parker;
mod policies;
mod pool;
mod sharing;
mod stealable;
mod tasks;
