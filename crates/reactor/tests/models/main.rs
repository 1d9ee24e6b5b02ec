//! Models of readiness and of the table of registrations.
#![cfg(raddle_loom)]

mod closed;
mod readiness;
mod shutdown;
