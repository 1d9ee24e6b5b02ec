//! Tests of the run queue, the next-task slot and the injection queue.
#![cfg(not(raddle_loom))]

mod accounting;
mod drops;
mod injection;
mod items;
mod local;
mod memory;
mod mid_steal;
mod send_sync;
mod slot;
mod tally;
