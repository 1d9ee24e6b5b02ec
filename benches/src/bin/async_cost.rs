//! The server as a loop written by hand and as async functions, in turn, round
//! by round, in one process: the figures that a comparison may quote.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Parser;
use raddle_benches::async_cost::fake_io::Calls;
use raddle_benches::async_cost::plot;
use raddle_benches::async_cost::{REQUESTS, VARIANTS};
use raddle_benches::rounds::{Rounds, in_turn};
use raddle_benches::stats::{median, ratios, spread};

/// How many requests a variant serves in a round, in runs of 32 or 256 each:
/// some milliseconds.
const IN_MEMORY: usize = 16 * 1024;
const WITH_SYSCALLS: usize = 1024;

#[derive(Parser)]
#[command(about = "Runs a server as a poll loop and as async functions in turn, and compares them")]
struct Args {
    #[command(flatten)]
    rounds: Rounds,

    /// Where to draw the ratios of 256 requests
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// One table: what each variant took, by rounds, in nanoseconds a request.
struct Measured {
    what: &'static str,
    requests: usize,
    nanos: Vec<Vec<f64>>,
}

fn main() {
    let args = Args::parse();
    let rounds = args.rounds.count();
    println!("{}", header(rounds));
    let syscalls = Calls::with_syscalls().expect("there is a pipe to be had");
    let kinds = [
        ("in memory", Calls::in_memory(), IN_MEMORY),
        ("with system calls", syscalls, WITH_SYSCALLS),
    ];
    let mut tables = Vec::new();
    for (what, calls, served) in kinds {
        let calls: &'static Calls = Box::leak(Box::new(calls));
        for requests in REQUESTS {
            let table = measure(what, calls, requests, served, rounds);
            print!("{}", table.rows());
            tables.push(table);
        }
    }
    if let Some(path) = args.plot {
        let of_most = tables.iter().filter(|table| table.requests == REQUESTS[1]);
        let series: Vec<_> = of_most
            .map(|table| {
                (
                    table.what,
                    table.ratios().map(|ratios| median(&ratios)).collect(),
                )
            })
            .collect();
        plot::draw(&path, &series).expect("the plot can be written");
    }
}

fn measure(
    what: &'static str,
    calls: &'static Calls,
    requests: usize,
    served: usize,
    rounds: usize,
) -> Measured {
    let runs = u32::try_from(served / requests).expect("a round is short");
    let nanos = in_turn(VARIANTS.len(), rounds, |variant| {
        let time = VARIANTS[variant].time(calls, requests, runs);
        time.as_secs_f64() * 1e9 / served as f64
    });
    Measured {
        what,
        requests,
        nanos,
    }
}

fn header(rounds: usize) -> String {
    format!(
        "Medians of {rounds} rounds; a request is 9 calls of I/O. \"to run_sync\" is the median of the \
         rounds' ratios,\nwith its 10-90 % spread.\n\n\
         {:<18} {:>8} {:<17} {:>12} {:>12} {:>14}  {}",
        "I/O", "requests", "variant", "ns a request", "to run_sync", "10-90 %", "which is"
    )
}

impl Measured {
    /// Each variant's, round by round, to the poll loop's.
    fn ratios(&self) -> impl Iterator<Item = Vec<f64>> {
        self.nanos.iter().map(|nanos| ratios(nanos, &self.nanos[0]))
    }

    fn rows(&self) -> String {
        let mut rows = String::new();
        for ((variant, nanos), ratios) in VARIANTS.iter().zip(&self.nanos).zip(self.ratios()) {
            rows += &format!(
                "{:<18} {:>8} {:<17} {:>12.1} {:>12.3} {:>14}  {}\n",
                self.what,
                self.requests,
                variant.name,
                median(nanos),
                median(&ratios),
                spread(&ratios),
                variant.about
            );
        }
        rows
    }
}
