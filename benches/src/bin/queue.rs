//! The run queues in turn, round by round, in one process: the figures that a
//! comparison may quote.
#![forbid(unsafe_code)]

use clap::Parser;
use raddle_benches::queues::{Item, Load, Measured, Queue};
use raddle_benches::rounds::{Rounds, in_turn};
use raddle_benches::stats::{median, ratios, spread};

const ITEMS: usize = 100_000;

#[derive(Parser)]
#[command(about = "Passes items through each run queue in turn, and compares them round by round")]
struct Args {
    #[command(flatten)]
    rounds: Rounds,
}

/// A run queue, for one round.
struct Contestant {
    name: &'static str,
    run: fn(Load, usize) -> Measured,
}

fn contestant<Q: Queue>() -> Contestant {
    Contestant {
        name: Q::NAME,
        run: |load, items| load.run::<Q>(items),
    }
}

fn main() {
    let rounds = Args::parse().rounds.count();
    let contestants = [
        contestant::<raddle_queue::Owner<Item>>(),
        contestant::<crossbeam_deque::Worker<Item>>(),
        contestant::<st3::fifo::Worker<Item>>(),
    ];
    println!("{}", header(rounds));
    for load in Load::ALL {
        let measured = in_turn(contestants.len(), rounds, |index| {
            (contestants[index].run)(load, ITEMS)
        });
        print!("{}", rows(load, &contestants, &measured));
    }
}

fn header(rounds: usize) -> String {
    format!(
        "Medians of {rounds} rounds of {ITEMS} items: nanoseconds from an item's push to the next's, until \
         all are popped,\nand the share that the thief popped. \"times as fast\" is the median of the \
         rounds' ratios of the queue's\ntime to raddle-queue's, with its 10-90 % spread.\n\n\
         {:<14} {:<16} {:>10} {:>9} {:>15} {:>18}",
        "load", "queue", "ns an item", "stolen %", "times as fast", "10-90 %"
    )
}

/// Each queue, beside the first.
fn rows(load: Load, contestants: &[Contestant], measured: &[Vec<Measured>]) -> String {
    let nanos = |measured: &[Measured]| -> Vec<f64> {
        let each = measured.iter();
        each.map(|one| one.time.as_secs_f64() * 1e9 / ITEMS as f64)
            .collect()
    };
    let stolen = |measured: &[Measured]| -> Vec<f64> {
        let each = measured.iter();
        each.map(|one| one.stolen as f64 * 100.0 / ITEMS as f64)
            .collect()
    };
    let base = nanos(&measured[0]);
    let mut rows = String::new();
    for (contestant, measured) in contestants.iter().zip(measured) {
        let nanos = nanos(measured);
        let ratios = ratios(&nanos, &base);
        rows += &format!(
            "{:<14} {:<16} {:>10.1} {:>9.0} {:>15.2} {:>18}\n",
            load.name(),
            contestant.name,
            median(&nanos),
            median(&stolen(measured)),
            median(&ratios),
            spread(&ratios),
        );
    }
    rows
}
