//! Measures different loads under each policy of the scheduler: "Raddle's own policies" in
//! `docs/benchmarks.md`.
#![forbid(unsafe_code)]

use std::io::Result;

use clap::Parser as _;
use raddle_benches::policies::{LOADS, POLICIES, runtime};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet, micros};

fn main() -> Result<()> {
    let options = Options::parse();
    let mut sheet = Sheet::new(Section::Policies, &options);
    let names = POLICIES.map(|(name, _)| name);
    for workers in options.workers(&[2]) {
        let runtimes = POLICIES.map(|(_, policy)| runtime(policy, workers));
        for (name, run) in LOADS {
            let case = Case::new(format!("{name}, {workers} workers"));
            sheet.measure(&case, &[Figure::less("time", "us")], &names, |index| {
                Ok([micros(|| run(&runtimes[index], POLICIES[index].1))])
            });
        }
    }
    sheet.finish()
}
