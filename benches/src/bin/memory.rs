//! Measures the memory that a runtime keeps for a task, a timer and a connection, each in a new
//! process.
#![forbid(unsafe_code)]

use std::future::{Future, pending};
use std::io::{Error, Result};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use raddle_benches::client::Until;
use raddle_benches::descriptors::allow;
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Spawn, Tokio, TokioThreadpool};
use raddle_benches::exit;
use raddle_benches::http_load::load;
use raddle_benches::record::Section;
use raddle_benches::servers::{Contestant, Launch, Serve, Service};
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::timing::{Timing, resident_bytes};

const TASKS: usize = 100_000;
const CONNECTIONS: usize = 1_000;
const HOUR: Duration = Duration::from_secs(3600);
/// A task that has not begun within this time never will.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(30);
const RESIDENT: Figure = Figure::less("resident", "bytes");

/// The number of tasks that have begun. A static, so that it takes no space in the tasks.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// The runtimes whose waiting tasks are measured, and those whose sleeping tasks are.
const WAITING: [&str; 4] = [
    Raddle::NAME,
    Tokio::NAME,
    TokioThreadpool::NAME,
    AsyncExecutor::NAME,
];
const SLEEPING: [&str; 2] = [Raddle::NAME, Tokio::NAME];

#[derive(Parser)]
#[command(
    about = "Measures the memory that each runtime keeps for a task, a timer and a connection"
)]
struct Args {
    /// The number of worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    #[command(flatten)]
    options: Options,

    #[command(flatten)]
    serve: Serve,

    /// Print the memory of a task of this kind in this process
    #[arg(long, hide = true, requires = "runtime")]
    of: Option<Kind>,

    #[arg(long, hide = true)]
    runtime: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Waiting,
    Sleeping,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let workers = args.workers.into();
    exit("memory", args.serve.or_measure(workers, || args.run()))
}

impl Args {
    fn run(&self) -> Result<()> {
        if let (Some(kind), Some(runtime)) = (self.of, &self.runtime) {
            println!("{}", self.here(kind, runtime)?);
            // The process exits, so the tasks need not be dropped one by one.
            std::process::exit(0);
        }
        let mut sheet = Sheet::new(Section::Memory, &self.options);
        let case = Case::new(format!("a task that waits, of {TASKS}"));
        sheet.measure(&case, &[RESIDENT], &WAITING, |index| {
            self.elsewhere("waiting", WAITING[index])
        })?;
        let case = Case::new(format!("a task that sleeps, of {TASKS}"));
        sheet.measure(&case, &[RESIDENT], &SLEEPING, |index| {
            self.elsewhere("sleeping", SLEEPING[index])
        })?;
        if let Err(error) = allow(CONNECTIONS) {
            sheet.note(format!("memory of a connection: {error}"));
            return sheet.finish();
        }
        let case = Case::new(format!("an idle connection of hyper, of {CONNECTIONS}"));
        let names = Contestant::ALL.map(Contestant::name);
        sheet.measure(&case, &[RESIDENT], &names, |index| {
            let contestant = Contestant::ALL[index];
            let measured = self.connection(contestant);
            measured.map_err(|error| contestant.in_error(error))
        })?;
        sheet.finish()
    }

    /// Measures in a new process.
    fn elsewhere(&self, kind: &str, runtime: &str) -> Result<[f64; 1]> {
        let output = Command::new(std::env::current_exe()?)
            .args(["--workers", &self.workers.to_string()])
            .args(["--of", kind, "--runtime", runtime])
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = text.trim().parse();
        let number = number.map_err(|_| {
            let errors = String::from_utf8_lossy(&output.stderr);
            Error::other(format!("{runtime}: {kind}: {text}{errors}"))
        })?;
        Ok([number])
    }

    fn here(&self, kind: Kind, runtime: &str) -> Result<f64> {
        let workers = self.workers.into();
        match (kind, runtime) {
            (Kind::Waiting, Raddle::NAME) => waiting::<Raddle>(workers),
            (Kind::Waiting, Tokio::NAME) => waiting::<Tokio>(workers),
            (Kind::Waiting, AsyncExecutor::NAME) => waiting::<AsyncExecutor>(workers),
            (Kind::Waiting, TokioThreadpool::NAME) => waiting::<TokioThreadpool>(workers),
            (Kind::Sleeping, Raddle::NAME) => sleeping::<Raddle>(workers),
            (Kind::Sleeping, Tokio::NAME) => sleeping::<Tokio>(workers),
            _ => Err(Error::other(format!("{runtime} has no task of this kind"))),
        }
    }

    /// Measures the memory that a server keeps for a connection over which one request was
    /// answered.
    fn connection(&self, contestant: Contestant) -> Result<[f64; 1]> {
        let launch = Launch {
            contestant,
            service: Service::Http,
            workers: self.workers.into(),
            core: None,
            is_nice: false,
        };
        let server = launch.start()?;
        // The first connection is answered before the measurement.
        let load = load(server.address(), CONNECTIONS)?;
        let before = server.resident()?;
        let (_, after) = load.run(server.address(), Until::Each(1), || server.resident())?;
        Ok([after.saturating_sub(before) as f64 / CONNECTIONS as f64])
    }
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
    let before = resident_bytes()?;
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
    Ok((resident_bytes()? - before) as f64 / TASKS as f64)
}
