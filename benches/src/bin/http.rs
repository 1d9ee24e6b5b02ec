//! Measures a small HTTP answer of hyper on Raddle, on Tokio and on async-executor, and of a loop
//! that can give only this answer, in turn, round by round. A comparison may quote these figures.
//! Also measures Raddle and Tokio on cores that other processes use.
#![forbid(unsafe_code)]

use std::io::Result;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use raddle_benches::client::Paced;
use raddle_benches::descriptors::allow;
use raddle_benches::exit;
use raddle_benches::http_load::{Loader, REQUEST, answer, load};
use raddle_benches::latency::{PERCENTILES, percentiles};
use raddle_benches::record::Section;
use raddle_benches::servers::{Contestant, Launch, Placement, Serve, Service};
use raddle_benches::sharing::Sharing;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::strace;

const FIGURES: [Figure; 4] = [
    Figure::more("requests", "/s"),
    Figure::less("server CPU a request", "us"),
    Figure::less("p99", "ms"),
    Figure::less("server waits a request", "times"),
];
/// The number of requests, over all connections, while system calls are counted.
const COUNTED: usize = 10_000;

#[derive(Parser)]
#[command(about = "Loads hyper on several runtimes and a hand-written loop with wrk in turn")]
struct Args {
    /// The numbers of connections that wrk keeps open, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(default_value = "1,10,50,1000,10000")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    connections: Vec<u16>,

    /// For how long wrk loads a server in each round
    #[arg(long, value_name = "S", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    seconds: u16,

    #[command(flatten)]
    placement: Placement,

    /// Measure only Raddle and Tokio, on cores that other processes use too
    #[arg(long, conflicts_with_all = ["pinned", "syscalls", "paced"])]
    shared: bool,

    /// Measure only the latency of this number of requests a second, which come at fixed times
    #[arg(long, value_name = "RATE", conflicts_with = "syscalls")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    paced: Option<u32>,

    #[command(flatten)]
    serve: Serve,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let workers = args.placement.workers();
    exit("http", args.serve.or_measure(workers, || args.run()))
}

impl Args {
    fn run(&self) -> Result<()> {
        let mut sheet = Sheet::new(Section::Http, &self.options);
        if let Err(error) = self.placement.prepare() {
            sheet.note(format!("{}: not measured, {error}", self.title()));
            return sheet.finish();
        }
        let loader = Loader::find();
        if loader == Loader::BuiltIn && !self.placement.syscalls && self.paced.is_none() {
            sheet.note(
                "hyper: there is no program wrk; a thread of the benchmark was the load in its place (install the \
                 package wrk for figures that others have)",
            );
        }
        if self.shared {
            self.share(&mut sheet, loader);
            return sheet.finish();
        }
        let title = self.title();
        let names = Contestant::ALL.map(Contestant::name);
        for &connections in &self.connections {
            let case = Case::with(&title, "connections", connections.into());
            if let Err(error) = allow(connections.into()) {
                sheet.note(format!("{title}, {connections} connections: {error}"));
                continue;
            }
            let figures: &[_] = match (self.placement.syscalls, self.paced) {
                (true, _) => &strace::FIGURES,
                (_, Some(_)) => &PERCENTILES,
                _ => &FIGURES,
            };
            sheet.attempt(&case, figures, &names, |index| {
                let contestant = Contestant::ALL[index];
                let measured = match (self.placement.syscalls, self.paced) {
                    (true, _) => self.count(contestant, connections.into()),
                    (_, Some(rate)) => self.pace(contestant, connections.into(), rate),
                    _ => self.measure(self.launch(contestant), connections.into(), loader),
                };
                measured.map_err(|error| contestant.in_error(error))
            });
        }
        sheet.finish()
    }

    /// Measures Raddle and Tokio beside other processes, in each way in turn.
    fn share(&self, sheet: &mut Sheet, loader: Loader) {
        sheet.section(Section::Sharing);
        for sharing in Sharing::ALL {
            let workers = sharing.workers(self.placement.workers());
            let title = format!("hyper, {workers} workers, {sharing}");
            let begun = match sharing.begin() {
                Ok(begun) => begun,
                Err(error) => {
                    sheet.note(format!("{title}: not measured, {error}"));
                    continue;
                }
            };
            for &connections in &self.connections {
                let case = Case::with(&title, "connections", connections.into());
                let names = Contestant::ALL.map(Contestant::name);
                sheet.attempt(&case, &FIGURES, &names[..2], |index| {
                    let launch = Launch {
                        workers,
                        is_nice: sharing == Sharing::Nice,
                        ..self.launch(Contestant::ALL[index])
                    };
                    self.measure(launch, connections.into(), loader)
                });
            }
            drop(begun);
        }
    }

    fn title(&self) -> String {
        let placement = self.placement;
        match (placement.syscalls, self.paced) {
            (true, _) => format!("hyper, system calls a request, {placement}"),
            (_, Some(rate)) => format!("hyper, {rate} requests a second, {placement}"),
            _ => format!("hyper, {placement}"),
        }
    }

    fn launch(&self, contestant: Contestant) -> Launch {
        self.placement.launch(contestant, Service::Http)
    }

    /// Measures a server that is started in each round, so that the layout of its memory differs
    /// between rounds.
    fn measure(&self, launch: Launch, connections: usize, loader: Loader) -> Result<Vec<f64>> {
        let server = launch.start()?;
        let before = server.usage()?;
        // Thousands of connections take a while to open.
        let seconds = usize::from(self.seconds).max(connections / 2_000);
        let duration = Duration::from_secs(seconds as u64);
        let core = self.placement.client_core();
        let report = loader.run(server.address(), connections, duration, core)?;
        let used = server.usage()?.since(before);
        let requests = report.requests as f64;
        Ok(vec![
            report.rate,
            used.processor.as_secs_f64() * 1e6 / requests,
            report.p99.as_secs_f64() * 1e3,
            used.waits as f64 / requests,
        ])
    }

    fn pace(&self, contestant: Contestant, connections: usize, rate: u32) -> Result<Vec<f64>> {
        let server = self.launch(contestant).start()?;
        let paced = Paced {
            connections,
            request: REQUEST.into(),
            answer: answer(server.address())?,
            rate,
            duration: Duration::from_secs(self.seconds.into()),
        };
        Ok(percentiles(&paced.run(server.address())?))
    }

    fn count(&self, contestant: Contestant, connections: usize) -> Result<Vec<f64>> {
        let launch = self.launch(contestant);
        let load = load(launch.start()?.address(), connections)?;
        let each = COUNTED.div_ceil(connections) as u64;
        Ok(strace::per_message(launch, &load, each)?.to_vec())
    }
}
