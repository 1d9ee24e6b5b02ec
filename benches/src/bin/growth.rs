//! Measures how the cost grows with the number of tasks and of sleepers, on each runtime in turn. A
//! comparison may quote these curves.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Duration;

use clap::{Parser, value_parser};
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Tokio, TokioThreadpool};
use raddle_benches::ready;
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet, in_micros, micros};
use raddle_benches::timing::{Timing, sleep_all};
use raddle_benches::workloads::{spawn_many_local, yield_many};

/// The least number of tasks in a round, over as many passes as that takes.
const MIN_TASKS_PER_ROUND: usize = 20_000;
/// The number of yields of a task.
const YIELDS: usize = 10;
/// The sleep of a task, per task that sleeps with it: no task wakes before the last was spawned.
const SLEEP_PER_TASK: Duration = Duration::from_micros(2);

#[derive(Parser)]
#[command(about = "Runs 10 to 1,000,000 tasks and sleepers on each runtime in turn")]
struct Args {
    /// The largest number of tasks at once
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = value_parser!(u32).range(10..))]
    most: u32,

    #[command(flatten)]
    options: Options,
}

/// Returns the nanoseconds per task or, if there are any, per yield.
fn work(runtime: &impl Executor, (tasks, yields): (usize, usize)) -> Vec<f64> {
    let spawner = runtime.spawner();
    let passes = MIN_TASKS_PER_ROUND.div_ceil(tasks);
    let micros = micros(|| {
        for _ in 0..passes {
            match yields {
                0 => runtime.block_on(spawn_many_local(spawner, tasks)),
                _ => runtime.block_on(yield_many(spawner, tasks, yields)),
            }
        }
    });
    vec![micros * 1e3 / (passes * tasks * yields.max(1)) as f64]
}

/// Runs tasks that sleep at the same time and wake within 100 ms, plus the time in which they were
/// spawned. Returns the microseconds of processor time per task, and by how many milliseconds the
/// last one was late.
fn sleep(runtime: &impl Timing, sleepers: usize) -> Vec<f64> {
    let least = Duration::from_millis(20) + SLEEP_PER_TASK * sleepers as u32;
    let (spent, worst) = sleep_all(runtime, sleepers, least);
    vec![in_micros(spent) / sleepers as f64, in_micros(worst) / 1e3]
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut sheet = Sheet::new(Section::Scheduler, &args.options);
    let mut counts: Vec<_> = (1..=6).map(|power| 10_usize.pow(power)).collect();
    counts.retain(|count| *count <= args.most as usize);
    for workers in args.options.workers(&[2]) {
        // Before the other runtimes, which keep threads, start.
        let contestants = ready!(
            workers, |runtime, sleepers: usize| sleep(&runtime, sleepers);
            Raddle, Tokio
        );
        sheet.section(Section::Timers);
        for &count in &counts {
            let title = format!("tasks that sleep all at once, {workers} workers");
            let case = Case::with(title, "sleepers", count);
            let figures = [
                Figure::less("CPU a sleeper", "us"),
                Figure::less("worst lateness", "ms"),
            ];
            sheet.compare(&case, &figures, &contestants, count);
        }
        drop(contestants);
        sheet.section(Section::Scheduler);
        for (title, figure, yields) in [
            ("tasks spawned from one, until all ended", "time a task", 0),
            ("tasks that all yield 10 times", "time a yield", YIELDS),
        ] {
            let contestants = ready!(
                workers, |runtime, input: (usize, usize)| work(&runtime, input);
                Raddle, Tokio, AsyncExecutor, TokioThreadpool
            );
            for &count in &counts {
                let case = Case::with(format!("{title}, {workers} workers"), "tasks", count);
                let figures = [Figure::less(figure, "ns")];
                sheet.compare(&case, &figures, &contestants, (count, yields));
            }
        }
    }
    sheet.finish()
}
