//! Models of the primitives, and a race that the model build must report.
#![cfg(raddle_loom)]

mod canary;
mod primitives;
