//! The behaviour of tasks: one module per subject.
#![cfg(not(raddle_loom))]

#[path = "../common/mod.rs"]
mod common;

mod abort;
mod abort_on_drop;
mod budget;
mod ids;
mod join_set;
mod join_waker;
mod lifecycle;
mod live_list;
mod live_list_handoff;
mod local;
mod local_set;
mod panics;
mod panics_of_callbacks;
mod parallel_scope;
mod ready_list;
mod scope;
mod self_wakes;
mod send_sync;
mod task_local;
mod threads;
#[cfg(feature = "tracing")]
mod tracing;
