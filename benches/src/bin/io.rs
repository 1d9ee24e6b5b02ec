//! Measures servers on sockets of Raddle and of Tokio under the same load, in turn, round by round.
//! A comparison may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Duration;

use clap::{Parser, ValueEnum, value_parser};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::servers::client::{Load, Until};
use raddle_benches::servers::process::each;
use raddle_benches::servers::services::{on_raddle, on_tokio};
use raddle_benches::servers::strace;
use raddle_benches::servers::{Contestant, Launch, Placement, Serve, Service};
use raddle_benches::sheet::{Options, Sheet, in_micros};

const SMALL: usize = 64;
const LARGE: usize = 1 << 20;
/// The number of messages per millisecond for which a server would be loaded, where both ends are
/// on the runtime.
const BOTH: usize = 32;

#[derive(Parser)]
#[command(about = "Loads servers on sockets of Raddle and of Tokio in turn")]
struct Args {
    /// For how long a server is loaded in each round
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = value_parser!(u16).range(1..))]
    milliseconds: u16,

    /// Measure only loads of this kind
    #[arg(long, value_name = "NAME")]
    kind: Option<Kind>,

    #[command(flatten)]
    placement: Placement,

    #[command(flatten)]
    serve: Serve,

    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
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

/// A load: its title, the number of connections or sockets, and the number of bytes of a message.
struct Job(Kind, &'static str, usize, usize);

#[rustfmt::skip]
const JOBS: [Job; 14] = [
    Job(Kind::Small, "TCP, 1 connection, messages of 64 bytes sent back", 1, SMALL),
    Job(Kind::Small, "TCP, 64 connections, messages of 64 bytes sent back", 64, SMALL),
    Job(Kind::Large, "TCP, 1 connection, messages of 1 MiB sent back", 1, LARGE),
    Job(Kind::Large, "TCP, 8 connections, messages of 1 MiB sent back", 8, LARGE),
    Job(Kind::Datagrams, "UDP, 1 socket, datagrams of 64 bytes sent back", 1, SMALL),
    Job(Kind::Datagrams, "UDP, 64 sockets, datagrams of 64 bytes sent back", 64, SMALL),
    Job(Kind::Flood, "UDP, 1 socket, datagrams of 64 bytes received", 1, SMALL),
    Job(Kind::Both, "TCP, 1 connection, messages of 64 bytes sent back, both ends on the runtime", 1, SMALL),
    Job(Kind::Both, "TCP, 64 connections, messages of 64 bytes sent back, both ends on the runtime", 64, SMALL),
    Job(Kind::Payload, "TCP, 1 connection, messages sent back", 1, 16),
    Job(Kind::Payload, "TCP, 1 connection, messages sent back", 1, 256),
    Job(Kind::Payload, "TCP, 1 connection, messages sent back", 1, 4 * 1024),
    Job(Kind::Payload, "TCP, 1 connection, messages sent back", 1, 64 * 1024),
    Job(Kind::Payload, "TCP, 1 connection, messages sent back", 1, LARGE),
];

const FIGURES: &[Figure] = &[
    Figure::more("messages", "/s"),
    Figure::less("server CPU a message", "us"),
    Figure::less("server waits a message", "times"),
];

/// A large message has 1 MiB.
const LARGE_FIGURES: &[Figure] = &[
    Figure::more("each way", "MiB/s"),
    Figure::less("server CPU a MiB", "us"),
    Figure::less("server waits a MiB", "times"),
];

const BOTH_FIGURES: &[Figure] = &[
    Figure::more("messages", "/s"),
    Figure::less("CPU of both ends a message", "us"),
];

fn main() -> Result<()> {
    let args = Args::parse();
    args.serve.or_measure(&args.options, || args.run())
}

impl Args {
    fn run(&self) -> Result<()> {
        let mut sheet = Sheet::new(Section::Sockets, &self.options);
        if let Err(error) = self.placement.prepare() {
            sheet.note(format!("sockets: not measured, {error}"));
            return sheet.finish();
        }
        for workers in self.placement.workers(&self.options) {
            for job in &JOBS {
                let is_measured = match job.0 {
                    Kind::Both => !self.placement.syscalls,
                    // The curve is measured only once.
                    Kind::Payload if !self.placement.syscalls => {
                        !self.placement.pinned || self.kind.is_some()
                    }
                    Kind::Payload => false,
                    _ => true,
                };
                if is_measured && self.kind.is_none_or(|kind| kind == job.0) {
                    self.compare(&mut sheet, job, workers);
                }
            }
        }
        sheet.finish()
    }

    fn compare(&self, sheet: &mut Sheet, job: &Job, workers: usize) {
        let &Job(kind, title, peers, length) = job;
        let (service, load) = match kind {
            Kind::Datagrams => (Service::Datagrams, Load::Datagrams(peers, length)),
            Kind::Flood => (Service::Count, Load::Flood(length)),
            _ => (Service::Echo, Load::Stream(peers, vec![7; length], length)),
        };
        let (what, figures) = match kind {
            _ if self.placement.syscalls => ("system calls, ", strace::FIGURES),
            Kind::Large => ("", LARGE_FIGURES),
            Kind::Both => ("", BOTH_FIGURES),
            _ => ("", FIGURES),
        };
        let title = format!("{title}, {what}{}", self.placement.title(workers));
        let case = match kind {
            Kind::Payload => Case::with(title, "bytes", length),
            _ => Case::new(title),
        };
        // While system calls are counted, all peers together send this number of messages.
        let counted = if kind == Kind::Large { 200 } else { 10_000 };
        sheet.measure(&case, figures, &Contestant::NAMES[..2], |index| {
            let launch = self
                .placement
                .launch(Contestant::ALL[index], service, workers);
            match kind {
                _ if self.placement.syscalls => {
                    strace::per_message(launch, &load, counted / peers as u64).map(Vec::from)
                }
                Kind::Both => self.both(launch, peers),
                _ => self.measure(launch, &load),
            }
        });
    }

    /// Measures a server that is started in each round, so that the layout of its memory differs
    /// between rounds.
    fn measure(&self, launch: Launch, load: &Load) -> Result<Vec<f64>> {
        let server = launch.start()?;
        let before = server.usage()?;
        let until = Until::Elapsed(Duration::from_millis(self.milliseconds.into()));
        let (done, after) = load.run(server.address, until, || server.usage())?;
        let messages = done.messages as f64;
        let [micros, waits, _] = each(before, after, messages);
        Ok(vec![messages / done.elapsed.as_secs_f64(), micros, waits])
    }

    fn both(&self, launch: Launch, connections: usize) -> Result<Vec<f64>> {
        let both = match launch.contestant {
            Contestant::Raddle => on_raddle::both_ends,
            _ => on_tokio::both_ends,
        };
        let each = (BOTH * usize::from(self.milliseconds)).div_ceil(connections);
        let (elapsed, spent) = both(launch.workers, connections, SMALL, each)?;
        let messages = (each * connections) as f64;
        let rate = messages / elapsed.as_secs_f64();
        Ok(vec![rate, in_micros(spent) / messages])
    }
}
