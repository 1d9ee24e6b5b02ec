//! The programs that compare runtimes, and how to run each.

use super::Args;

pub(super) const ECOSYSTEM: &str = "ecosystem";
pub(super) const SIMULATION: &str = "simulation";
pub(super) const SCALING: &str = "scaling";
pub(super) const SCHED: &str = "sched";
pub(super) const QUEUE: &str = "queue";

/// One run of a program.
#[derive(Clone, Copy, Debug)]
struct Program {
    /// The benchmark to which it belongs.
    bench: &'static str,
    /// The name of the step, and of the file of its record.
    step: &'static str,
    bin: &'static str,
    args: &'static str,
    /// The arguments that shorten a round.
    quick: &'static str,
    /// The numbers of workers, and those of the quick form. `None` if they are fixed.
    workers: Option<[&'static str; 2]>,
    /// The number of rounds if all benchmarks run; a single benchmark runs half as many again.
    rounds: u32,
    quick_rounds: u32,
    /// The seconds that the quick form takes on two idle cores, and that building takes before it.
    seconds: u32,
    building: u32,
}

/// The smallest number of rounds that gives a 95 % interval.
const QUICK_ROUNDS: u32 = 6;
/// For counts, which hardly vary between rounds.
const COUNTED: u32 = 1;

const fn program(
    bench: &'static str,
    step: &'static str,
    bin: &'static str,
    seconds: u32,
) -> Program {
    Program {
        bench,
        step,
        bin,
        args: "",
        quick: "",
        workers: Some(["2", "2"]),
        rounds: 20,
        quick_rounds: QUICK_ROUNDS,
        seconds,
        building: 5,
    }
}

/// All runs, in order.
#[rustfmt::skip]
const PROGRAMS: [Program; 22] = [
    Program { workers: Some(["1,2,4,8", "1,2"]), building: 80, ..program(SCHED, "scheduler", "side_by_side", 4) },
    Program { args: "--only spawned,yield", quick: "--most 10000", rounds: 10, ..program(SCHED, "growth", "growth", 5) },
    Program { quick: "--milliseconds 250", rounds: 10, ..program("latency", "latency", "latency", 36) },
    Program { quick: "--milliseconds 500", workers: None, rounds: 10, ..program("blocked", "blocked", "blocked", 50) },
    Program { workers: None, ..program(QUEUE, "queue", "queue", 1) },
    program("policies", "policies", "policies", 2),
    Program { quick: "--only sleeps,fire,limit", rounds: 10, ..program("time", "timers", "timers", 7) },
    Program { args: "--only sleep", quick: "--most 10000", rounds: 10, ..program("time", "sleepers", "growth", 7) },
    program("sync", "sync", "sync", 4),
    Program { quick: "--milliseconds 100", rounds: 10, ..program("io", "io", "io", 20) },
    Program { args: "--pinned", quick: "--milliseconds 100 --kind small", workers: None, rounds: 10, ..program("io", "io-pinned", "io", 4) },
    Program { args: "--syscalls", quick: "--kind small", rounds: 6, quick_rounds: COUNTED, ..program("io", "io-syscalls", "io", 7) },
    Program { quick: "--seconds 1 --connections 50", rounds: 10, ..program("http", "http", "http", 37) },
    Program { args: "--pinned --connections 50", quick: "--seconds 1", workers: None, rounds: 10, ..program("http", "http-pinned", "http", 36) },
    Program { args: "--pinned --paced 10000 --connections 50", quick: "--seconds 1", workers: None, rounds: 10, ..program("http", "http-paced", "http", 36) },
    Program { args: "--syscalls --connections 50", rounds: 6, quick_rounds: COUNTED, ..program("http", "http-syscalls", "http", 11) },
    Program { args: "--shared --connections 50", quick: "--seconds 1", rounds: 10, ..program("shared-cores", "shared-cores", "http", 74) },
    Program { rounds: 6, quick_rounds: COUNTED, ..program("memory", "memory", "memory", 5) },
    Program { workers: None, ..program("async-cost", "async-cost", "async_cost", 1) },
    Program { quick: "--only messages", workers: None, rounds: 10, building: 240, ..program(SIMULATION, SIMULATION, SIMULATION, 30) },
    Program { quick: "--seconds 1", rounds: 10, building: 1200, ..program(ECOSYSTEM, "ecosystem", "ecosystem", 80) },
    Program { args: "--databases", quick: "--seconds 1", workers: None, rounds: 10, ..program(ECOSYSTEM, "databases", "ecosystem", 160) },
];

/// Returns the names of the benchmarks. Any other name is a workload of the scheduler.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = PROGRAMS.iter().map(|program| program.bench).collect();
    names.dedup();
    names.push(SCALING);
    names
}

/// A run, with its name and its arguments.
pub(super) struct Run {
    pub(super) step: String,
    pub(super) bin: &'static str,
    pub(super) args: Vec<String>,
    pub(super) seconds: u32,
    pub(super) building: u32,
}

/// Returns the runs for `args`, in order.
pub(super) fn runs(args: &Args) -> Vec<Run> {
    let (name, workload) = (args.name.as_deref(), args.workload());
    let wanted = PROGRAMS.iter().filter(|program| match workload {
        Some(_) => program.bin == "side_by_side",
        None => name.is_none_or(|name| name == program.bench),
    });
    let mut runs = Vec::new();
    for program in wanted {
        match program.workers {
            // It compares several numbers in one run.
            Some([full, _]) if full.contains(',') => runs.push(program.run(args, None)),
            Some(_) if !args.workers.is_empty() => {
                runs.extend(args.workers.iter().map(|one| program.run(args, Some(*one))));
            }
            _ => runs.push(program.run(args, None)),
        }
    }
    if let Some(workload) = workload {
        for run in &mut runs {
            run.step += &format!("-{workload}");
            run.args.extend(["--only".to_owned(), workload.to_owned()]);
        }
    }
    runs
}

impl Program {
    /// `workers` is the number of workers if the program runs again for each number.
    fn run(&self, args: &Args, workers: Option<u16>) -> Run {
        let (mut step, mut line) = (self.step.to_owned(), self.args.to_owned());
        if args.quick {
            line += &format!(" {}", self.quick);
        }
        if let Some([full, quick]) = self.workers {
            let workers = match workers {
                Some(workers) => {
                    step += &format!("-{workers}");
                    workers.to_string()
                }
                None if !args.workers.is_empty() => args.worker_list(),
                None if args.quick => quick.to_owned(),
                None => full.to_owned(),
            };
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
            seconds: self.seconds,
            building: self.building,
        }
    }
}
