//! axum and tonic on the stand-in and on Tokio, in turn, round by round, under
//! `wrk` and `h2load`.
#![forbid(unsafe_code)]

use std::io::Result;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;
use raddle_benches::record::Section;
use raddle_benches::rounds::Rounds;
use raddle_benches::servers::{Contestant, Process, check};
use raddle_benches::sheet::{Case, Figure, Output, Sheet};
use raddle_benches::{h2load, wrk};

const CONTESTANTS: [Contestant; 2] = [Contestant::Raddle, Contestant::Tokio];
const FIGURES: [Figure; 3] = [
    Figure::more("requests", "/s"),
    Figure::less("server CPU a request", "us"),
    Figure::less("p99", "ms"),
];
/// What axum answers, and its path.
const WEB: [(&str, &str); 4] = [
    ("axum, text", "/text"),
    ("axum, JSON", "/json"),
    ("axum, round trip to another task", "/task"),
    ("axum, fan-out of 32 tasks", "/fan-out"),
];
const CONNECTIONS: usize = 50;
const METHOD: &str = "/raddle.Doubler/Double";

#[derive(Parser)]
#[command(about = "Loads axum and tonic on Raddle and on Tokio in turn")]
struct Args {
    /// The server on the stand-in
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/ecosystem/release/served"
    )]
    stand_in: PathBuf,

    /// The server on Tokio
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/ecosystem-tokio/release/served"
    )]
    tokio: PathBuf,

    /// How long a server is loaded in each round
    #[arg(long, value_name = "S", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    seconds: u16,

    /// How many worker threads a runtime has
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    #[command(flatten)]
    rounds: Rounds,

    #[command(flatten)]
    output: Output,
}

fn main() -> ExitCode {
    match Args::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ecosystem: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Args {
    fn run(&self) -> Result<()> {
        let mut sheet = Sheet::new(Section::Ecosystem, self.rounds.count(), &self.output);
        let duration = Duration::from_secs(self.seconds.into());
        match check("wrk") {
            Ok(()) => {
                for (title, path) in WEB {
                    self.attempt(&mut sheet, title, "web", |server| {
                        let url = format!("http://{}{path}", server.address());
                        wrk::run_at(&url, CONNECTIONS, duration, None)
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

    /// Measures a case on servers that are new in each round.
    fn attempt(
        &self,
        sheet: &mut Sheet,
        title: &str,
        service: &str,
        load: impl Fn(&Process) -> Result<wrk::Report>,
    ) {
        let case = Case::new(format!("{title}, {} workers", self.workers));
        sheet.attempt(
            &case,
            &FIGURES,
            &CONTESTANTS.map(Contestant::name),
            |index| {
                let program = [&self.stand_in, &self.tokio][index];
                let mut command = Command::new(program);
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
            },
        );
    }
}
