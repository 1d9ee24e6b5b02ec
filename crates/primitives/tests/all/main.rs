//! Tests of current handles, lock ranks and batches of wakers.
#![cfg(not(raddle_loom))]

mod current;
#[cfg(debug_assertions)]
mod ranks;
mod waker_batch;
