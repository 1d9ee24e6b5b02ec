//! The same code on Linux and in a simulation: both must observe the same.
//!
//! A case writes what it observes to a log: results and errors of system calls, addresses, counts
//! of bytes, readiness. It runs on the real kernel over the loopback, then in simulations of
//! several seeds, and the logs are compared line by line.
#![allow(
    missing_docs,
    clippy::disallowed_types,
    clippy::unused_io_amount,
    reason = "cases use std's own types and single calls, which are to be compared"
)]

mod harness;

mod blocking;
mod epoll;
mod hang_up;
mod pipes;
mod tcp;
mod tcp_options;
mod threads;
mod udp;
mod unix;
