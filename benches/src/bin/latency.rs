//! Measures the latency of requests that come at fixed times, on each runtime in turn. A comparison
//! may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use raddle_benches::executors::{AsyncExecutor, Raddle, Tokio, TokioThreadpool};
use raddle_benches::exit;
use raddle_benches::latency::{PERCENTILES, Shape, percentiles};
use raddle_benches::ready;
use raddle_benches::record::Section;
use raddle_benches::sheet::{Case, Options, Sheet};

#[derive(Parser)]
#[command(
    about = "Sends requests to each runtime in turn at fixed times, and prints their latencies"
)]
struct Args {
    /// The number of worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Measure only these requests, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Shape>,

    /// The number of requests per second
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,

    /// For how long requests come in each round
    #[arg(long, value_name = "MS", default_value_t = 1_000)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    milliseconds: u16,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    exit("latency", Args::parse().run())
}

impl Args {
    fn run(&self) -> Result<()> {
        let workers = self.workers.into();
        let (rate, duration) = (self.rate, Duration::from_millis(self.milliseconds.into()));
        let contestants = ready!(
            workers, |runtime, shape: Shape| shape.run(&runtime, rate, duration);
            Raddle, Tokio, AsyncExecutor, TokioThreadpool
        );
        let mut sheet = Sheet::new(Section::Latency, &self.options);
        for &shape in Shape::value_variants() {
            if !self.only.is_empty() && !self.only.contains(&shape) {
                continue;
            }
            let title = format!("{}, {rate} a second, {workers} workers", shape.name());
            sheet.compare(&Case::new(title), &PERCENTILES, &contestants, |run| {
                Ok(percentiles(&run(shape)?))
            })?;
        }
        sheet.finish()
    }
}
