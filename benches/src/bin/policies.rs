//! Measures different loads under each policy of the scheduler: "Raddle's own policies" in
//! `docs/benchmarks.md`.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Instant;

use clap::Parser;
use raddle_benches::policies::{LOADS, POLICIES, runtime};
use raddle_benches::record::Section;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};

#[derive(Parser)]
#[command(about = "Runs loads that differ under each policy in turn, round by round")]
struct Args {
    /// The number of worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    workers: u16,

    #[command(flatten)]
    options: Options,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let workers = args.workers.into();
    let runtimes = POLICIES.map(|(_, policy)| runtime(policy, workers));
    let names = POLICIES.map(|(name, _)| name);
    let mut sheet = Sheet::new(Section::Policies, &args.options);
    for load in &LOADS {
        let case = Case::new(format!("{}, {workers} workers", load.name()));
        sheet.measure(&case, &[Figure::less("time", "us")], &names, |index| {
            let start = Instant::now();
            load.run(&runtimes[index], POLICIES[index].1);
            Ok([start.elapsed().as_secs_f64() * 1e6])
        })?;
    }
    sheet.finish()
}
