//! Measures servers on sockets of Raddle and of Tokio under the same load, in turn, round by round.
//! A comparison may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use raddle_benches::both::both_ends;
use raddle_benches::client::{Load, Until};
use raddle_benches::executors::{Raddle, Tokio};
use raddle_benches::exit;
use raddle_benches::record::Section;
use raddle_benches::servers::{Contestant, Launch, Placement, Serve, Service};
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::strace;

const CONTESTANTS: [Contestant; 2] = [Contestant::Raddle, Contestant::Tokio];
const SMALL: usize = 64;
const LARGE: usize = 1 << 20;
/// The number of messages per millisecond for which a server would be loaded, where both ends are
/// on the runtime.
const BOTH: usize = 32;

#[derive(Parser)]
#[command(about = "Loads servers on sockets of Raddle and of Tokio in turn")]
struct Args {
    /// Measure only these loads
    #[arg(long, value_name = "NAME")]
    only: Option<Kind>,

    /// For how long a server is loaded in each round
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    milliseconds: u16,

    #[command(flatten)]
    placement: Placement,

    #[command(flatten)]
    serve: Serve,

    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Messages of 64 bytes over TCP, sent back
    Small,
    /// Messages of 1 MiB over TCP, sent back
    Large,
    /// Datagrams of 64 bytes, sent back
    Datagrams,
    /// Datagrams of 64 bytes, counted
    Flood,
    /// Messages of 64 bytes over TCP, with both ends on the runtime
    Both,
    /// Messages of 16 bytes to 1 MiB over TCP, sent back
    Payload,
}

/// A load with a number of connections or sockets, and messages of a number of bytes.
struct Job(Kind, usize, usize);

const JOBS: [Job; 14] = [
    Job(Kind::Small, 1, SMALL),
    Job(Kind::Small, 64, SMALL),
    Job(Kind::Large, 1, LARGE),
    Job(Kind::Large, 8, LARGE),
    Job(Kind::Datagrams, 1, SMALL),
    Job(Kind::Datagrams, 64, SMALL),
    Job(Kind::Flood, 1, SMALL),
    Job(Kind::Both, 1, SMALL),
    Job(Kind::Both, 64, SMALL),
    Job(Kind::Payload, 1, 16),
    Job(Kind::Payload, 1, 256),
    Job(Kind::Payload, 1, 4 * 1024),
    Job(Kind::Payload, 1, 64 * 1024),
    Job(Kind::Payload, 1, LARGE),
];

const FIGURES: [Figure; 3] = [
    Figure::more("messages", "/s"),
    Figure::less("server CPU a message", "us"),
    Figure::less("server waits a message", "times"),
];

/// A large message has 1 MiB.
const LARGE_FIGURES: [Figure; 3] = [
    Figure::more("each way", "MiB/s"),
    Figure::less("server CPU a MiB", "us"),
    Figure::less("server waits a MiB", "times"),
];

const BOTH_FIGURES: [Figure; 2] = [
    Figure::more("messages", "/s"),
    Figure::less("CPU of both ends a message", "us"),
];

fn main() -> ExitCode {
    let args = Args::parse();
    let workers = args.placement.workers();
    exit("io", args.serve.or_measure(workers, || args.run()))
}

impl Job {
    fn title(&self) -> String {
        let Self(kind, peers, _) = self;
        let (over, message) = match kind {
            Kind::Small => ("TCP, # connection", "messages of 64 bytes sent back"),
            Kind::Large => ("TCP, # connection", "messages of 1 MiB sent back"),
            Kind::Payload => ("TCP, # connection", "messages sent back"),
            Kind::Both => (
                "TCP, # connection",
                "messages of 64 bytes sent back, both ends on the runtime",
            ),
            Kind::Datagrams => ("UDP, # socket", "datagrams of 64 bytes sent back"),
            Kind::Flood => ("UDP, # socket", "datagrams of 64 bytes received"),
        };
        let over = over.replace('#', &peers.to_string());
        let plural = if *peers == 1 { "" } else { "s" };
        format!("{over}{plural}, {message}")
    }

    fn figures(&self) -> &'static [Figure] {
        match self.0 {
            Kind::Large => &LARGE_FIGURES,
            Kind::Both => &BOTH_FIGURES,
            _ => &FIGURES,
        }
    }

    /// Returns the service of the server, and its load.
    fn load(&self) -> (Service, Load) {
        let &Self(kind, sockets, length) = self;
        let stream = || Load::Stream {
            connections: sockets,
            request: vec![7; length],
            answer: length,
        };
        match kind {
            Kind::Datagrams => (Service::Datagrams, Load::Datagrams { sockets, length }),
            Kind::Flood => (Service::Count, Load::Flood { length }),
            _ => (Service::Echo, stream()),
        }
    }
}

impl Args {
    fn run(&self) -> Result<()> {
        let mut sheet = Sheet::new(Section::Sockets, &self.options);
        if let Err(error) = self.placement.prepare() {
            sheet.note(format!("sockets, {}: not measured, {error}", self.place()));
            return sheet.finish();
        }
        for job in &JOBS {
            let measured = match job.0 {
                Kind::Both => !self.placement.syscalls,
                // The curve is measured only once.
                Kind::Payload => {
                    !self.placement.syscalls && (!self.placement.is_pinned() || self.only.is_some())
                }
                _ => true,
            };
            if self.only.is_none_or(|only| only == job.0) && measured {
                self.compare(&mut sheet, job);
            }
        }
        sheet.finish()
    }

    fn place(&self) -> String {
        match self.placement.syscalls {
            true => format!("system calls, {}", self.placement),
            false => self.placement.to_string(),
        }
    }

    fn compare(&self, sheet: &mut Sheet, job: &Job) {
        let (service, load) = job.load();
        let title = format!("{}, {}", job.title(), self.place());
        let case = match job.0 {
            Kind::Payload => Case::with(title, "bytes", job.2),
            _ => Case::new(title),
        };
        let figures = match self.placement.syscalls {
            true => &strace::FIGURES,
            false => job.figures(),
        };
        // While system calls are counted, all peers together send this number of messages.
        let counted = if job.0 == Kind::Large { 200 } else { 10_000 };
        let names = CONTESTANTS.map(Contestant::name);
        sheet.attempt(&case, figures, &names, |index| {
            let contestant = CONTESTANTS[index];
            let launch = self.placement.launch(contestant, service);
            let measured = match job.0 {
                _ if self.placement.syscalls => {
                    strace::per_message(launch, &load, counted / job.1 as u64).map(Vec::from)
                }
                Kind::Both => self.both(contestant, job.1),
                _ => self.measure(launch, &load),
            };
            measured.map_err(|error| contestant.in_error(error))
        });
    }

    /// Measures a server that is started in each round, so that the layout of its memory differs
    /// between rounds.
    fn measure(&self, launch: Launch, load: &Load) -> Result<Vec<f64>> {
        let server = launch.start()?;
        let before = server.usage()?;
        let until = Until::Elapsed(Duration::from_millis(self.milliseconds.into()));
        let (done, after) = load.run(server.address(), until, || server.usage())?;
        let used = after.since(before);
        let messages = done.messages as f64;
        Ok(vec![
            messages / done.elapsed.as_secs_f64(),
            used.processor.as_secs_f64() * 1e6 / messages,
            used.waits as f64 / messages,
        ])
    }

    fn both(&self, contestant: Contestant, connections: usize) -> Result<Vec<f64>> {
        let both = match contestant {
            Contestant::Raddle => both_ends::<Raddle>,
            _ => both_ends::<Tokio>,
        };
        let each = (BOTH * usize::from(self.milliseconds)).div_ceil(connections);
        let took = both(self.placement.workers(), connections, SMALL, each)?;
        let messages = (each * connections) as f64;
        Ok(vec![
            messages / took.elapsed.as_secs_f64(),
            took.processor.as_secs_f64() * 1e6 / messages,
        ])
    }
}
