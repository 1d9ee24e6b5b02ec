//! A small answer over HTTP from hyper on Raddle and on Tokio, and from a loop
//! that knows no other, in turn, round by round: the figures that a comparison
//! may quote.
#![forbid(unsafe_code)]

use std::io::{Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use raddle_benches::client::Load;
use raddle_benches::rounds::{Rounds, try_in_turn};
use raddle_benches::servers::{Contestant, HELLO, Launch, Serve, Service, check, stay_on};
use raddle_benches::{strace, table, wrk};

const CONTESTANTS: [Contestant; 3] = [Contestant::Raddle, Contestant::Tokio, Contestant::Mio];
const FIGURES: [&str; 4] = [
    "requests/s",
    "server CPU, us a request",
    "p99, ms",
    "waits of the server a request",
];
const REQUEST: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
/// How many requests are made, over all connections, while system calls are
/// counted.
const COUNTED: usize = 10_000;

#[derive(Parser)]
#[command(about = "Loads hyper on Raddle, hyper on Tokio and a hand-written loop with wrk in turn")]
struct Args {
    /// How many connections wrk keeps open; a comma joins several
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "50,1000"
    )]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    connections: Vec<u16>,

    /// How long wrk loads a server in each round
    #[arg(long, value_name = "S", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    seconds: u16,

    /// How many worker threads a runtime has; the hand-written loop has one thread
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// The server, with one worker, on core 0 and its client on core 1
    #[arg(long, conflicts_with = "workers")]
    pinned: bool,

    /// Only the system calls for each request, under strace
    #[arg(long)]
    syscalls: bool,

    #[command(flatten)]
    rounds: Rounds,

    #[command(flatten)]
    serve: Serve,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match args.serve.or_measure(args.workers.into(), || args.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("http: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Args {
    fn run(&self) -> Result<()> {
        check(if self.syscalls { "strace" } else { "wrk" })?;
        if self.syscalls && self.pinned {
            stay_on(1)?;
        }
        let rounds = self.rounds.count();
        let place = match self.pinned {
            true => "1 worker on core 0, the client on core 1".to_owned(),
            false => format!("{} workers, nothing pinned", self.workers),
        };
        let what = match self.syscalls {
            true => format!("{COUNTED} requests under strace"),
            false => format!("{} s", self.seconds),
        };
        println!(
            "Medians of {rounds} rounds of {what}, {place}. Under a name with a slash is the median of the rounds' \
             ratios,\nwith its 10-90 % spread."
        );
        for &connections in &self.connections {
            println!("\n{connections} connections");
            print!("{}", table::header(&CONTESTANTS.map(Contestant::name)));
            print!("{}", self.rows(connections.into(), rounds)?);
        }
        Ok(())
    }

    fn rows(&self, connections: usize, rounds: usize) -> Result<String> {
        if self.syscalls {
            let measured = try_in_turn(CONTESTANTS.len(), rounds, |index| {
                let contestant = CONTESTANTS[index];
                self.count(contestant, connections)
                    .map_err(|error| contestant.in_error(error))
            })?;
            return Ok(table::rows(&strace::FIGURES, &measured));
        }
        let measured = try_in_turn(CONTESTANTS.len(), rounds, |index| {
            let contestant = CONTESTANTS[index];
            self.measure(contestant, connections)
                .map_err(|error| contestant.in_error(error))
        })?;
        Ok(table::rows(&FIGURES, &measured))
    }

    fn launch(&self, contestant: Contestant) -> Launch {
        Launch {
            contestant,
            service: Service::Http,
            workers: if self.pinned { 1 } else { self.workers.into() },
            core: self.pinned.then_some(0),
        }
    }

    /// One turn of a server that is new in each round, so that where its memory
    /// happens to lie is one accident among many.
    fn measure(&self, contestant: Contestant, connections: usize) -> Result<[f64; FIGURES.len()]> {
        let server = self.launch(contestant).start()?;
        let before = server.usage()?;
        let duration = Duration::from_secs(self.seconds.into());
        let core = self.pinned.then_some(1);
        let report = wrk::run(server.address(), connections, duration, core)?;
        let used = server.usage()?.since(before);
        let requests = report.requests as f64;
        Ok([
            report.rate,
            used.processor.as_secs_f64() * 1e6 / requests,
            report.p99.as_secs_f64() * 1e3,
            used.waits as f64 / requests,
        ])
    }

    fn count(&self, contestant: Contestant, connections: usize) -> Result<strace::Calls> {
        let launch = self.launch(contestant);
        let load = Load::Stream {
            connections,
            request: REQUEST.into(),
            answer: answer(launch.start()?.address())?,
        };
        strace::per_message(launch, &load, COUNTED.div_ceil(connections) as u64)
    }
}

/// How long the answer is.
fn answer(address: SocketAddr) -> Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(REQUEST.as_bytes())?;
    let mut text = Vec::new();
    while !text.ends_with(HELLO.as_bytes()) {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        text.extend(byte);
    }
    Ok(text.len())
}
