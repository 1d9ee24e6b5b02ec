//! Measures what the flight recorder of a runtime costs: without it, with it, and with one that is
//! stopped. "The flight recorder" in `docs/performance.md` has the results.
#![forbid(unsafe_code)]

use std::io::Result;

use clap::{Parser, ValueEnum};
use raddle::runtime::flight_recorder::RecorderOptions;
use raddle::runtime::{Builder, Runtime};
use raddle_benches::executors::{RaddleSpawner, Spawn as _};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet, in_micros};
use raddle_benches::timing::processor_time;
use raddle_benches::workloads::yield_many;

/// The number of tasks that are spawned before the first is joined.
const SPAWNED: usize = 10_000;
const YIELDING: usize = 200;
const YIELDS: usize = 500;
/// The number of times that each workload runs in a round.
const PASSES: usize = 10;

#[derive(Parser)]
#[command(about = "Measures a yield, and a spawn and join, with and without a flight recorder")]
struct Args {
    /// Only run one workload with this recorder, to count its instructions
    #[arg(long, value_name = "KIND", requires = "workload")]
    once: Option<Kind>,

    /// The workload of --once
    #[arg(long)]
    workload: Option<Workload>,

    #[command(flatten)]
    options: Options,
}

/// The recorder of a runtime.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    None,
    Recording,
    Stopped,
}

const KINDS: [(&str, Kind); 3] = [
    ("no recorder", Kind::None),
    ("recording", Kind::Recording),
    ("stopped", Kind::Stopped),
];

/// A multi-thread runtime, with a recorder or without.
struct Recorded(Runtime);

impl Recorded {
    fn start(kind: Kind, workers: usize) -> Self {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers).enable_all();
        if kind != Kind::None {
            builder.flight_recorder(RecorderOptions::default());
        }
        let runtime = builder.build().expect("the runtime starts");
        if kind == Kind::Stopped {
            let recorder = runtime.handle().flight_recorder();
            recorder.expect("the runtime has one").stop();
        }
        Self(runtime)
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Workload {
    Yield,
    SpawnAndJoin,
}

const WORKLOADS: [(&str, Workload); 2] = [
    ("yield", Workload::Yield),
    ("spawn and join", Workload::SpawnAndJoin),
];

impl Workload {
    /// Runs the workload, and returns how many yields or tasks it has.
    fn run(self, runtime: &Runtime, passes: usize) -> usize {
        match self {
            Self::Yield => {
                for _ in 0..passes {
                    runtime.block_on(yield_many(RaddleSpawner, YIELDING, YIELDS));
                }
                passes * YIELDING * YIELDS
            }
            Self::SpawnAndJoin => {
                for _ in 0..passes {
                    let joined = runtime.block_on(runtime.spawn(spawn_and_join()));
                    joined.expect("the task ends");
                }
                passes * SPAWNED
            }
        }
    }
}

async fn spawn_and_join() {
    let tasks: Vec<_> = (0..SPAWNED)
        .map(|_| RaddleSpawner.spawn_joined(async {}))
        .collect();
    for task in tasks {
        task.await;
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let (Some(kind), Some(workload)) = (args.once, args.workload) {
        let runtime = Recorded::start(kind, 1);
        println!("{} times", workload.run(&runtime.0, PASSES));
        return Ok(());
    }
    let mut sheet = Sheet::new(Section::Scheduler, &args.options);
    let names = KINDS.map(|(name, _)| name);
    for workers in args.options.workers(&[1]) {
        let runtimes = KINDS.map(|(_, kind)| Recorded::start(kind, workers));
        for (name, workload) in WORKLOADS {
            let case = Case::new(format!("{name}, {workers} workers"));
            let figures = [Figure::less("CPU time", "ns")];
            sheet.measure(&case, &figures, &names, |index| {
                let before = processor_time();
                let count = workload.run(&runtimes[index].0, PASSES);
                let spent = processor_time() - before;
                Ok([in_micros(spent) * 1e3 / count as f64])
            });
        }
    }
    sheet.finish()
}
