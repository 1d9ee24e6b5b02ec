//! Compares Raddle with Tokio: random programs of operations, polls and drops must have the same
//! results and the same wake-ups.
//!
//! Each program is one source file, which is compiled for both libraries.
#![cfg(not(raddle_loom))]
#![allow(
    clippy::duplicate_mod,
    reason = "each program is compiled for both libraries"
)]

mod compare;
mod on_raddle;
mod on_tokio;
mod record;
mod tasks;

use compare::compare;

/// Defines a test that compares the programs of one module.
macro_rules! programs {
    ($($group:ident::$name:ident,)*) => {$(
        #[test]
        fn $name() {
            compare(on_raddle::$group::$name::run, on_tokio::$group::$name::run);
        }
    )*};
}

programs! {
    io::buffered,
    io::copying,
    io::duplex,
    io::reading,
    io::relaying,
    io::simplex,
    io::writing,
    sync::barrier,
    sync::broadcast,
    sync::mpsc,
    sync::mutex,
    sync::notify,
    sync::once_cell,
    sync::oneshot,
    sync::rwlock,
    sync::semaphore,
    sync::set_once,
    sync::unbounded,
    sync::watch,
    time::timers,
}
