//! Measures the memory that a runtime keeps for a task, a timer and a connection, each in a new
//! process.
#![forbid(unsafe_code)]

use std::future::{Future, pending};
use std::io::{Error, Result};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Spawn, Tokio, TokioThreadpool};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::servers::client::Until;
use raddle_benches::servers::http_load::load;
use raddle_benches::servers::process::allow;
use raddle_benches::servers::{Contestant, Placement, Serve, Service};
use raddle_benches::sheet::{Options, Sheet};
use raddle_benches::timing::{Timing, resident_of};

const TASKS: usize = 100_000;
const CONNECTIONS: usize = 1_000;
const HOUR: Duration = Duration::from_secs(3600);
/// A task that has not begun within this time never will.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(30);
const RESIDENT: Figure = Figure::less("resident", "bytes");

/// The number of tasks that have begun. A static, so that it takes no space in the tasks.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

type Measure = fn(usize) -> Result<f64>;

/// The runtimes whose waiting tasks are measured, then those whose sleeping tasks are.
const MEASURED: [(&str, Measure); 6] = [
    (Raddle::NAME, waiting::<Raddle>),
    (Tokio::NAME, waiting::<Tokio>),
    (TokioThreadpool::NAME, waiting::<TokioThreadpool>),
    (AsyncExecutor::NAME, waiting::<AsyncExecutor>),
    (Raddle::NAME, sleeping::<Raddle>),
    (Tokio::NAME, sleeping::<Tokio>),
];
const WAITING: usize = 4;

#[derive(Parser)]
#[command(
    about = "Measures the memory that each runtime keeps for a task, a timer and a connection"
)]
struct Args {
    #[command(flatten)]
    options: Options,

    #[command(flatten)]
    serve: Serve,

    /// Print the memory of a task in this process, by the place in the list
    #[arg(long, hide = true)]
    here: Option<usize>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    args.serve.or_measure(&args.options, || args.run())
}

impl Args {
    fn run(&self) -> Result<()> {
        let workers = self.options.workers(&[2])[0];
        if let Some(place) = self.here {
            println!("{}", MEASURED[place].1(workers)?);
            // The process exits, so the tasks need not be dropped one by one.
            std::process::exit(0);
        }
        let mut sheet = Sheet::new(Section::Memory, &self.options);
        for (title, first, last) in [
            ("a task that waits", 0, WAITING),
            ("a task that sleeps", WAITING, MEASURED.len()),
        ] {
            let case = Case::new(format!("{title}, of {TASKS}"));
            let names = MEASURED.map(|(name, _)| name);
            let names = &names[first..last];
            sheet.measure(&case, &[RESIDENT], names, |index| {
                elsewhere(workers, first + index)
            });
        }
        if let Err(error) = allow(CONNECTIONS) {
            sheet.note(format!("memory of a connection: {error}"));
            return sheet.finish();
        }
        let case = Case::new(format!("an idle connection of hyper, of {CONNECTIONS}"));
        sheet.measure(&case, &[RESIDENT], &Contestant::NAMES, |index| {
            connection(Contestant::ALL[index], workers)
        });
        sheet.finish()
    }
}

/// Measures the memory that a server keeps for a connection over which one request was answered.
fn connection(contestant: Contestant, workers: usize) -> Result<[f64; 1]> {
    let launch = Placement::default().launch(contestant, Service::Http, workers);
    let server = launch.start()?;
    // The first connection is answered before the measurement.
    let load = load(server.address, CONNECTIONS)?;
    let before = server.resident()?;
    let (_, after) = load.run(server.address, Until::Each(1), || server.resident())?;
    Ok([after.saturating_sub(before) as f64 / CONNECTIONS as f64])
}

/// Measures in a new process.
fn elsewhere(workers: usize, place: usize) -> Result<[f64; 1]> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--workers", &workers.to_string()])
        .args(["--here", &place.to_string()])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = || String::from_utf8_lossy(&output.stderr);
    let number = text.trim().parse().map_err(|_| Error::other(errors()))?;
    Ok([number])
}

fn waiting<E: Executor>(workers: usize) -> Result<f64> {
    of_each(E::new(workers), pending)
}

fn sleeping<T: Timing>(workers: usize) -> Result<f64> {
    of_each(T::new(workers), || T::sleep(HOUR))
}

/// Returns the bytes per task of many tasks that have begun to await the future of `body`.
fn of_each<E: Executor, F>(executor: E, body: fn() -> F) -> Result<f64>
where
    F: Future<Output = ()> + Send + 'static,
{
    let spawner = executor.spawner();
    let before = resident_of("self")?;
    // This thread is no worker, so it may block.
    executor.block_on(async {
        for _ in 0..TASKS {
            spawner.spawn(async move {
                // ORDERING: only counts.
                BEGUN.fetch_add(1, Ordering::Relaxed);
                body().await;
            });
        }
    });
    let start = Instant::now();
    // ORDERING: only counts.
    while BEGUN.load(Ordering::Relaxed) < TASKS {
        if start.elapsed() > BEGIN_TIMEOUT {
            return Err(Error::other(format!("{}: not all tasks began", E::NAME)));
        }
        thread::sleep(Duration::from_millis(10));
    }
    // Give the last tasks time to finish their poll.
    thread::sleep(Duration::from_millis(100));
    Ok((resident_of("self")? - before) as f64 / TASKS as f64)
}
