//! Runs the server as a hand-written loop and as async functions, in turn, round by round, in one
//! process. A comparison may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;

use clap::Parser as _;
use raddle_benches::async_cost::fake_io::Calls;
use raddle_benches::async_cost::{REQUESTS, VARIANTS};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet};

/// The number of requests that a variant serves in a round, in runs of 32 or 256: some
/// milliseconds.
const IN_MEMORY: usize = 16 * 1024;
const WITH_SYSCALLS: usize = 1024;

fn main() -> Result<()> {
    let options = Options::parse();
    let mut sheet = Sheet::new(Section::AsyncCost, &options);
    let kinds = [
        ("in memory", Calls::in_memory(), IN_MEMORY),
        ("with system calls", Calls::with_syscalls()?, WITH_SYSCALLS),
    ];
    let names = VARIANTS.each_ref().map(|(name, _)| *name);
    for (what, calls, served) in kinds {
        let calls: &'static Calls = Box::leak(Box::new(calls));
        for requests in REQUESTS {
            let runs = u32::try_from(served / requests).expect("a round is short");
            let case = Case::with(what, "requests", requests);
            let figures = [Figure::less("time a request", "ns")];
            sheet.measure(&case, &figures, &names, |variant| {
                let time = VARIANTS[variant].1(calls, requests, runs);
                Ok([time.as_secs_f64() * 1e9 / served as f64])
            });
        }
    }
    sheet.finish()
}
