//! Timers of Raddle and of Tokio in turn, round by round, in one process: the
//! figures that a comparison may quote.
#![forbid(unsafe_code)]

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use raddle_benches::executors::{Raddle, Spawn, Tokio};
use raddle_benches::rounds::{Rounds, in_turn};
use raddle_benches::stats::{median, ratios, spread};
use raddle_benches::timing::{Timing, processor_time, resident_bytes};

const SLEEPS: u64 = 100_000;
const LIMITS: u32 = 1_000_000;
const PERIOD: Duration = Duration::from_millis(10);
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Parser)]
#[command(about = "Runs each workload of timers on Raddle and on Tokio in turn")]
struct Args {
    /// How many worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Only this workload
    #[arg(long, value_name = "NAME")]
    only: Option<Workload>,

    #[command(flatten)]
    rounds: Rounds,

    /// Prints the memory of a sleeping task in this process
    #[arg(long, hide = true, value_name = "RUNTIME")]
    memory_of: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Workload {
    /// 100,000 sleeps of 50 to 150 ms
    Sleeps,
    /// Arming and cancelling, with few and with a million timers set
    Arm,
    /// A time limit for what is ready
    Limit,
    /// One interval of 10 ms for 3 s
    Interval,
    /// What a sleeping task keeps in memory
    Memory,
}

/// A runtime that stands ready.
struct Contestant {
    name: &'static str,
    run: Box<dyn Fn(Workload) -> Vec<f64>>,
}

fn contestant<T: Timing + 'static>(workers: usize) -> Contestant {
    let runtime = T::new(workers);
    Contestant {
        name: T::NAME,
        run: Box::new(move |workload| match workload {
            Workload::Sleeps => sleeps(&runtime),
            Workload::Arm => arm(&runtime),
            Workload::Limit => limit(&runtime),
            Workload::Interval => interval(&runtime),
            Workload::Memory => memory::<T>(workers),
        }),
    }
}

impl Workload {
    /// What its figures are.
    fn figures(self) -> &'static [&'static str] {
        match self {
            Self::Sleeps => &["sleeps: CPU ms", "sleeps: worst lateness ms"],
            Self::Arm => &[
                "arm and cancel, alone: ns",
                "arm, up to 1,000,000 set: ns",
                "cancel, of 1,000,000: ns",
            ],
            Self::Limit => &["limit for what is ready: ns"],
            Self::Interval => &["10 ms interval, 3 s: CPU ms"],
            Self::Memory => &["sleeping task: bytes"],
        }
    }
}

/// Runs `future` in a task, and waits for its end.
fn on_worker<T: Timing>(runtime: &T, future: impl Future<Output = ()> + Send + 'static) {
    let spawner = runtime.spawner();
    runtime.block_on(async move { spawner.spawn_joined(future).await });
}

/// Many tasks that sleep at the same time.
fn sleeps<T: Timing>(runtime: &T) -> Vec<f64> {
    let worst = Arc::new(AtomicU64::new(0));
    let spawner = runtime.spawner();
    let before = processor_time();
    on_worker(runtime, {
        let worst = Arc::clone(&worst);
        async move {
            let tasks: Vec<_> = (0..SLEEPS)
                .map(|number| {
                    let worst = Arc::clone(&worst);
                    let duration = Duration::from_millis(50 + number * 7919 % 101);
                    spawner.spawn_joined(async move {
                        let start = Instant::now();
                        T::sleep(duration).await;
                        let late = start.elapsed() - duration;
                        worst.fetch_max(late.as_nanos() as u64, Ordering::Relaxed);
                    })
                })
                .collect();
            for task in tasks {
                task.await;
            }
        }
    });
    let spent = processor_time() - before;
    vec![
        spent.as_secs_f64() * 1e3,
        worst.load(Ordering::Relaxed) as f64 / 1e6,
    ]
}

/// Timers that are set and do not fire.
fn arm<T: Timing>(runtime: &T) -> Vec<f64> {
    const MANY: u32 = 1_000_000;
    let figures = Arc::new(std::sync::OnceLock::new());
    on_worker(runtime, {
        let figures = Arc::clone(&figures);
        async move {
            let start = Instant::now();
            for _ in 0..MANY {
                set(&mut [Box::pin(T::sleep(HOUR))]).await;
            }
            let alone = start.elapsed() / MANY;
            let spread = |number| HOUR + Duration::from_millis(u64::from(number % 100_000));
            let mut timers: Vec<_> = (0..MANY)
                .map(|number| Box::pin(T::sleep(spread(number))))
                .collect();
            let start = Instant::now();
            set(&mut timers).await;
            let armed = start.elapsed() / MANY;
            let start = Instant::now();
            drop(timers);
            let cancelled = start.elapsed() / MANY;
            let figure = |time: Duration| time.as_nanos() as f64;
            let _ = figures.set(vec![figure(alone), figure(armed), figure(cancelled)]);
        }
    });
    figures.get().cloned().expect("the task has ended")
}

/// Polls each of them once.
async fn set<S: Future<Output = ()>>(timers: &mut [Pin<Box<S>>]) {
    poll_fn(|cx| {
        for timer in &mut *timers {
            assert!(timer.as_mut().poll(cx).is_pending());
        }
        Poll::Ready(())
    })
    .await;
}

fn limit<T: Timing>(runtime: &T) -> Vec<f64> {
    let start = Instant::now();
    on_worker(runtime, async {
        for _ in 0..LIMITS {
            T::limit_ready(HOUR).await;
        }
    });
    vec![start.elapsed().as_secs_f64() * 1e9 / f64::from(LIMITS)]
}

fn interval<T: Timing>(runtime: &T) -> Vec<f64> {
    let before = processor_time();
    on_worker(runtime, T::tick(PERIOD, 300));
    vec![(processor_time() - before).as_secs_f64() * 1e3]
}

/// Asks a process of its own, whose memory nothing has used before.
fn memory<T: Timing>(workers: usize) -> Vec<f64> {
    let this = std::env::current_exe().expect("this program has a path");
    let output = Command::new(this)
        .args(["--workers", &workers.to_string(), "--memory-of", T::NAME])
        .output()
        .expect("this program runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    vec![text.trim().parse().expect("it prints a number")]
}

fn print_memory<T: Timing>(workers: usize) {
    let runtime = T::new(workers);
    let spawner = runtime.spawner();
    runtime.block_on(async {
        let before = resident_bytes();
        for _ in 0..SLEEPS {
            spawner.spawn(async { T::sleep(HOUR).await });
        }
        // Until all of them sleep.
        T::sleep(Duration::from_secs(1)).await;
        println!("{}", (resident_bytes() - before) as f64 / SLEEPS as f64);
    });
    // The tasks need not be dropped one by one.
    std::process::exit(0);
}

fn main() {
    let args = Args::parse();
    let workers = args.workers.into();
    match args.memory_of.as_deref() {
        Some("raddle") => return print_memory::<Raddle>(workers),
        Some(_) => return print_memory::<Tokio>(workers),
        None => {}
    }
    let rounds = args.rounds.count();
    println!(
        "Medians of {rounds} rounds, {workers} workers; \"times\" is the median of the rounds' ratios of \
         Raddle's figure to Tokio's,\nwith its 10-90 % spread.\n\n{:<32} {:>10} {:>10} {:>8} {:>15}",
        "figure", "raddle", "tokio", "times", "10-90 %"
    );
    let contestants = [contestant::<Raddle>(workers), contestant::<Tokio>(workers)];
    for &workload in Workload::value_variants() {
        if args.only.is_none_or(|only| only == workload) {
            print!("{}", rows(workload, &contestants, rounds));
        }
    }
}

fn rows(workload: Workload, contestants: &[Contestant; 2], rounds: usize) -> String {
    let measured = in_turn(contestants.len(), rounds, |index| {
        (contestants[index].run)(workload)
    });
    debug_assert_eq!(contestants[0].name, "raddle");
    let mut rows = String::new();
    for (place, name) in workload.figures().iter().enumerate() {
        let [ours, theirs] = [0, 1].map(|index: usize| {
            let figures = measured[index].iter().map(|round| round[place]);
            figures.collect::<Vec<_>>()
        });
        let ratios = ratios(&ours, &theirs);
        rows += &format!(
            "{name:<32} {:>10.1} {:>10.1} {:>8.2} {:>15}\n",
            median(&ours),
            median(&theirs),
            median(&ratios),
            spread(&ratios),
        );
    }
    rows
}
