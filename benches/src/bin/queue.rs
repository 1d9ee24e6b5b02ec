//! The run queues in turn, round by round, in one process: the figures that a
//! comparison may quote.
#![forbid(unsafe_code)]

use clap::Parser;
use raddle_benches::queues::{Item, Load, Measured, Queue};
use raddle_benches::rounds::{Rounds, in_turn};
use raddle_benches::stats::{median, ratios, spread};

/// Few enough for a pass to be shorter than a time slice, so that most passes
/// have both threads on a core of their own.
const ITEMS: usize = 20_000;

/// How many passes a round has; its figure is their median.
const PASSES: usize = 5;

/// A pass in which the thief got less was one of the owner alone.
const STOLEN_AT_LEAST: usize = ITEMS / 20;

/// How many passes a round tries.
const TRIES: usize = 1_000;

#[derive(Parser)]
#[command(about = "Passes items through each run queue in turn, and compares them round by round")]
struct Args {
    #[command(flatten)]
    rounds: Rounds,
}

/// What one round says of a queue.
struct Round {
    nanos: f64,
    stolen: f64,
}

/// A run queue.
struct Contestant {
    name: &'static str,
    run: fn(Load) -> Round,
}

fn contestant<Q: Queue>() -> Contestant {
    Contestant {
        name: Q::NAME,
        run: round::<Q>,
    }
}

fn round<Q: Queue>(load: Load) -> Round {
    let passes: Vec<Measured> = (0..TRIES)
        .map(|_| load.run::<Q>(ITEMS))
        .filter(|pass| load == Load::Owner || pass.stolen >= STOLEN_AT_LEAST)
        .take(PASSES)
        .collect();
    assert!(
        !passes.is_empty(),
        "in {TRIES} passes the thief never ran beside the owner; free a second core"
    );
    Round {
        nanos: median_of(&passes, |pass| pass.time.as_secs_f64() * 1e9 / ITEMS as f64),
        stolen: median_of(&passes, |pass| pass.stolen as f64 * 100.0 / ITEMS as f64),
    }
}

fn median_of<T>(all: &[T], value: impl Fn(&T) -> f64) -> f64 {
    median(&all.iter().map(value).collect::<Vec<_>>())
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
            (contestants[index].run)(load)
        });
        print!("{}", rows(load, &contestants, &measured));
    }
}

fn header(rounds: usize) -> String {
    format!(
        "Medians of {rounds} rounds of {PASSES} passes of {ITEMS} items: the time from the first push to \
         the last pop,\na share of it for each item, and how many the thief popped. \"times as fast\" is \
         the median of the\nrounds' ratios of the queue's time to raddle-queue's, with its 10-90 % \
         spread.\n\n\
         {:<14} {:<16} {:>10} {:>9} {:>15} {:>18}",
        "load", "queue", "ns an item", "stolen %", "times as fast", "10-90 %"
    )
}

/// Each queue, beside the first.
fn rows(load: Load, contestants: &[Contestant], measured: &[Vec<Round>]) -> String {
    let nanos = |rounds: &[Round]| rounds.iter().map(|round| round.nanos).collect::<Vec<_>>();
    let base = nanos(&measured[0]);
    let mut rows = String::new();
    for (contestant, rounds) in contestants.iter().zip(measured) {
        let nanos = nanos(rounds);
        let ratios = ratios(&nanos, &base);
        rows += &format!(
            "{:<14} {:<16} {:>10.1} {:>9.0} {:>15.2} {:>18}\n",
            load.name(),
            contestant.name,
            median(&nanos),
            median_of(rounds, |round| round.stolen),
            median(&ratios),
            spread(&ratios),
        );
    }
    rows
}
