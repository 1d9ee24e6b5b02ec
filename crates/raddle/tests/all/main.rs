//! Integration tests of the facade that share a process.
#![cfg(not(raddle_loom))]
#![allow(clippy::disallowed_types, reason = "never modelled")]

#[path = "../common/mod.rs"]
mod common;
#[cfg(all(
    feature = "console",
    feature = "rt-multi-thread",
    feature = "sync",
    feature = "time"
))]
#[path = "../common/deadlock.rs"]
mod deadlock;
#[cfg(target_os = "linux")]
use raddle_testing::{fork, refuse};

mod auto_traits;
mod block_in_place;
mod block_on;
mod blocking;
mod budget;
mod builder;
#[cfg(unix)]
mod cancel;
mod clock;
#[cfg(all(feature = "console", feature = "rt-multi-thread", feature = "time"))]
mod console;
#[cfg(all(
    feature = "console",
    feature = "rt-multi-thread",
    feature = "sync",
    feature = "time"
))]
mod console_views;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod descriptors_counted;
// One of the programs needs SO_REUSEPORT.
#[cfg(all(target_os = "linux", feature = "tools"))]
mod environment;
#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
mod examples;
#[cfg(unix)]
mod faults;
#[cfg(feature = "flight-recorder")]
mod flight_recorder;
mod fs;
mod fs_file;
#[cfg(target_os = "linux")]
mod fs_refused;
#[cfg(target_os = "linux")]
mod interrupted;
mod join;
mod join_set;
mod large;
#[cfg(unix)]
mod local_fairness;
mod local_runtime;
mod local_set;
mod macros;
mod metrics;
mod nesting;
mod net;
mod owners;
mod panics;
#[cfg(target_os = "linux")]
mod process;
#[cfg(unix)]
mod reentry;
#[cfg(target_os = "linux")]
mod restricted;
mod scope;
mod select;
#[cfg(feature = "metrics-server")]
mod serve_metrics;
mod sharded;
mod shutdown;
mod shutdown_in_place;
#[cfg(unix)]
mod signal;
mod spares;
mod spawn;
#[cfg(unix)]
mod stdio;
mod stuck_worker;
mod sync;
#[cfg(feature = "task-dumps")]
mod task_dumps;
#[cfg(all(feature = "task-dumps", feature = "sync", feature = "time"))]
mod task_dumps_deadlocks;
#[cfg(all(feature = "task-dumps", feature = "sync"))]
mod task_dumps_groups;
#[cfg(all(feature = "task-dumps", feature = "full"))]
mod task_dumps_programs;
#[cfg(all(unix, feature = "task-dumps"))]
mod task_dumps_sigquit;
#[cfg(all(feature = "task-dumps", feature = "sync", feature = "time"))]
mod task_dumps_waits;
mod task_local;
mod thread_end;
mod time;
mod time_held;
mod time_paused;
mod timer_options;
mod unhandled_panic;
#[cfg(debug_assertions)]
mod wake_panics;
