//! What each policy of the scheduler makes of loads that differ: the figures of
//! `docs/policies.md`.
#![forbid(unsafe_code)]

use std::time::Instant;

use clap::Parser;
use raddle_benches::policies::{LOADS, POLICIES, runtime};
use raddle_benches::rounds::{Rounds, in_turn};
use raddle_benches::stats::{median, ratios, spread};

#[derive(Parser)]
#[command(about = "Runs loads that differ under each policy in turn, round by round")]
struct Args {
    /// How many worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    workers: u16,

    #[command(flatten)]
    rounds: Rounds,
}

fn main() {
    let args = Args::parse();
    let (workers, rounds) = (args.workers.into(), args.rounds.count());
    let runtimes = POLICIES.map(|(_, policy)| runtime(policy, workers));
    println!(
        "{workers} workers, {rounds} rounds: median us, and in brackets the median of the rounds' \
         ratios\nto the time under WorkStealing, with its 10-90 % spread.\n"
    );
    println!("| load | WorkStealing | Shared | Sharded |\n|---|---|---|---|");
    for load in &LOADS {
        let times = in_turn(POLICIES.len(), rounds, |index| {
            let start = Instant::now();
            load.run(&runtimes[index], POLICIES[index].1);
            start.elapsed().as_secs_f64() * 1e6
        });
        let cells = times.iter().map(|times_of_one| {
            let ratios = ratios(times_of_one, &times[0]);
            format!(
                "{:.0} ({:.2}; {})",
                median(times_of_one),
                median(&ratios),
                spread(&ratios)
            )
        });
        let cells: Vec<_> = cells.collect();
        println!("| {} | {} |", load.name(), cells.join(" | "));
    }
}
