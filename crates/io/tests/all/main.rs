//! Tests of the traits, extension methods, buffers and utilities.
#![cfg(not(raddle_loom))]

mod common;

mod buffered;
#[cfg(feature = "futures-io")]
mod compat;
mod coop;
mod copy;
mod counted;
mod duplex;
mod lines;
mod numbers;
mod read;
mod seek;
mod segments;
mod simplex;
mod split;
mod write;
