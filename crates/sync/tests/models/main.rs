//! Models of the channels, locks and signals.
#![cfg(raddle_loom)]

#[path = "../common/mod.rs"]
mod common;
mod messages;
mod plain;

mod broadcast;
mod locks;
mod mpmc;
mod mpsc;
mod mpsc_room;
mod notify;
mod once;
mod oneshot;
mod semaphore;
mod watch;
