//! Runs the server as a hand-written loop and as async functions, in turn, round by round, in one
//! process. A comparison may quote these figures.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Result;
use std::path::PathBuf;

use clap::Parser;
use raddle_benches::async_cost::fake_io::Calls;
use raddle_benches::async_cost::{REQUESTS, VARIANTS};
use raddle_benches::record::Section;
use raddle_benches::report::Report;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};

/// The number of requests that a variant serves in a round, in runs of 32 or 256: some
/// milliseconds.
const IN_MEMORY: usize = 16 * 1024;
const WITH_SYSCALLS: usize = 1024;

#[derive(Parser)]
#[command(about = "Runs a server as a poll loop and as async functions in turn, and compares them")]
struct Args {
    #[command(flatten)]
    options: Options,

    /// Draw the ratios of 256 requests into this file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut sheet = Sheet::new(Section::AsyncCost, &args.options);
    let kinds = [
        ("in memory", Calls::in_memory(), IN_MEMORY),
        ("with system calls", Calls::with_syscalls()?, WITH_SYSCALLS),
    ];
    for variant in &VARIANTS {
        println!("  {:<20} {}", variant.name, variant.about);
    }
    let names = VARIANTS.each_ref().map(|variant| variant.name);
    for (what, calls, served) in kinds {
        let calls: &'static Calls = Box::leak(Box::new(calls));
        for requests in REQUESTS {
            let runs = u32::try_from(served / requests).expect("a round is short");
            let case = Case::with(what, "requests", requests);
            let figures = [Figure::less("time a request", "ns")];
            sheet.measure(&case, &figures, &names, |variant| {
                let time = VARIANTS[variant].time(calls, requests, runs);
                Ok([time.as_secs_f64() * 1e9 / served as f64])
            })?;
        }
    }
    if let Some(path) = args.plot {
        let report = Report::new(String::new(), vec![sheet.record()], None);
        let label = "times as long as the poll loop, 256 requests";
        fs::write(path, report.leads(label, REQUESTS[1] as f64))?;
    }
    sheet.finish()
}
