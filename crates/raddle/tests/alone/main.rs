//! Tests that check the memory, the threads or the signals of their whole process, or that need an
//! idle machine. One of them runs at a time.
#![cfg(not(raddle_loom))]
#![allow(clippy::disallowed_types, reason = "never modelled")]

#[cfg(all(
    unix,
    feature = "console",
    feature = "rt-multi-thread",
    feature = "time"
))]
mod browser;
#[path = "../common/mod.rs"]
mod common;
#[cfg(all(
    unix,
    feature = "console",
    feature = "rt-multi-thread",
    feature = "time"
))]
mod console_limits;
#[cfg(all(
    unix,
    feature = "console",
    feature = "rt-multi-thread",
    feature = "sync",
    feature = "time"
))]
#[path = "../common/deadlock.rs"]
mod deadlock;
#[cfg(target_os = "linux")]
use raddle_testing::fork;
#[cfg(target_os = "linux")]
mod idle_ticks;
#[cfg(not(raddle_sanitize))]
mod memory;
#[cfg(unix)]
mod signal_coalesced;
#[cfg(unix)]
mod signal_unread;
#[cfg(target_os = "linux")]
mod signals_across_runtimes;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test runs. Each test keeps the guard until its end.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_TEST_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_TEST_AT_A_TIME.lock();
    alone.unwrap_or_else(PoisonError::into_inner)
}
