//! Tests of child processes.
#![cfg(all(unix, feature = "process", not(raddle_loom)))]

mod common;

mod pre_exec;
