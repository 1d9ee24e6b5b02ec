//! Benchmarks of Raddle and other runtimes.
//!
//! Only the programs of this package use this library, which is not published. Its errors and
//! panics end a program with a message, so they are not documented for each function.
#![deny(unsafe_code)]

pub mod async_cost;
pub mod both;
pub mod client;
pub mod descriptors;
pub mod executors;
pub mod h2load;
pub mod http_load;
pub mod latency;
pub mod machine;
pub mod policies;
pub mod queues;
pub mod record;
pub mod report;
pub mod rounds;
pub mod scaling;
pub mod servers;
pub mod sharing;
pub mod sheet;
pub mod sockets;
pub mod stats;
pub mod strace;
pub mod sync;
pub mod table;
pub mod timing;
pub mod workloads;
pub mod wrk;

use std::process::ExitCode;

/// Prints the error to standard error, if there is one, and returns the exit code.
pub fn exit(program: &str, result: std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::FAILURE
        }
    }
}
