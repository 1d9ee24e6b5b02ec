//! Models of the parking protocol.
#![cfg(raddle_loom)]

mod idle;
mod parker;
mod stealable;
