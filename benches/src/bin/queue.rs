//! The run queues in turn, round by round, in one process: the figures that a
//! comparison may quote.
#![forbid(unsafe_code)]

use std::io::{Error, Result};
use std::thread;

use clap::Parser;
use raddle_benches::executors::Ready;
use raddle_benches::queues::{Item, Load, Measured, Queue};
use raddle_benches::record::Section;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::stats::median;

/// Few enough for a pass to be shorter than a time slice, so that most passes
/// have both threads on a core of their own.
const ITEMS: usize = 20_000;

/// How many passes a round has; its figure is their median.
const PASSES: usize = 5;

/// A pass in which the stealer got less was one of the owner alone.
const STOLEN_AT_LEAST: usize = ITEMS / 20;

/// How many passes a round tries.
const TRIES: usize = 1_000;

const FIGURES: [Figure; 2] = [
    Figure::less("time an item", "ns"),
    Figure::neutral("stolen", "%"),
];

#[derive(Parser)]
#[command(about = "Passes items through each run queue in turn, and compares them round by round")]
struct Args {
    #[command(flatten)]
    options: Options,
}

fn contestant<Q: Queue + 'static>() -> Ready<Load, Result<[f64; FIGURES.len()]>> {
    Ready {
        name: Q::NAME,
        run: Box::new(round::<Q>),
    }
}

fn round<Q: Queue>(load: Load) -> Result<[f64; FIGURES.len()]> {
    let passes: Vec<Measured> = (0..TRIES)
        .map(|_| load.run::<Q>(ITEMS))
        .filter(|pass| load == Load::Owner || pass.stolen >= STOLEN_AT_LEAST)
        .take(PASSES)
        .collect();
    if passes.is_empty() {
        return Err(Error::other(format!(
            "in {TRIES} passes the stealer never ran beside the owner; free a second core"
        )));
    }
    Ok([
        median_of(&passes, |pass| pass.time.as_secs_f64() * 1e9 / ITEMS as f64),
        median_of(&passes, |pass| pass.stolen as f64 * 100.0 / ITEMS as f64),
    ])
}

fn median_of<T>(all: &[T], value: impl Fn(&T) -> f64) -> f64 {
    median(&all.iter().map(value).collect::<Vec<_>>())
}

fn main() -> Result<()> {
    let args = Args::parse();
    let contestants = [
        contestant::<raddle_queue::Owner<Item>>(),
        contestant::<crossbeam_deque::Worker<Item>>(),
        contestant::<st3::fifo::Worker<Item>>(),
    ];
    let mut sheet = Sheet::new(Section::Queue, &args.options);
    for load in Load::ALL {
        if load != Load::Owner
            && thread::available_parallelism().is_ok_and(|cores| cores.get() == 1)
        {
            sheet.note(format!(
                "{}: not measured, there is one core only",
                load.name()
            ));
            continue;
        }
        sheet.compare(&Case::new(load.name()), &FIGURES, &contestants, |run| {
            run(load)
        })?;
    }
    sheet.finish()
}
