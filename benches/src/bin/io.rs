//! Servers on sockets of Raddle and of Tokio, under the same load in turn, round
//! by round: the figures that a comparison may quote.
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
/// How many messages are sent for each millisecond that a server would be loaded,
/// where both ends are on the runtime.
const BOTH: usize = 32;

#[derive(Parser)]
#[command(about = "Loads servers on sockets of Raddle and of Tokio in turn")]
struct Args {
    /// Only these loads
    #[arg(long, value_name = "NAME")]
    only: Option<Kind>,

    /// How long a server is loaded in each round
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

/// A load with so many connections or sockets.
struct Job {
    kind: Kind,
    peers: usize,
    length: usize,
}

const JOBS: [Job; 14] = [
    job(Kind::Small, 1),
    job(Kind::Small, 64),
    job(Kind::Large, 1),
    job(Kind::Large, 8),
    job(Kind::Datagrams, 1),
    job(Kind::Datagrams, 64),
    job(Kind::Flood, 1),
    job(Kind::Both, 1),
    job(Kind::Both, 64),
    payload(16),
    payload(256),
    payload(4 * 1024),
    payload(64 * 1024),
    payload(LARGE),
];

const fn job(kind: Kind, peers: usize) -> Job {
    let length = match kind {
        Kind::Large => LARGE,
        _ => SMALL,
    };
    Job {
        kind,
        peers,
        length,
    }
}

const fn payload(length: usize) -> Job {
    Job {
        kind: Kind::Payload,
        peers: 1,
        length,
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    exit(
        "io",
        args.serve
            .or_measure(args.placement.workers(), || args.run()),
    )
}

impl Job {
    fn title(&self) -> String {
        let over = |peers: &str| match self.peers {
            1 => format!("1 {peers}"),
            count => format!("{count} {peers}s"),
        };
        let tcp = format!("TCP, {}", over("connection"));
        let udp = format!("UDP, {}", over("socket"));
        match self.kind {
            Kind::Small => format!("{tcp}, messages of {SMALL} bytes sent back"),
            Kind::Large => format!("{tcp}, messages of 1 MiB sent back"),
            Kind::Datagrams => format!("{udp}, datagrams of {SMALL} bytes sent back"),
            Kind::Flood => format!("{udp}, datagrams of {SMALL} bytes received"),
            Kind::Payload => format!("{tcp}, messages sent back"),
            Kind::Both => {
                format!("{tcp}, messages of {SMALL} bytes sent back, both ends on the runtime")
            }
        }
    }

    fn figures(&self) -> Vec<Figure> {
        match self.kind {
            // A message has a MiB.
            Kind::Large => vec![
                Figure::more("each way", "MiB/s"),
                Figure::less("server CPU a MiB", "us"),
                Figure::less("server waits a MiB", "times"),
            ],
            Kind::Both => vec![
                Figure::more("messages", "/s"),
                Figure::less("CPU of both ends a message", "us"),
            ],
            _ => vec![
                Figure::more("messages", "/s"),
                Figure::less("server CPU a message", "us"),
                Figure::less("server waits a message", "times"),
            ],
        }
    }

    fn service(&self) -> Service {
        match self.kind {
            Kind::Small | Kind::Large | Kind::Both | Kind::Payload => Service::Echo,
            Kind::Datagrams => Service::Datagrams,
            Kind::Flood => Service::Count,
        }
    }

    fn load(&self) -> Load {
        match self.kind {
            Kind::Small | Kind::Large | Kind::Both | Kind::Payload => Load::Stream {
                connections: self.peers,
                request: vec![7; self.length],
                answer: self.length,
            },
            Kind::Datagrams => Load::Datagrams {
                sockets: self.peers,
                length: SMALL,
            },
            Kind::Flood => Load::Flood { length: SMALL },
        }
    }

    /// How many messages each peer sends while system calls are counted.
    fn counted(&self) -> u64 {
        let all = match self.kind {
            Kind::Large => 200,
            _ => 10_000,
        };
        all / self.peers as u64
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
            let measured = match job.kind {
                Kind::Both => !self.placement.syscalls,
                // The curve is drawn once.
                Kind::Payload => {
                    !self.placement.syscalls && (!self.placement.is_pinned() || self.only.is_some())
                }
                _ => true,
            };
            if self.only.is_none_or(|only| only == job.kind) && measured {
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
        let load = job.load();
        let title = format!("{}, {}", job.title(), self.place());
        let case = match job.kind {
            Kind::Payload => Case::with(title, "bytes", job.length),
            _ => Case::new(title),
        };
        let figures = match self.placement.syscalls {
            true => strace::FIGURES.to_vec(),
            false => job.figures(),
        };
        sheet.attempt(
            &case,
            &figures,
            &CONTESTANTS.map(Contestant::name),
            |index| {
                let contestant = CONTESTANTS[index];
                let figures = match job.kind {
                    _ if self.placement.syscalls => {
                        let launch = self.placement.launch(contestant, job.service());
                        strace::per_message(launch, &load, job.counted()).map(Vec::from)
                    }
                    Kind::Both => self.both(contestant, job.peers),
                    _ => self.measure(self.placement.launch(contestant, job.service()), &load),
                };
                figures.map_err(|error| contestant.in_error(error))
            },
        );
    }

    /// One turn of a server that is new in each round, so that where its memory
    /// happens to lie is one accident among many.
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
