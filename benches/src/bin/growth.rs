//! How cost grows with the number of tasks and of sleepers, on each runtime in
//! turn: the curves that a comparison may quote.
#![forbid(unsafe_code)]

use std::io::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Spawn, Tokio, TokioThreadpool};
use raddle_benches::record::Section;
use raddle_benches::rounds::Rounds;
use raddle_benches::sheet::{Case, Figure, Output, Sheet};
use raddle_benches::timing::{Timing, processor_time};
use raddle_benches::workloads::{spawn_all, yield_all};

/// How many tasks a round has at least, over as many passes as it takes.
const AT_LEAST: usize = 20_000;
/// How often a task yields.
const YIELDS: usize = 10;
/// How long a task sleeps for each that sleeps with it: none has woken before the
/// last was spawned.
const A_SLEEPER: Duration = Duration::from_micros(2);

#[derive(Parser)]
#[command(about = "Runs 10 to 1,000,000 tasks and sleepers on each runtime in turn")]
struct Args {
    /// How many worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Only these; a comma joins several
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Kind>,

    /// No more than so many at once
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(10..))]
    most: u32,

    #[command(flatten)]
    rounds: Rounds,

    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Tasks that are spawned from a task, and end
    Tasks,
    /// Tasks that all yield 10 times
    Yields,
    /// Tasks that all sleep at the same time
    Sleepers,
}

/// A runtime that stands ready.
struct Contestant {
    name: &'static str,
    run: Box<dyn Fn(usize) -> Vec<f64>>,
}

impl Kind {
    fn title(self) -> &'static str {
        match self {
            Self::Tasks => "tasks spawned from one, until all ended",
            Self::Yields => "tasks that all yield 10 times",
            Self::Sleepers => "tasks that sleep all at once",
        }
    }

    fn section(self) -> Section {
        match self {
            Self::Sleepers => Section::Timers,
            _ => Section::Scheduler,
        }
    }

    fn parameter(self) -> &'static str {
        match self {
            Self::Sleepers => "sleepers",
            _ => "tasks",
        }
    }

    fn figures(self) -> Vec<Figure> {
        match self {
            Self::Tasks => vec![Figure::less("time a task", "ns")],
            Self::Yields => vec![Figure::less("time a yield", "ns")],
            Self::Sleepers => vec![
                Figure::less("CPU a sleeper", "us"),
                Figure::less("worst lateness", "ms"),
            ],
        }
    }

    fn contestants(self, workers: usize) -> Vec<Contestant> {
        match self {
            Self::Sleepers => vec![sleeping::<Raddle>(workers), sleeping::<Tokio>(workers)],
            _ => vec![
                self.working::<Raddle>(workers),
                self.working::<Tokio>(workers),
                self.working::<AsyncExecutor>(workers),
                self.working::<TokioThreadpool>(workers),
            ],
        }
    }

    /// Nanoseconds for each task, or each yield of one.
    fn working<E: Executor + 'static>(self, workers: usize) -> Contestant {
        let executor = E::new(workers);
        let run = move |tasks: usize| {
            let passes = AT_LEAST.div_ceil(tasks);
            let start = Instant::now();
            for _ in 0..passes {
                match self {
                    Self::Yields => yield_all(&executor, tasks, YIELDS),
                    _ => spawn_all(&executor, tasks),
                }
            }
            let each = if self == Self::Yields { YIELDS } else { 1 };
            let nanos = start.elapsed().as_secs_f64() * 1e9;
            vec![nanos / (passes * tasks * each) as f64]
        };
        Contestant {
            name: E::NAME,
            run: Box::new(run),
        }
    }
}

fn sleeping<T: Timing + 'static>(workers: usize) -> Contestant {
    let runtime = T::new(workers);
    Contestant {
        name: T::NAME,
        run: Box::new(move |sleepers| sleep_all(&runtime, sleepers)),
    }
}

/// Many tasks that sleep at the same time and wake within 100 ms and what it took
/// to spawn them: microseconds on a processor for each, and by how many
/// milliseconds the last was late.
fn sleep_all<T: Timing>(runtime: &T, sleepers: usize) -> Vec<f64> {
    let spawner = runtime.spawner();
    let least = Duration::from_millis(20) + A_SLEEPER * sleepers as u32;
    let worst = Arc::new(AtomicU64::new(0));
    let before = processor_time();
    let all = {
        let worst = Arc::clone(&worst);
        async move {
            let tasks: Vec<_> = (0..sleepers)
                .map(|number| {
                    let worst = Arc::clone(&worst);
                    let duration = least + Duration::from_millis(number as u64 * 7919 % 101);
                    spawner.spawn_joined(async move {
                        let start = Instant::now();
                        T::sleep(duration).await;
                        let late = start.elapsed().saturating_sub(duration);
                        // ORDERING: read when the task was joined.
                        worst.fetch_max(late.as_nanos() as u64, Ordering::Relaxed);
                    })
                })
                .collect();
            for task in tasks {
                task.await;
            }
        }
    };
    runtime.block_on(async move { spawner.spawn_joined(all).await });
    let spent = processor_time().saturating_sub(before);
    // ORDERING: the tasks that wrote were joined.
    let worst = worst.load(Ordering::Relaxed);
    vec![
        spent.as_secs_f64() * 1e6 / sleepers as f64,
        worst as f64 / 1e6,
    ]
}

fn main() -> Result<()> {
    let args = Args::parse();
    let workers = args.workers.into();
    let mut sheet = Sheet::new(Section::Scheduler, args.rounds.count(), &args.output);
    for &kind in Kind::value_variants() {
        if !args.only.is_empty() && !args.only.contains(&kind) {
            continue;
        }
        let contestants = kind.contestants(workers);
        let names: Vec<_> = contestants.iter().map(|one| one.name).collect();
        let title = format!("{}, {workers} workers", kind.title());
        sheet.section(kind.section());
        for count in (1..=6).map(|power| 10_usize.pow(power)) {
            if count > args.most as usize {
                continue;
            }
            let case = Case::with(&title, kind.parameter(), count);
            sheet.measure(&case, &kind.figures(), &names, |index| {
                Ok((contestants[index].run)(count))
            })?;
        }
    }
    sheet.finish()
}
