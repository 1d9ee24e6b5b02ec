//! Channels and locks in turn, round by round, on Raddle and on Tokio as
//! executors, in one process: the figures that a comparison may quote.
#![forbid(unsafe_code)]

use std::sync::mpsc;
use std::time::Instant;

use clap::Parser;
use raddle_benches::executors::{Executor, Raddle, Spawn, Tokio};
use raddle_benches::rounds::{Rounds, in_turn};
use raddle_benches::stats::{median, ratios, spread};
use raddle_benches::sync::{Load, workloads};

#[derive(Parser)]
#[command(about = "Runs each workload of channels and locks with each library in turn")]
struct Args {
    /// How many worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Only the workloads whose name begins so
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    #[command(flatten)]
    rounds: Rounds,
}

/// Runs a load in a task, and says how many nanoseconds an operation took.
fn measure<E: Executor>(runtime: &E, load: Load<E::Spawner>) -> f64 {
    let spawner = runtime.spawner();
    let (sender, result) = mpsc::channel();
    runtime.block_on(async move {
        let task = async move {
            let start = Instant::now();
            let operations = load(spawner).await;
            let time = start.elapsed().as_nanos() as f64 / operations as f64;
            sender.send(time).expect("the result is awaited");
        };
        spawner.spawn_joined(task).await;
    });
    result.recv().expect("the task has ended")
}

fn compare<E: Executor>(args: &Args)
where
    E::Spawner: Sync,
{
    let runtime = E::new(args.workers.into());
    println!(
        "\non {}, {} workers; nanoseconds an operation, and how many times as fast raddle is (10-90 % of the rounds)",
        E::NAME,
        args.workers
    );
    for workload in workloads::<E::Spawner>() {
        let named = |only: &String| workload.name.starts_with(only.as_str());
        if !args.only.as_ref().is_none_or(named) {
            continue;
        }
        let times = in_turn(workload.loads.len(), args.rounds.count(), |contestant| {
            measure(&runtime, workload.loads[contestant].1)
        });
        print!("{:20} raddle {:7.1}", workload.name, median(&times[0]));
        for ((library, _), theirs) in workload.loads.iter().zip(&times).skip(1) {
            let ratios = ratios(theirs, &times[0]);
            print!(
                "  {library} {:7.1} {:5.2} ({})",
                median(theirs),
                median(&ratios),
                spread(&ratios)
            );
        }
        println!();
    }
}

fn main() {
    let args = Args::parse();
    compare::<Raddle>(&args);
    compare::<Tokio>(&args);
}
