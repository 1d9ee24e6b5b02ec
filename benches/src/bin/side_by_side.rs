//! The scheduler workloads on every runtime in turn, round by round, in one
//! process: the figures that a comparison may quote.
#![forbid(unsafe_code)]

use std::time::Instant;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Tokio, TokioThreadpool};
use raddle_benches::policies::{RaddleSharded, RaddleShared};
use raddle_benches::rounds::{Rounds, in_turn};
use raddle_benches::stats::{median, ratios, spread};
use raddle_benches::workloads::Workload;

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

fn main() {
    let args = Args::parse();
    let rounds = args.rounds.count();
    println!("{}", header(rounds));
    for &workers in &args.workers {
        let contestants = [
            contestant::<Raddle>(workers.into()),
            contestant::<RaddleShared>(workers.into()),
            contestant::<RaddleSharded>(workers.into()),
            contestant::<Tokio>(workers.into()),
            contestant::<AsyncExecutor>(workers.into()),
            contestant::<TokioThreadpool>(workers.into()),
        ];
        for workload in Workload::ALL {
            if args
                .only
                .as_deref()
                .is_none_or(|only| only == workload.name())
            {
                let times = measure(&contestants, workload, rounds);
                print!("{}", rows(workload, workers, &contestants, &times));
            }
        }
    }
}

/// The times of each contestant in microseconds, round by round.
fn measure(contestants: &[Contestant], workload: Workload, rounds: usize) -> Vec<Vec<f64>> {
    in_turn(contestants.len(), rounds, |index| {
        let start = Instant::now();
        (contestants[index].run)(workload);
        start.elapsed().as_secs_f64() * 1e6
    })
}

fn header(rounds: usize) -> String {
    format!(
        "Medians of {rounds} rounds; \"times as fast\" is the median of the rounds' ratios of the \
         runtime's time\nto raddle's, with its 10-90 % spread.\n\n\
         {:<18} {:>7} {:>10}  {:<16} {:>10} {:>14} {:>15}",
        "workload", "workers", "raddle us", "runtime", "us", "times as fast", "10-90 %"
    )
}

/// The first contestant beside each of the others.
fn rows(
    workload: Workload,
    workers: u16,
    contestants: &[Contestant],
    times: &[Vec<f64>],
) -> String {
    let base = &times[0];
    let mut rows = String::new();
    for (contestant, times) in contestants.iter().zip(times).skip(1) {
        let ratios = ratios(times, base);
        rows += &format!(
            "{:<18} {workers:>7} {:>10.1}  {:<16} {:>10.1} {:>14.2} {:>15}\n",
            workload.name(),
            median(base),
            contestant.name,
            median(times),
            median(&ratios),
            spread(&ratios),
        );
    }
    rows
}
