//! Tests that need a process of their own: one changes the limit of descriptors and expects certain
//! descriptor numbers, the other interrupts all threads with signals.
#![cfg(all(target_os = "linux", not(raddle_loom)))]

#[path = "../common/mod.rs"]
mod common;

mod interrupted;
mod limits;

use raddle_primitives::sync::Mutex;

/// Each test holds this lock while it runs.
static ALONE: Mutex<()> = Mutex::new(());
