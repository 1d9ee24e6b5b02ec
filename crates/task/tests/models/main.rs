//! The models of tasks: one module per subject.
#![cfg(raddle_loom)]

mod common;

mod abort;
mod arrivals;
mod complete;
mod live;
mod local;
mod local_set;
mod ready_list;
mod wake;
