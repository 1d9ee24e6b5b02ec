//! Models of the run queue, the next-task slot and the injection queue.
#![cfg(raddle_loom)]

mod arena;
mod full;
mod injection;
mod local;
mod reuse;
mod slot;
mod stealers;
