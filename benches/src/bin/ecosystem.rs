//! Measures axum and tonic under `wrk` and `h2load`, and clients of databases, on the stand-in and
//! on Tokio, in turn, round by round.
#![forbid(unsafe_code)]

use std::io::{Error, Result};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use clap::Parser;
use raddle_benches::exit;
use raddle_benches::record::Section;
use raddle_benches::servers::{Contestant, Process, check, on_core};
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::{h2load, wrk};

const CONTESTANTS: [Contestant; 2] = [Contestant::Raddle, Contestant::Tokio];
const FIGURES: [Figure; 3] = [
    Figure::more("requests", "/s"),
    Figure::less("server CPU a request", "us"),
    Figure::less("p99", "ms"),
];
/// The answers of axum, and their paths.
const WEB: [(&str, &str); 4] = [
    ("axum, text", "/text"),
    ("axum, JSON", "/json"),
    ("axum, round trip to another task", "/task"),
    ("axum, fan-out of 32 tasks", "/fan-out"),
];
const CONNECTIONS: usize = 50;
const METHOD: &str = "/raddle.Doubler/Double";

/// 64 tasks that query a database over a few connections.
struct Queries {
    /// The names by which the measured program selects the client and the server.
    client: &'static str,
    server: &'static str,
    query: &'static str,
    connections: usize,
    workers: usize,
    /// Whether the client runs on core 0 and the server on core 1, or both on any core.
    apart: bool,
}

const SQLX: Queries = Queries {
    client: "sqlx",
    server: "postgres",
    query: "SELECT 1",
    connections: 8,
    workers: 2,
    apart: false,
};
const TOKIO_POSTGRES: Queries = Queries {
    client: "tokio-postgres",
    ..SQLX
};
const REDIS: Queries = Queries {
    client: "redis",
    server: "redis-server",
    query: "PING",
    ..SQLX
};
#[rustfmt::skip]
const QUERIES: [Queries; 11] = [
    SQLX,
    Queries { workers: 1, ..SQLX },
    Queries { workers: 4, ..SQLX },
    Queries { connections: 1, ..SQLX },
    Queries { query: "SELECT pg_sleep(0.001)", ..SQLX },
    Queries { apart: true, ..SQLX },
    Queries { apart: true, workers: 1, ..SQLX },
    TOKIO_POSTGRES,
    Queries { apart: true, ..TOKIO_POSTGRES },
    REDIS,
    Queries { apart: true, ..REDIS },
];
const QUERY_FIGURES: [Figure; 5] = [
    Figure::more("queries", "/s"),
    Figure::less("client CPU a query", "us"),
    Figure::neutral("client waits a query", "times"),
    Figure::neutral("client preemptions a query", "times"),
    Figure::neutral("parks a query", "times"),
];

#[derive(Parser)]
#[command(about = "Runs axum, tonic and clients of databases on Raddle and on Tokio in turn")]
struct Args {
    /// The server on the stand-in
    #[arg(long, value_name = "FILE")]
    #[arg(default_value = "target/ecosystem/release/served")]
    stand_in: PathBuf,

    /// The server on Tokio
    #[arg(long, value_name = "FILE")]
    #[arg(default_value = "target/ecosystem-tokio/release/served")]
    tokio: PathBuf,

    /// Measure only the databases
    #[arg(long)]
    databases: bool,

    /// For how long a server is loaded in each round
    #[arg(long, value_name = "S", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    seconds: u16,

    /// The number of worker threads of a runtime, except for the databases
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    exit("ecosystem", Args::parse().run())
}

impl Args {
    fn run(&self) -> Result<()> {
        let mut sheet = Sheet::new(Section::Ecosystem, &self.options);
        let duration = Duration::from_secs(self.seconds.into());
        if self.databases {
            for queries in &QUERIES {
                if let Err(error) = self.query(&mut sheet, queries, duration) {
                    sheet.note(format!("{}: not measured, {error}", queries.title()));
                }
            }
            return sheet.finish();
        }
        match check("wrk") {
            Ok(()) => {
                for (title, path) in WEB {
                    self.attempt(&mut sheet, title, "web", |server| {
                        let url = format!("http://{}{path}", server.address());
                        wrk::run(&url, CONNECTIONS, duration, None)
                    });
                }
            }
            Err(error) => sheet.note(format!("axum: not measured, {error}")),
        }
        match check("h2load") {
            Ok(()) => self.attempt(&mut sheet, "tonic, unary calls", "rpc", |server| {
                h2load::run(server.address(), METHOD, duration)
            }),
            Err(error) => sheet.note(format!("tonic: not measured, {error}")),
        }
        sheet.finish()
    }

    /// Returns the program on the stand-in (0) or on Tokio (1).
    fn program(&self, index: usize) -> &PathBuf {
        [&self.stand_in, &self.tokio][index]
    }

    /// Measures clients of a server that is started for each case.
    fn query(&self, sheet: &mut Sheet, queries: &Queries, duration: Duration) -> Result<()> {
        let place = |core| queries.apart.then_some(core);
        let mut command = on_core(place(1), &self.stand_in);
        let server = Process::new(command.arg(queries.server))?;
        let names = CONTESTANTS.map(Contestant::name);
        let case = Case::new(queries.title());
        sheet.attempt(&case, &QUERY_FIGURES, &names, |index| {
            let mut command = on_core(place(0), self.program(index));
            command
                .args([queries.client, &queries.workers.to_string()])
                .arg(server.address().to_string())
                .args([&queries.connections.to_string(), queries.query])
                .stderr(Stdio::piped());
            let client = Process::new(&mut command)?;
            let before = client.usage()?;
            thread::sleep(duration);
            let used = client.usage()?.since(before);
            let text = client.end()?;
            let words = text.split_whitespace();
            let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
            let [rate, parks] = numbers[..] else {
                return Err(Error::other(text));
            };
            let count = rate * duration.as_secs_f64();
            Ok([
                rate,
                used.processor.as_secs_f64() * 1e6 / count,
                used.waits as f64 / count,
                used.preemptions as f64 / count,
                parks,
            ])
        });
        Ok(())
    }

    /// Measures a case on servers that are started in each round.
    fn attempt(
        &self,
        sheet: &mut Sheet,
        title: &str,
        service: &str,
        load: impl Fn(&Process) -> Result<wrk::Report>,
    ) {
        let case = Case::new(format!("{title}, {} workers", self.workers));
        let names = CONTESTANTS.map(Contestant::name);
        sheet.attempt(&case, &FIGURES, &names, |index| {
            let mut command = Command::new(self.program(index));
            command.args([service, &self.workers.to_string()]);
            let server = Process::new(&mut command)?;
            let before = server.usage()?;
            let report = load(&server)?;
            let used = server.usage()?.since(before);
            Ok([
                report.rate,
                used.processor.as_secs_f64() * 1e6 / report.requests as f64,
                report.p99.as_secs_f64() * 1e3,
            ])
        });
    }
}

impl Queries {
    fn title(&self) -> String {
        let Self {
            client,
            connections,
            workers,
            ..
        } = self;
        let sleep = match self.query.contains("sleep") {
            true => " that sleep 1 ms",
            false => "",
        };
        let cores = match self.apart {
            true => "on core 0, the server on core 1",
            false => "on the server's cores",
        };
        format!("{client}, queries{sleep}, {connections} connections, {workers} workers, {cores}")
    }
}
