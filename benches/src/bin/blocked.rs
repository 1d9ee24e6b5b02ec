//! Measures what waits while polls take long, on each runtime in turn. A comparison may quote these
//! figures.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Duration;

use clap::{Parser, value_parser};
use raddle_benches::blocked::{Hold, Mixed, stuck};
use raddle_benches::executors::{Executor as _, NoSpares, Raddle, Ready, Tokio};
use raddle_benches::ready;
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet};

#[derive(Parser)]
#[command(
    about = "Holds the workers of each runtime in long polls, and prints how long other work waits"
)]
struct Args {
    /// For how long tasks compute in each round
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = value_parser!(u16).range(1..))]
    milliseconds: u16,

    #[command(flatten)]
    options: Options,
}

#[rustfmt::skip]
const MIXED: &[Figure] = &[
    Figure::less("p50", "us"), Figure::less("p90", "us"), Figure::less("p99", "us"),
    Figure::less("p99.9", "us"), Figure::less("worst", "us"), Figure::more("computed", "ms/s"),
];
#[rustfmt::skip]
const STUCK: &[Figure] = &[
    Figure::less("ready task", "ms"), Figure::less("timer", "ms"),
    Figure::less("event", "ms"), Figure::less("spawn", "ms"),
];

fn main() -> Result<()> {
    let args = Args::parse();
    let time = Duration::from_millis(args.milliseconds.into());
    let mut sheet = Sheet::new(Section::Blocked, &args.options);
    for workers in args.options.workers(&[1, 2]) {
        let [raddle, unspared, tokio] = ready!(
            workers, |runtime, mixed: Mixed| mixed.run(&runtime, &runtime)?;
            Raddle, NoSpares, Tokio
        );
        let (serving, computing) = (Tokio::new(1), Tokio::new(workers));
        let two = Ready {
            name: "tokio, two runtimes",
            run: Box::new(move |mixed: Mixed| mixed.run(&serving, &computing)),
        };
        let contestants = [raddle, unspared, tokio, two];
        for millis in [20, 2] {
            let mixed = Mixed {
                tasks: 2 * workers,
                poll: Duration::from_millis(millis),
                time,
            };
            let tasks = mixed.tasks;
            let title =
                format!("{tasks} tasks in polls of {millis} ms, an echo, {workers} workers");
            sheet.compare(&Case::new(title), MIXED, &contestants, mixed);
        }
    }
    for workers in args.options.workers(&[1, 2, 4]) {
        let contestants = ready!(
            workers, |runtime, hold: Hold| stuck(&runtime, workers, hold)?;
            Raddle, Tokio
        );
        for (hold, name) in [(Hold::Sleeping, "sleeping"), (Hold::Computing, "computing")] {
            let title = format!("{workers} workers, all {name} for 500 ms");
            sheet.compare(&Case::new(title), STUCK, &contestants, hold);
        }
    }
    sheet.finish()
}
