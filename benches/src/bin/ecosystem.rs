//! Measures axum and tonic under `wrk` and `h2load`, and clients of databases, on the stand-in and
//! on Tokio, in turn, round by round.
#![forbid(unsafe_code)]

use std::io::{Error, Result};
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use clap::{Parser, value_parser};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::servers::http_load::{FIGURES, Loaded, h2load, measure, wrk};
use raddle_benches::servers::process::{check, each, on_core};
use raddle_benches::servers::{Contestant, Process};
use raddle_benches::sheet::{Options, Sheet};

/// The answers of axum, and their paths.
const WEB: [(&str, &str); 4] = [
    ("axum, text", "/text"),
    ("axum, JSON", "/json"),
    ("axum, round trip to another task", "/task"),
    ("axum, fan-out of 32 tasks", "/fan-out"),
];
const CONNECTIONS: usize = 50;
const METHOD: &str = "/raddle.Doubler/Double";

/// 64 tasks that query a database: the client and the server, by the names that the measured
/// program knows; the query; the numbers of connections and of workers; and whether the client runs
/// on core 0 and the server on core 1, or both on any core.
struct Queries(&'static str, &'static str, &'static str, usize, usize, bool);

#[rustfmt::skip]
const QUERIES: [Queries; 11] = [
    Queries("sqlx", "postgres", "SELECT 1", 8, 2, false),
    Queries("sqlx", "postgres", "SELECT 1", 8, 1, false),
    Queries("sqlx", "postgres", "SELECT 1", 8, 4, false),
    Queries("sqlx", "postgres", "SELECT 1", 1, 2, false),
    Queries("sqlx", "postgres", "SELECT pg_sleep(0.001)", 8, 2, false),
    Queries("sqlx", "postgres", "SELECT 1", 8, 2, true),
    Queries("sqlx", "postgres", "SELECT 1", 8, 1, true),
    Queries("tokio-postgres", "postgres", "SELECT 1", 8, 2, false),
    Queries("tokio-postgres", "postgres", "SELECT 1", 8, 2, true),
    Queries("redis", "redis-server", "PING", 8, 2, false),
    Queries("redis", "redis-server", "PING", 8, 2, true),
];
const QUERY_FIGURES: &[Figure] = &[
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
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = value_parser!(u16).range(1..))]
    seconds: u16,

    #[command(flatten)]
    options: Options,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut sheet = Sheet::new(Section::Ecosystem, &args.options);
    if args.databases {
        for queries in &QUERIES {
            args.query(&mut sheet, queries);
        }
        return sheet.finish();
    }
    let duration = args.duration();
    for workers in args.options.workers(&[2]) {
        for (title, path) in WEB {
            args.serve(&mut sheet, title, ["wrk", "web"], workers, |server| {
                let url = format!("http://{}{path}", server.address);
                wrk(&url, CONNECTIONS, duration, None)
            });
        }
        let (title, loader) = ("tonic, unary calls", ["h2load", "rpc"]);
        args.serve(&mut sheet, title, loader, workers, |server| {
            h2load(server.address, METHOD, duration)
        });
    }
    sheet.finish()
}

impl Args {
    fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }

    /// Returns the program on the stand-in (0) or on Tokio (1).
    fn program(&self, index: usize) -> &PathBuf {
        [&self.stand_in, &self.tokio][index]
    }

    /// Measures clients of a server that is started for each case.
    fn query(&self, sheet: &mut Sheet, queries: &Queries) {
        let &Queries(client, server, query, connections, workers, is_apart) = queries;
        let place = |core| is_apart.then_some(core);
        let mut command = on_core(place(1), &self.stand_in);
        let server = match Process::new(command.arg(server)) {
            Ok(server) => server,
            Err(error) => return sheet.note(format!("{}: {error}", queries.title())),
        };
        let case = Case::new(queries.title());
        sheet.measure(&case, QUERY_FIGURES, &Contestant::NAMES[..2], |index| {
            let mut command = on_core(place(0), self.program(index));
            command
                .args([client, &workers.to_string()])
                .arg(server.address.to_string())
                .args([&connections.to_string(), query])
                .stderr(Stdio::piped());
            let client = Process::new(&mut command)?;
            let before = client.usage()?;
            thread::sleep(self.duration());
            let after = client.usage()?;
            let text = client.end()?;
            let words = text.split_whitespace();
            let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
            let [rate, parks] = numbers[..] else {
                return Err(Error::other(text));
            };
            let queries = rate * self.duration().as_secs_f64();
            let [micros, waits, preemptions] = each(before, after, queries);
            Ok([rate, micros, waits, preemptions, parks])
        });
    }

    /// Measures a case on servers that are started in each round, if the program that loads them is
    /// installed.
    fn serve(
        &self,
        sheet: &mut Sheet,
        title: &str,
        [loader, service]: [&str; 2],
        workers: usize,
        load: impl Fn(&Process) -> Result<Loaded>,
    ) {
        if let Err(error) = check(loader) {
            return sheet.note(format!("{title}: not measured, {error}"));
        }
        let case = Case::new(format!("{title}, {workers} workers"));
        sheet.measure(&case, &FIGURES[..6], &Contestant::NAMES[..2], |index| {
            let mut command = on_core(None, self.program(index));
            let server = Process::new(command.args([service, &workers.to_string()]))?;
            measure(&server, || load(&server))
        });
    }
}

impl Queries {
    fn title(&self) -> String {
        let Self(client, _, query, connections, workers, is_apart) = self;
        let sleep = match query.contains("sleep") {
            true => " that sleep 1 ms",
            false => "",
        };
        let cores = match is_apart {
            true => "on core 0, the server on core 1",
            false => "on the server's cores",
        };
        format!("{client}, queries{sleep}, {connections} connections, {workers} workers, {cores}")
    }
}
