//! Tests that count the descriptors of the process, install a signal handler or fork, and that
//! tests of other files would disturb. They run one at a time.
#![cfg(all(target_os = "linux", not(raddle_loom)))]

use raddle_primitives::sync::Mutex;

#[path = "../common/mod.rs"]
mod common;
mod injected;
mod process;

use raddle_testing::{fork, refuse};

/// Each test holds this lock.
static ALONE: Mutex<()> = Mutex::new(());
