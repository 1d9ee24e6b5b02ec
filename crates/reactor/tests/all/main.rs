//! Tests of the reactor, of registrations and of their readiness.
#![cfg(not(raddle_loom))]

mod auto_traits;
#[cfg(unix)]
mod closed;
#[cfg(unix)]
#[path = "../common/mod.rs"]
mod common;
mod context;
#[cfg(unix)]
mod dispatching;
#[cfg(unix)]
mod ending;
#[cfg(unix)]
mod evented;
mod interest;
#[cfg(unix)]
mod registering;
#[cfg(unix)]
mod std_sockets;
#[cfg(unix)]
mod storage;
mod timeout_clock;
