//! Measures the latency of requests that come at fixed times, on each runtime in turn. A comparison
//! may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Duration;

use clap::{Parser, value_parser};
use raddle_benches::executors::{AsyncExecutor, Raddle, Tokio, TokioThreadpool};
use raddle_benches::latency::{PERCENTILES, Shape, percentiles};
use raddle_benches::ready;
use raddle_benches::record::{Case, Section};
use raddle_benches::sheet::{Options, Sheet};

#[derive(Parser)]
#[command(about = "Sends requests to each runtime at fixed times, and prints their latencies")]
struct Args {
    /// The number of requests per second
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = value_parser!(u32).range(1..))]
    rate: u32,

    /// For how long requests come in each round
    #[arg(long, value_name = "MS", default_value_t = 1_000, value_parser = value_parser!(u16).range(1..))]
    milliseconds: u16,

    #[command(flatten)]
    options: Options,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let (rate, duration) = (args.rate, Duration::from_millis(args.milliseconds.into()));
    let mut sheet = Sheet::new(Section::Latency, &args.options);
    for workers in args.options.workers(&[2]) {
        let contestants = ready!(
            workers,
            |runtime, shape: Shape| percentiles(&shape.run(&runtime, rate, duration)?).into();
            Raddle, Tokio, AsyncExecutor, TokioThreadpool
        );
        for (shape, name) in Shape::ALL {
            let title = format!("{name}, {rate} a second, {workers} workers");
            sheet.compare(&Case::new(title), PERCENTILES, &contestants, shape);
        }
    }
    sheet.finish()
}
