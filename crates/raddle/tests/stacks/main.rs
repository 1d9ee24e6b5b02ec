//! Tests that name the functions of a stack. They read the debug information of their program,
//! which is slow in a large one.
#![cfg(not(raddle_loom))]
#![allow(clippy::disallowed_types, reason = "never modelled")]

// The program needs what the other examples need, see `all`.
#[cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    not(raddle_sanitize),
    feature = "watchdog",
    feature = "rt-multi-thread",
    feature = "time"
))]
mod interruptions;
#[cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    not(raddle_sanitize),
    feature = "watchdog",
    feature = "rt-multi-thread",
    feature = "time"
))]
mod places;
#[cfg(all(
    unix,
    not(any(target_os = "solaris", target_os = "illumos")),
    feature = "flight-recorder",
    feature = "task-dumps",
    feature = "watchdog"
))]
mod slow_service;
#[cfg(all(feature = "watchdog", feature = "rt-multi-thread", feature = "time"))]
mod watchdog;
