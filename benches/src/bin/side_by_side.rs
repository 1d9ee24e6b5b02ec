//! Measures the scheduler workloads on every runtime in turn, round by round, in one process. A
//! comparison may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Instant;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use raddle_benches::executors::{
    AsyncExecutor, Raddle, RaddleSharded, RaddleShared, Tokio, TokioThreadpool,
};
use raddle_benches::ready;
use raddle_benches::record::Section;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::workloads::Workload;

const TIME: Figure = Figure::less("time", "us");

#[derive(Parser)]
#[command(about = "Runs each workload on every runtime in turn, and compares them round by round")]
struct Args {
    /// The numbers of worker threads, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Vec<u16>,

    /// Measure only this workload
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = PossibleValuesParser::new(Workload::ALL.map(Workload::name)))]
    only: Option<String>,

    #[command(flatten)]
    options: Options,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut sheet = Sheet::new(Section::Scheduler, &args.options);
    for &workers in &args.workers {
        let contestants = ready!(
            workers.into(), |runtime, workload: Workload| workload.run(&runtime);
            Raddle, Tokio, TokioThreadpool, AsyncExecutor, RaddleShared, RaddleSharded
        );
        for workload in Workload::ALL {
            let only = args.only.as_deref();
            if only.is_none_or(|only| only == workload.name()) {
                let case = Case::with(workload.name(), "workers", workers.into());
                sheet.compare(&case, &[TIME], &contestants, |run| {
                    let start = Instant::now();
                    run(workload);
                    Ok([start.elapsed().as_secs_f64() * 1e6])
                })?;
            }
        }
    }
    sheet.finish()
}
