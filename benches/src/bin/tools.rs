//! Measures what the tools of a runtime cost: without them, with them compiled in but not switched
//! on, and with each of them. "What the tools cost" in `docs/operating.md` has the results.
//!
//! Each of these is a child process, since some tools of one runtime slow down the others of the
//! process. It measures when it gets a line. The one without tools is another build of the program.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Error, Result, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use clap::{Parser, ValueEnum};
use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::runtime::{Builder, Runtime};
use raddle::sync::Mutex;
use raddle_benches::executors::{RaddleSpawner, Spawn as _};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet, in_micros};
use raddle_benches::timing::processor_time;
use raddle_benches::workloads::yield_many;

/// The number of tasks that are spawned before the first is joined.
const SPAWNED: usize = 10_000;
const YIELDING: usize = 200;
const YIELDS: usize = 500;
const LOCKS: usize = 100_000;
const ROUND_TRIPS: usize = 1_000;
/// The number of times that each workload runs in a round.
const PASSES: usize = 10;

#[derive(Parser)]
#[command(about = "Measures what the tools of a runtime cost")]
struct Args {
    /// Also measure this build of the program, which has no tools: cargo build --release -p
    /// raddle-benches --bin tools --target-dir target/no-tools
    #[arg(long, value_name = "PROGRAM")]
    without: Option<PathBuf>,

    /// Only run one workload with this tool, to count its instructions
    #[arg(long, value_name = "TOOL", requires = "workload")]
    once: Option<Tool>,

    /// The workload of --once
    #[arg(long)]
    workload: Option<Workload>,

    /// Measure one workload with this tool for each line of the standard input
    #[arg(long, hide = true)]
    serve: Option<Tool>,

    #[command(flatten)]
    options: Options,
}

/// The tool of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Tool {
    /// None is switched on.
    Off,
    #[cfg(feature = "tools")]
    Watchdog,
    #[cfg(feature = "tools")]
    Metrics,
    #[cfg(feature = "tools")]
    Recorder,
    /// A recorder that is stopped.
    #[cfg(feature = "tools")]
    StoppedRecorder,
    #[cfg(feature = "tools")]
    Dumps,
    /// The live page, with the dumps and the watchdog that it needs.
    #[cfg(feature = "tools")]
    Page,
    /// Watchdog, metrics and recorder.
    #[cfg(feature = "tools")]
    LeftOn,
}

impl Tool {
    fn start(self) -> Runtime {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).enable_all();
        self.add_to(&mut builder);
        let runtime = builder.build().expect("the runtime starts");
        #[cfg(feature = "tools")]
        if self == Self::StoppedRecorder {
            let recorder = runtime.handle().flight_recorder();
            recorder.expect("the runtime has one").stop();
        }
        runtime
    }

    #[cfg(not(feature = "tools"))]
    fn add_to(self, _: &mut Builder) {}

    #[cfg(feature = "tools")]
    fn add_to(self, builder: &mut Builder) {
        use raddle::runtime::flight_recorder::RecorderOptions;
        use raddle::runtime::watchdog;
        use std::time::Duration;

        let is_left_on = self == Self::LeftOn;
        if is_left_on || self == Self::Watchdog {
            builder.watchdog(Duration::from_millis(100), watchdog::warn());
        }
        if is_left_on || self == Self::Metrics {
            builder.serve_metrics("127.0.0.1:0");
        }
        if is_left_on || matches!(self, Self::Recorder | Self::StoppedRecorder) {
            builder.flight_recorder(RecorderOptions::default());
        }
        match self {
            Self::Dumps => drop(builder.enable_task_dumps()),
            Self::Page => drop(builder.console("127.0.0.1:0")),
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Workload {
    Yield,
    SpawnAndJoin,
    Lock,
    RoundTrip,
}

const WORKLOADS: [(&str, Workload); 4] = [
    ("a yield, 200 tasks", Workload::Yield),
    ("spawn and join, 10,000 at a time", Workload::SpawnAndJoin),
    ("lock and unlock a free Mutex", Workload::Lock),
    ("a round trip over TCP, both ends", Workload::RoundTrip),
];

impl Workload {
    /// Runs the workload, and returns how many of its operations it has run.
    fn run(self, runtime: &Runtime) -> usize {
        for _ in 0..PASSES {
            match self {
                Self::Yield => runtime.block_on(yield_many(RaddleSpawner, YIELDING, YIELDS)),
                Self::SpawnAndJoin => on_worker(runtime, spawn_and_join()),
                Self::Lock => on_worker(runtime, lock()),
                Self::RoundTrip => on_worker(runtime, round_trips()),
            }
        }
        PASSES
            * match self {
                Self::Yield => YIELDING * YIELDS,
                Self::SpawnAndJoin => SPAWNED,
                Self::Lock => LOCKS,
                Self::RoundTrip => ROUND_TRIPS,
            }
    }

    /// Returns the processor time of an operation in nanoseconds.
    fn measure(self, runtime: &Runtime) -> f64 {
        let before = processor_time();
        let count = self.run(runtime);
        in_micros(processor_time() - before) * 1e3 / count as f64
    }
}

fn on_worker(runtime: &Runtime, future: impl Future<Output = ()> + Send + 'static) {
    let task = runtime.spawn(future);
    runtime.block_on(task).expect("the task ends");
}

async fn spawn_and_join() {
    let tasks: Vec<_> = (0..SPAWNED)
        .map(|_| RaddleSpawner.spawn_joined(async {}))
        .collect();
    for task in tasks {
        task.await;
    }
}

async fn lock() {
    let count = Mutex::new(0);
    for _ in 0..LOCKS {
        *count.lock().await += 1;
    }
}

async fn round_trips() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let server = raddle::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        echo(stream, false).await;
    });
    let client = TcpStream::connect(address).await.expect("a connection");
    echo(client, true).await;
    server.await.expect("the server ends");
}

async fn echo(mut stream: TcpStream, is_client: bool) {
    let mut message = [0; 64];
    for _ in 0..ROUND_TRIPS {
        if is_client {
            stream.write_all(&message).await.expect("it is open");
        }
        stream.read_exact(&mut message).await.expect("it is open");
        if !is_client {
            stream.write_all(&message).await.expect("it is open");
        }
    }
}

/// A child process with one runtime.
struct Contestant {
    child: Child,
    requests: ChildStdin,
    results: BufReader<ChildStdout>,
}

impl Contestant {
    fn start(program: &Path, tool: Tool) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["--serve", &value_name(&tool)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || Error::other("the child has no pipe");
        Ok(Self {
            requests: child.stdin.take().ok_or_else(missing)?,
            results: BufReader::new(child.stdout.take().ok_or_else(missing)?),
            child,
        })
    }

    fn measure(&mut self, workload: Workload) -> Result<f64> {
        writeln!(self.requests, "{}", value_name(&workload))?;
        let mut line = String::new();
        self.results.read_line(&mut line)?;
        line.trim().parse().map_err(Error::other)
    }
}

impl Drop for Contestant {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn value_name(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value().expect("no value is skipped");
    value.get_name().to_owned()
}

/// Measures the workload of each line of the standard input.
fn serve(tool: Tool) -> Result<()> {
    let runtime = tool.start();
    for line in std::io::stdin().lines() {
        let workload = Workload::from_str(&line?, false).map_err(Error::other)?;
        println!("{}", workload.measure(&runtime));
    }
    Ok(())
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(tool) = args.serve {
        return serve(tool);
    }
    if let (Some(tool), Some(workload)) = (args.once, args.workload) {
        println!("{} times", workload.run(&tool.start()));
        return Ok(());
    }
    let own = std::env::current_exe()?;
    let (mut names, mut contestants) = (Vec::new(), Vec::new());
    for tool in Tool::value_variants() {
        names.push(value_name(tool).replace('-', " "));
        contestants.push(Contestant::start(&own, *tool)?);
    }
    if let Some(program) = &args.without {
        names.push("not compiled in".to_owned());
        contestants.push(Contestant::start(program, Tool::Off)?);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut sheet = Sheet::new(Section::Scheduler, &args.options);
    for (title, workload) in WORKLOADS {
        let figures = [Figure::less("CPU time", "ns")];
        sheet.measure(&Case::new(title), &figures, &names, |index| {
            Ok([contestants[index].measure(workload)?])
        });
    }
    sheet.finish()
}
