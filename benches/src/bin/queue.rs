//! Measures the run queues in turn, round by round, in one process. A comparison may quote these
//! figures.
#![forbid(unsafe_code)]

use std::io::{Error, Result};
use std::thread;

use clap::Parser;
use raddle_benches::executors::Ready;
use raddle_benches::queues::{Item, Load, Measured, Queue};
use raddle_benches::record::Section;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::stats::median;

/// Small enough for a pass to be shorter than a time slice, so that in most passes both threads
/// have their own core.
const ITEMS: usize = 20_000;

/// The number of passes in a round; its figure is their median.
const PASSES: usize = 5;

/// If the stealer got fewer items, the owner was alone in that pass.
const MIN_STOLEN: usize = ITEMS / 20;

/// The largest number of passes that a round tries.
const MAX_PASSES: usize = 1_000;

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
    let passes: Vec<Measured> = (0..MAX_PASSES)
        .map(|_| load.run::<Q>(ITEMS))
        .filter(|pass| load == Load::Owner || pass.stolen >= MIN_STOLEN)
        .take(PASSES)
        .collect();
    if passes.is_empty() {
        return Err(Error::other(format!(
            "in {MAX_PASSES} passes the stealer never ran beside the owner; free a second core"
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
    let is_one_core = thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    for load in Load::ALL {
        let name = load.name();
        if load != Load::Owner && is_one_core {
            sheet.note(format!("{name}: not measured, there is one core only"));
            continue;
        }
        sheet.compare(&Case::new(name), &FIGURES, &contestants, |run| run(load))?;
    }
    sheet.finish()
}
