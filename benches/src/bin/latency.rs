//! How late requests are done that come at their own times, on each runtime in
//! turn: the figures that a comparison may quote.
#![forbid(unsafe_code)]

use std::io::Result;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use hdrhistogram::Histogram;
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Tokio, TokioThreadpool};
use raddle_benches::latency::{PERCENTILES, Shape, percentiles};
use raddle_benches::record::Section;
use raddle_benches::rounds::Rounds;
use raddle_benches::sheet::{Case, Output, Sheet};

#[derive(Parser)]
#[command(
    about = "Sends requests to each runtime in turn at fixed times, and prints their latencies"
)]
struct Args {
    /// How many worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Only these requests; a comma joins several
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Shape>,

    /// How many requests come in a second
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,

    /// For how long they come in each round
    #[arg(long, value_name = "MS", default_value_t = 1_000)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    milliseconds: u16,

    #[command(flatten)]
    rounds: Rounds,

    #[command(flatten)]
    output: Output,
}

/// A runtime that stands ready.
struct Contestant {
    name: &'static str,
    run: Box<dyn Fn(Shape, u32, Duration) -> Result<Histogram<u64>>>,
}

fn contestant<E: Executor + 'static>(workers: usize) -> Contestant {
    let executor = E::new(workers);
    Contestant {
        name: E::NAME,
        run: Box::new(move |shape, rate, duration| shape.run(&executor, rate, duration)),
    }
}

fn main() -> ExitCode {
    match Args::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("latency: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Args {
    fn run(&self) -> Result<()> {
        let workers = self.workers.into();
        let contestants = [
            contestant::<Raddle>(workers),
            contestant::<Tokio>(workers),
            contestant::<AsyncExecutor>(workers),
            contestant::<TokioThreadpool>(workers),
        ];
        let names: Vec<_> = contestants.iter().map(|one| one.name).collect();
        let duration = Duration::from_millis(self.milliseconds.into());
        let mut sheet = Sheet::new(Section::Latency, self.rounds.count(), &self.output);
        for &shape in Shape::value_variants() {
            if !self.only.is_empty() && !self.only.contains(&shape) {
                continue;
            }
            let title = format!(
                "{}, {} a second, {workers} workers",
                shape.name(),
                self.rate
            );
            sheet.measure(&Case::new(title), &PERCENTILES, &names, |index| {
                let latencies = (contestants[index].run)(shape, self.rate, duration)?;
                Ok(percentiles(&latencies))
            })?;
        }
        sheet.finish()
    }
}
