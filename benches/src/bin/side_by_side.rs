//! The scheduler workloads on every runtime in turn, round by round, in one
//! process: the figures that a comparison may quote.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Instant;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Tokio, TokioThreadpool};
use raddle_benches::policies::{RaddleSharded, RaddleShared};
use raddle_benches::record::Section;
use raddle_benches::rounds::Rounds;
use raddle_benches::sheet::{Case, Figure, Output, Sheet};
use raddle_benches::workloads::Workload;

const TIME: Figure = Figure::less("time", "us");

#[derive(Parser)]
#[command(about = "Runs each workload on every runtime in turn, and compares them round by round")]
struct Args {
    /// How many worker threads; a comma joins several
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Vec<u16>,

    /// Only this workload
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = PossibleValuesParser::new(Workload::ALL.map(Workload::name)))]
    only: Option<String>,

    #[command(flatten)]
    rounds: Rounds,

    #[command(flatten)]
    output: Output,
}

/// A runtime that stands ready.
struct Contestant {
    name: &'static str,
    run: Box<dyn Fn(Workload)>,
}

fn contestant<E: Executor + 'static>(workers: usize) -> Contestant {
    let executor = E::new(workers);
    Contestant {
        name: E::NAME,
        run: Box::new(move |workload| workload.run(&executor)),
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut sheet = Sheet::new(Section::Scheduler, args.rounds.count(), &args.output);
    for &workers in &args.workers {
        let contestants = [
            contestant::<Raddle>(workers.into()),
            contestant::<Tokio>(workers.into()),
            contestant::<TokioThreadpool>(workers.into()),
            contestant::<AsyncExecutor>(workers.into()),
            contestant::<RaddleShared>(workers.into()),
            contestant::<RaddleSharded>(workers.into()),
        ];
        let names: Vec<_> = contestants.iter().map(|one| one.name).collect();
        for workload in Workload::ALL {
            let only = args.only.as_deref();
            if only.is_none_or(|only| only == workload.name()) {
                let case = Case::with(workload.name(), "workers", workers.into());
                sheet.measure(&case, &[TIME], &names, |index| {
                    let start = Instant::now();
                    (contestants[index].run)(workload);
                    Ok([start.elapsed().as_secs_f64() * 1e6])
                })?;
            }
        }
    }
    sheet.finish()
}
