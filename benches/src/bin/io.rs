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
use raddle_benches::rounds::{Rounds, try_in_turn};
use raddle_benches::servers::{Contestant, Launch, Serve, Service, check, stay_on};
use raddle_benches::{strace, table};

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

    /// How many worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// The server, with one worker, on core 0 and its client on core 1
    #[arg(long, conflicts_with = "workers")]
    pinned: bool,

    /// Only the system calls for each message, under strace
    #[arg(long)]
    syscalls: bool,

    #[command(flatten)]
    rounds: Rounds,

    #[command(flatten)]
    serve: Serve,
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
}

/// A load with so many connections or sockets.
struct Case {
    kind: Kind,
    peers: usize,
}

const CASES: [Case; 9] = [
    case(Kind::Small, 1),
    case(Kind::Small, 64),
    case(Kind::Large, 1),
    case(Kind::Large, 8),
    case(Kind::Datagrams, 1),
    case(Kind::Datagrams, 64),
    case(Kind::Flood, 1),
    case(Kind::Both, 1),
    case(Kind::Both, 64),
];

const fn case(kind: Kind, peers: usize) -> Case {
    Case { kind, peers }
}

fn main() -> ExitCode {
    let args = Args::parse();
    match args.serve.or_measure(args.workers.into(), || args.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("io: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Case {
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
            Kind::Both => {
                format!("{tcp}, messages of {SMALL} bytes sent back, both ends on the runtime")
            }
        }
    }

    fn figures(&self) -> &'static [&'static str] {
        match self.kind {
            // A message has a MiB.
            Kind::Large => &[
                "MiB/s, each way",
                "server CPU, us a MiB",
                "waits of the server a MiB",
            ],
            Kind::Both => &["messages/s", "CPU of both ends, us a message"],
            _ => &[
                "messages/s",
                "server CPU, us a message",
                "waits of the server a message",
            ],
        }
    }

    fn service(&self) -> Service {
        match self.kind {
            Kind::Small | Kind::Large | Kind::Both => Service::Echo,
            Kind::Datagrams => Service::Datagrams,
            Kind::Flood => Service::Count,
        }
    }

    fn load(&self) -> Load {
        let stream = |length| Load::Stream {
            connections: self.peers,
            request: vec![7; length],
            answer: length,
        };
        match self.kind {
            Kind::Small | Kind::Both => stream(SMALL),
            Kind::Large => stream(LARGE),
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
        let rounds = self.rounds.count();
        let place = match self.pinned {
            true => "1 worker on core 0, the client on core 1".to_owned(),
            false => format!("{} workers, nothing pinned", self.workers),
        };
        let what = match self.syscalls {
            true => "under strace".to_owned(),
            false => format!("of {} ms", self.milliseconds),
        };
        if self.syscalls {
            check("strace")?;
        }
        if self.pinned {
            stay_on(1)?;
        }
        println!(
            "Medians of {rounds} rounds {what}, {place}. Under a name with a slash is the median of the \
             rounds' ratios,\nwith its 10-90 % spread."
        );
        for case in &CASES {
            let traced = case.kind != Kind::Both;
            if self.only.is_none_or(|only| only == case.kind) && (traced || !self.syscalls) {
                println!("\n{}", case.title());
                print!("{}", table::header(&CONTESTANTS.map(Contestant::name)));
                print!("{}", self.rows(case, rounds)?);
            }
        }
        Ok(())
    }

    fn rows(&self, case: &Case, rounds: usize) -> Result<String> {
        let load = case.load();
        if self.syscalls {
            let measured = try_in_turn(CONTESTANTS.len(), rounds, |index| {
                let contestant = CONTESTANTS[index];
                strace::per_message(self.launch(contestant, case), &load, case.counted())
                    .map_err(|error| contestant.in_error(error))
            })?;
            return Ok(table::rows(&strace::FIGURES, &measured));
        }
        let measured = try_in_turn(CONTESTANTS.len(), rounds, |index| {
            let contestant = CONTESTANTS[index];
            let figures = match case.kind {
                Kind::Both => self.both(contestant, case.peers),
                _ => self.measure(self.launch(contestant, case), &load),
            };
            figures.map_err(|error| contestant.in_error(error))
        })?;
        Ok(table::rows(case.figures(), &measured))
    }

    fn workers(&self) -> usize {
        if self.pinned { 1 } else { self.workers.into() }
    }

    fn launch(&self, contestant: Contestant, case: &Case) -> Launch {
        Launch {
            contestant,
            service: case.service(),
            workers: self.workers(),
            core: self.pinned.then_some(0),
        }
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
        let took = both(self.workers(), connections, SMALL, each)?;
        let messages = (each * connections) as f64;
        Ok(vec![
            messages / took.elapsed.as_secs_f64(),
            took.processor.as_secs_f64() * 1e6 / messages,
        ])
    }
}
