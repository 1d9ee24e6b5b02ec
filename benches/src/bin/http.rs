//! Measures a small HTTP answer of hyper on Raddle, on Tokio and on async-executor, and of a loop
//! that can give only this answer, in turn, round by round. A comparison may quote these figures.
//! Also measures Raddle and Tokio on cores that other processes use.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Duration;

use clap::{Parser, value_parser};
use raddle_benches::latency::{PERCENTILES, percentiles};
use raddle_benches::record::{Case, Section};
use raddle_benches::servers::client::pace;
use raddle_benches::servers::http_load::{FIGURES, REQUEST, answer, built_in, load, measure, wrk};
use raddle_benches::servers::process::{allow, check};
use raddle_benches::servers::sharing::Sharing;
use raddle_benches::servers::strace;
use raddle_benches::servers::{Contestant, Launch, Placement, Serve, Service};
use raddle_benches::sheet::{Options, Sheet};

/// The number of requests, over all connections, while system calls are counted.
const COUNTED: usize = 10_000;

#[derive(Parser)]
#[command(about = "Loads hyper on several runtimes and a hand-written loop with wrk in turn")]
struct Args {
    /// The numbers of connections that wrk keeps open, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u16).range(1..))]
    #[arg(default_value = "1,10,50,1000,10000")]
    connections: Vec<u16>,

    /// For how long wrk loads a server in each round
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = value_parser!(u16).range(1..))]
    seconds: u16,

    #[command(flatten)]
    placement: Placement,

    /// Measure only Raddle and Tokio, on cores that other processes use too
    #[arg(long, conflicts_with_all = ["pinned", "syscalls", "paced"])]
    shared: bool,

    /// Measure only the latency of this number of requests a second, which come at fixed times
    #[arg(long, value_name = "RATE", conflicts_with = "syscalls")]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    paced: Option<u32>,

    #[command(flatten)]
    serve: Serve,

    #[command(flatten)]
    options: Options,
}

fn main() -> Result<()> {
    let args = Args::parse();
    args.serve.or_measure(&args.options, || args.run())
}

impl Args {
    fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }

    fn run(&self) -> Result<()> {
        let mut sheet = Sheet::new(Section::Http, &self.options);
        if let Err(error) = self.placement.prepare() {
            sheet.note(format!("hyper: not measured, {error}"));
            return sheet.finish();
        }
        let has_wrk = check("wrk").is_ok();
        if !has_wrk && !self.placement.syscalls && self.paced.is_none() {
            sheet.note(
                "hyper: there is no program wrk; a thread of the benchmark was the load in its \
                 place (install wrk for figures that others have)",
            );
        }
        for workers in self.placement.workers(&self.options) {
            match self.shared {
                true => self.share(&mut sheet, workers, has_wrk),
                false => self.alone(&mut sheet, workers, has_wrk),
            }
        }
        sheet.finish()
    }

    fn alone(&self, sheet: &mut Sheet, workers: usize, has_wrk: bool) {
        let (syscalls, place) = (self.placement.syscalls, self.placement.title(workers));
        let (title, figures) = match (syscalls, self.paced) {
            (true, _) => ("hyper, system calls a request".to_owned(), strace::FIGURES),
            (_, Some(rate)) => (format!("hyper, {rate} requests a second"), PERCENTILES),
            _ => ("hyper".to_owned(), FIGURES),
        };
        for connections in self.connections.iter().copied().map(usize::from) {
            let case = Case::with(format!("{title}, {place}"), "connections", connections);
            if let Err(error) = allow(connections) {
                sheet.note(format!("{case}: {error}"));
                continue;
            }
            sheet.measure(&case, figures, &Contestant::NAMES, |index| {
                let contestant = Contestant::ALL[index];
                let launch = self.placement.launch(contestant, Service::Http, workers);
                match self.paced {
                    _ if syscalls => {
                        let load = load(launch.start()?.address, connections)?;
                        let each = COUNTED.div_ceil(connections) as u64;
                        Ok(strace::per_message(launch, &load, each)?.to_vec())
                    }
                    Some(rate) => {
                        let server = launch.start()?;
                        let message = (connections, REQUEST.as_bytes(), answer(server.address)?);
                        let latencies = pace(server.address, message, rate, self.duration())?;
                        Ok(percentiles(&latencies).into())
                    }
                    None => self.measure(launch, connections, has_wrk),
                }
            });
        }
    }

    /// Measures Raddle and Tokio beside other processes, in each way in turn.
    fn share(&self, sheet: &mut Sheet, workers: usize, has_wrk: bool) {
        sheet.section(Section::Sharing);
        for (sharing, name) in Sharing::ALL {
            let workers = sharing.workers(workers);
            let title = format!("hyper, {workers} workers, {name}");
            let _begun = match sharing.begin() {
                Ok(begun) => begun,
                Err(error) => {
                    sheet.note(format!("{title}: not measured, {error}"));
                    continue;
                }
            };
            for connections in self.connections.iter().copied().map(usize::from) {
                let case = Case::with(&title, "connections", connections);
                sheet.measure(&case, FIGURES, &Contestant::NAMES[..2], |index| {
                    let contestant = Contestant::ALL[index];
                    let launch = Launch {
                        is_nice: sharing == Sharing::Nice,
                        ..self.placement.launch(contestant, Service::Http, workers)
                    };
                    self.measure(launch, connections, has_wrk)
                });
            }
        }
    }

    /// Measures a server that is started in each round, so that the layout of its memory differs
    /// between rounds.
    fn measure(&self, launch: Launch, connections: usize, has_wrk: bool) -> Result<Vec<f64>> {
        let server = launch.start()?;
        // Thousands of connections take a while to open.
        let least = Duration::from_secs(connections as u64 / 2_000);
        let duration = self.duration().max(least);
        let core = self.placement.client_core();
        let load = || match has_wrk {
            true => wrk(
                &format!("http://{}/", server.address),
                connections,
                duration,
                core,
            ),
            false => built_in(server.address, connections, duration),
        };
        Ok(measure(&server, load)?.into())
    }
}
