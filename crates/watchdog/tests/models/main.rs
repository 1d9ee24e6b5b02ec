//! Models of what the watchdog shares with the threads that it watches.
#![cfg(raddle_loom)]

mod exchange;
mod slot;
