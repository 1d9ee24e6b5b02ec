//! The programs that compare runtimes, and how to run each.

use Workers::{Fixed, List, One};

use super::Args;

pub(super) const SCHED: &str = "sched";
pub(super) const QUEUE: &str = "queue";
pub(super) const POLICIES: &str = "policies";
pub(super) const ECOSYSTEM: &str = "ecosystem";
pub(super) const SCALING: &str = "scaling";
pub(super) const ASYNC_COST: &str = "async-cost";

/// One run of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// The benchmark to which it belongs.
    bench: &'static str,
    /// The name of the step, and of the file of its record.
    step: &'static str,
    bin: &'static str,
    args: &'static str,
    /// The arguments that shorten a round.
    quick: &'static str,
    workers: Workers,
    /// The number of rounds if all benchmarks run; a single benchmark runs half as many again.
    rounds: u32,
    quick_rounds: u32,
}

/// How a program takes the number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workers {
    /// It compares several numbers in one run.
    List,
    /// It takes one number, and runs again for each other number.
    One,
    /// Its number of workers is fixed.
    Fixed,
}

/// The smallest number of rounds that gives a 95 % interval.
const QUICK_ROUNDS: u32 = 6;
/// For counts, which hardly vary between rounds.
const COUNTED: u32 = 1;

const fn program(bench: &'static str, step: &'static str, bin: &'static str) -> Program {
    Program {
        bench,
        step,
        bin,
        args: "",
        quick: "",
        workers: One,
        rounds: 20,
        quick_rounds: QUICK_ROUNDS,
    }
}

/// All runs, in order.
#[rustfmt::skip]
const PROGRAMS: [Program; 21] = [
    Program { args: "--workers 1,2,4,8", quick: "--workers 1,2", workers: List, ..program(SCHED, "scheduler", "side_by_side") },
    Program { args: "--only tasks,yields", quick: "--most 10000", rounds: 10, ..program(SCHED, "growth", "growth") },
    Program { workers: Fixed, rounds: 4, quick_rounds: COUNTED, ..program(SCALING, "scaling", "scaling") },
    Program { quick: "--milliseconds 250", rounds: 10, ..program("latency", "latency", "latency") },
    Program { workers: Fixed, ..program(QUEUE, "queue", "queue") },
    program(POLICIES, "policies", "policies"),
    Program { quick: "--only sleeps,arm,limit", rounds: 10, ..program("time", "timers", "timers") },
    Program { args: "--only sleepers", quick: "--most 10000", rounds: 10, ..program("time", "sleepers", "growth") },
    program("sync", "sync", "sync"),
    Program { quick: "--milliseconds 100", rounds: 10, ..program("io", "io", "io") },
    Program { args: "--pinned", quick: "--milliseconds 100 --only small", workers: Fixed, rounds: 10, ..program("io", "io-pinned", "io") },
    Program { args: "--syscalls", quick: "--only small", rounds: 6, quick_rounds: COUNTED, ..program("io", "io-syscalls", "io") },
    Program { quick: "--seconds 1 --connections 50", rounds: 10, ..program("http", "http", "http") },
    Program { args: "--pinned --connections 50", quick: "--seconds 1", workers: Fixed, rounds: 10, ..program("http", "http-pinned", "http") },
    Program { args: "--pinned --paced 10000 --connections 50", quick: "--seconds 1", workers: Fixed, rounds: 10, ..program("http", "http-paced", "http") },
    Program { args: "--syscalls --connections 50", rounds: 6, quick_rounds: COUNTED, ..program("http", "http-syscalls", "http") },
    Program { args: "--shared --connections 50", quick: "--seconds 1", rounds: 10, ..program("shared-cores", "shared-cores", "http") },
    Program { quick: "--seconds 1", rounds: 10, ..program(ECOSYSTEM, "ecosystem", "ecosystem") },
    Program { args: "--databases", quick: "--seconds 1", workers: Fixed, rounds: 10, ..program(ECOSYSTEM, "databases", "ecosystem") },
    Program { rounds: 6, quick_rounds: COUNTED, ..program("memory", "memory", "memory") },
    Program { workers: Fixed, ..program(ASYNC_COST, "async-cost", "async_cost") },
];

/// Returns the names of the benchmarks. Any other name is a workload of the scheduler.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = PROGRAMS.iter().map(|program| program.bench).collect();
    names.dedup();
    names
}

/// A run, with its name and its arguments.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) step: String,
    pub(super) bin: &'static str,
    pub(super) args: Vec<String>,
}

/// Returns the runs for `args`, in order.
pub(super) fn runs(args: &Args) -> Vec<Run> {
    let name = args.name.as_deref();
    let mut runs = Vec::new();
    for program in &PROGRAMS {
        let wanted = name.is_none_or(|name| name == program.bench);
        if let Some(workload) = args.workload().filter(|_| program.bin == "side_by_side") {
            let mut run = program.run(args, None);
            run.step = format!("{}-{workload}", run.step);
            run.args.extend(["--only".to_owned(), workload.to_owned()]);
            runs.push(run);
        } else if wanted && program.workers == One && !args.workers.is_empty() {
            runs.extend(args.workers.iter().map(|one| program.run(args, Some(*one))));
        } else if wanted {
            runs.push(program.run(args, None));
        }
    }
    runs
}

impl Program {
    fn run(&self, args: &Args, workers: Option<u16>) -> Run {
        let mut step = self.step.to_owned();
        let mut line = match self.workers {
            List if !args.workers.is_empty() => format!("--workers {}", args.worker_list()),
            // The quick list replaces the full list.
            List if args.quick => self.quick.to_owned(),
            _ if args.quick => format!("{} {}", self.args, self.quick),
            _ => self.args.to_owned(),
        };
        if let Some(workers) = workers {
            step += &format!("-{workers}");
            line += &format!(" --workers {workers}");
        }
        let rounds = match args.name {
            _ if args.quick => self.quick_rounds,
            None => self.rounds,
            Some(_) => self.rounds * 3 / 2,
        };
        line += &format!(" --rounds {rounds}");
        Run {
            step,
            bin: self.bin,
            args: line.split_whitespace().map(str::to_owned).collect(),
        }
    }
}
