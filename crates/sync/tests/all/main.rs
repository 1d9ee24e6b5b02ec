//! Tests of the channels, locks and signals.
#![cfg(not(raddle_loom))]

#[path = "../common/mod.rs"]
mod common;
mod counted;
mod held;
mod hooked;
mod polling;

mod auto_traits;
mod barrier;
mod blocking;
mod broadcast;
mod errors;
mod hostile_wakers_locks;
mod memory;
mod mpmc;
mod mpsc_bounded;
#[cfg(feature = "time")]
mod mpsc_timeout;
mod mpsc_unbounded;
mod mutex;
mod notify;
mod once;
mod oneshot;
mod rwlock;
mod semaphore;
#[cfg(feature = "stream")]
mod stream;
mod watch;
