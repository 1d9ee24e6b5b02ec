//! Five services that are slow, each for another reason, and what the tools of a runtime say.
//!
//! Each module has one fault. The program runs it for a second, and prints what the watchdog, a
//! task dump and the flight recorder found. `docs/operating.md` explains the output.
//!
//! ```sh
//! F=flight-recorder,task-dumps,watchdog
//! cargo run --features $F --example slow_service -- blocking_call
//! cargo run --features $F --example slow_service -- held_lock
//! cargo run --features $F --example slow_service -- full_channels
//! cargo run --features $F --example slow_service -- starved_io
//! cargo run --features $F --example slow_service -- lost_core
//! ```
#![forbid(unsafe_code)]

mod blocking_call;
mod full_channels;
mod held_lock;
mod lost_core;
mod starved_io;
mod tools;

use std::io;
use std::time::Duration;

use raddle::runtime::flight_recorder::recording::analysis::AnalysisReport;
pub(crate) use tools::Findings;

const FAULTS: &str = "blocking_call, held_lock, full_channels, starved_io or lost_core";

fn main() -> io::Result<()> {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let findings = run(&fault, Duration::from_secs(1))?;
    for report in &findings.slow_polls {
        println!("watchdog: {report}");
    }
    print!(
        "\n{}\n{}",
        findings.dump,
        AnalysisReport::of(&findings.recording)
    );
    Ok(())
}

/// Runs the service with this fault for `time`, and returns what the tools found.
pub(crate) fn run(fault: &str, time: Duration) -> io::Result<Findings> {
    match fault {
        "blocking_call" => tools::observe(time, blocking_call::serve()),
        "held_lock" => tools::observe(time, held_lock::serve()),
        "full_channels" => tools::observe(time, full_channels::serve()),
        "starved_io" => tools::observe(time, starved_io::serve()),
        "lost_core" => tools::observe(time, lost_core::serve()),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("there is no fault {fault:?}; give {FAULTS} as the argument"),
        )),
    }
}
