//! Tests of the pool for blocking work.
#![cfg(not(raddle_loom))]

mod auto_traits;
mod hooks;
mod observer;
mod pool;
mod shutdown;
