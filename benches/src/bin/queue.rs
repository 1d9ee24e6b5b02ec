//! Measures the run queues in turn, round by round, in one process. A comparison may quote these
//! figures.
#![forbid(unsafe_code)]

use std::io::{Error, Result};
use std::thread;

use clap::Parser as _;
use raddle_benches::executors::Ready;
use raddle_benches::queues::{Item, Load, Measured, Queue};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet};
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

const FIGURES: &[Figure] = &[
    Figure::less("time an item", "ns"),
    Figure::neutral("stolen", "%"),
];

fn contestant<Q: Queue + 'static>() -> Ready<Load> {
    Ready {
        name: Q::NAME,
        run: Box::new(round::<Q>),
    }
}

fn round<Q: Queue>(load: Load) -> Result<Vec<f64>> {
    let passes = (0..MAX_PASSES).map(|_| load.run::<Q>(ITEMS));
    let passes = passes.filter(|pass| load == Load::Owner || pass.1 >= MIN_STOLEN);
    let passes: Vec<Measured> = passes.take(PASSES).collect();
    if passes.is_empty() {
        return Err(Error::other(format!(
            "in {MAX_PASSES} passes the stealer never ran beside the owner; free a second core"
        )));
    }
    let median = |value: fn(&Measured) -> f64| {
        median(&passes.iter().map(value).collect::<Vec<_>>()) / ITEMS as f64
    };
    Ok(vec![
        median(|pass| pass.0.as_secs_f64() * 1e9),
        median(|pass| pass.1 as f64 * 100.0),
    ])
}

fn main() -> Result<()> {
    let options = Options::parse();
    let contestants = [
        contestant::<raddle_queue::Owner<Item>>(),
        contestant::<crossbeam_deque::Worker<Item>>(),
        contestant::<st3::fifo::Worker<Item>>(),
    ];
    let mut sheet = Sheet::new(Section::Queue, &options);
    let is_one_core = thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    for (load, name) in Load::ALL {
        if load == Load::Stealer && is_one_core {
            sheet.note(format!("{name}: not measured, there is one core only"));
            continue;
        }
        sheet.compare(&Case::new(name), FIGURES, &contestants, load);
    }
    sheet.finish()
}
