//! The behaviour of schedulers: one module per subject.
#![cfg(not(raddle_loom))]

#[path = "../common/mod.rs"]
mod common;
mod harness;

mod auto_traits;
mod block_on_fairness;
mod blocking_on;
mod config;
mod context;
mod current_thread;
mod driver;
mod fairness;
#[cfg(unix)]
mod faults;
mod first_come;
mod hooks;
mod in_place;
mod in_place_shutdown;
mod metrics;
mod monitor;
mod observer;
mod panics_in_wakes;
mod refused;
mod seeded;
mod sharded;
mod shutdown;
mod shutdown_races;
mod spares;
mod spawning;
mod stress;
mod stuck_worker;
mod task_hooks;
mod unhandled_panic;
mod wakes;
mod window;
