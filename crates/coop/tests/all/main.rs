//! Tests of the budget of a poll.
#![cfg(not(raddle_loom))]

mod auto_traits;
mod budget;
