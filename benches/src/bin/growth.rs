//! Measures how the cost grows with the number of tasks and of sleepers, on each runtime in turn. A
//! comparison may quote these curves.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Ready, Tokio, TokioThreadpool};
use raddle_benches::ready;
use raddle_benches::record::Section;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::timing::{Timing, sleep_all};
use raddle_benches::workloads::{spawn_all, yield_all};

/// The least number of tasks in a round, over as many passes as that takes.
const MIN_TASKS_PER_ROUND: usize = 20_000;
/// The number of yields of a task.
const YIELDS: usize = 10;
/// The sleep of a task, per task that sleeps with it: no task wakes before the last was spawned.
const SLEEP_PER_TASK: Duration = Duration::from_micros(2);

#[derive(Parser)]
#[command(about = "Runs 10 to 1,000,000 tasks and sleepers on each runtime in turn")]
struct Args {
    /// The number of worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Measure only these kinds, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Kind>,

    /// The largest number of tasks at once
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(10..))]
    most: u32,

    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Tasks that are spawned from a task, and complete
    Tasks,
    /// Tasks that all yield 10 times
    Yields,
    /// Tasks that all sleep at the same time
    Sleepers,
}

impl Kind {
    /// Returns the title, the section, the parameter and the figures.
    fn about(self) -> (&'static str, Section, &'static str, Vec<Figure>) {
        match self {
            Self::Tasks => (
                "tasks spawned from one, until all ended",
                Section::Scheduler,
                "tasks",
                vec![Figure::less("time a task", "ns")],
            ),
            Self::Yields => (
                "tasks that all yield 10 times",
                Section::Scheduler,
                "tasks",
                vec![Figure::less("time a yield", "ns")],
            ),
            Self::Sleepers => (
                "tasks that sleep all at once",
                Section::Timers,
                "sleepers",
                vec![
                    Figure::less("CPU a sleeper", "us"),
                    Figure::less("worst lateness", "ms"),
                ],
            ),
        }
    }

    fn contestants(self, workers: usize) -> Vec<Ready<usize, Vec<f64>>> {
        match self {
            Self::Sleepers => ready!(
                workers, |runtime, sleepers: usize| sleep(&runtime, sleepers);
                Raddle, Tokio
            )
            .into(),
            _ => ready!(
                workers, |runtime, tasks: usize| self.work(&runtime, tasks);
                Raddle, Tokio, AsyncExecutor, TokioThreadpool
            )
            .into(),
        }
    }

    /// Returns the nanoseconds per task, or per yield.
    fn work(self, runtime: &impl Executor, tasks: usize) -> Vec<f64> {
        let passes = MIN_TASKS_PER_ROUND.div_ceil(tasks);
        let start = Instant::now();
        for _ in 0..passes {
            match self {
                Self::Yields => yield_all(runtime, tasks, YIELDS),
                _ => spawn_all(runtime, tasks),
            }
        }
        let each = if self == Self::Yields { YIELDS } else { 1 };
        let nanos = start.elapsed().as_secs_f64() * 1e9;
        vec![nanos / (passes * tasks * each) as f64]
    }
}

/// Runs tasks that sleep at the same time and wake within 100 ms, plus the time in which they were
/// spawned. Returns the microseconds of processor time per task, and by how many milliseconds the
/// last one was late.
fn sleep(runtime: &impl Timing, sleepers: usize) -> Vec<f64> {
    let least = Duration::from_millis(20) + SLEEP_PER_TASK * sleepers as u32;
    let (spent, worst) = sleep_all(runtime, sleepers, least);
    vec![
        spent.as_secs_f64() * 1e6 / sleepers as f64,
        worst.as_secs_f64() * 1e3,
    ]
}

fn main() -> Result<()> {
    let args = Args::parse();
    let workers = args.workers.into();
    let mut sheet = Sheet::new(Section::Scheduler, &args.options);
    for &kind in Kind::value_variants() {
        if !args.only.is_empty() && !args.only.contains(&kind) {
            continue;
        }
        let contestants = kind.contestants(workers);
        let (title, section, parameter, figures) = kind.about();
        let title = format!("{title}, {workers} workers");
        sheet.section(section);
        for count in (1..=6).map(|power| 10_usize.pow(power)) {
            if count > args.most as usize {
                continue;
            }
            let case = Case::with(&title, parameter, count);
            sheet.compare(&case, &figures, &contestants, |run| Ok(run(count)))?;
        }
    }
    sheet.finish()
}
