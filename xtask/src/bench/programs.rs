//! The programs that compare, and how each is run.

use super::Args;

pub(super) const SCHED: &str = "sched";
pub(super) const QUEUE: &str = "queue";
pub(super) const POLICIES: &str = "policies";
const TIME: &str = "time";
const SYNC: &str = "sync";
const IO: &str = "io";
const HTTP: &str = "http";
const SHARED_CORES: &str = "shared-cores";
pub(super) const ECOSYSTEM: &str = "ecosystem";
const LATENCY: &str = "latency";
pub(super) const SCALING: &str = "scaling";
const MEMORY: &str = "memory";
pub(super) const ASYNC_COST: &str = "async-cost";

/// The names of the benchmarks. Any other name is a workload of the scheduler.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = PROGRAMS.iter().map(|program| program.bench).collect();
    names.dedup();
    names
}

/// One run of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// The benchmark that it is a part of.
    pub(super) bench: &'static str,
    /// What the step is called, and the file of its record.
    pub(super) step: &'static str,
    pub(super) bin: &'static str,
    args: &'static [&'static str],
    /// What makes a round shorter.
    quick: &'static [&'static str],
    workers: Workers,
    /// How many rounds, if all benchmarks run; half as many again for one alone.
    rounds: u32,
    quick_rounds: u32,
}

/// How a program takes a number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workers {
    /// It compares several numbers in one run.
    List,
    /// It takes one number, and runs again for another.
    One,
    /// Its number of workers is fixed.
    Fixed,
}

/// The fewest that have an interval of 95 %.
const QUICK_ROUNDS: u32 = 6;
/// For counts, which hardly vary.
const COUNTED: u32 = 1;

const fn program(bench: &'static str, step: &'static str, bin: &'static str) -> Program {
    Program {
        bench,
        step,
        bin,
        args: &[],
        quick: &[],
        workers: Workers::One,
        rounds: 20,
        quick_rounds: QUICK_ROUNDS,
    }
}

const SHORT: &[&str] = &["--milliseconds", "100"];
const ONE_SECOND: &[&str] = &["--seconds", "1"];

/// All of them, in the order in which they run.
pub(super) const PROGRAMS: [Program; 21] = [
    Program {
        args: &["--workers", "1,2,4,8"],
        quick: &["--workers", "1,2"],
        workers: Workers::List,
        ..program(SCHED, "scheduler", "side_by_side")
    },
    Program {
        args: &["--only", "tasks,yields"],
        quick: &["--most", "10000"],
        rounds: 10,
        ..program(SCHED, "growth", "growth")
    },
    Program {
        workers: Workers::Fixed,
        rounds: 4,
        quick_rounds: COUNTED,
        ..program(SCALING, "scaling", "scaling")
    },
    Program {
        quick: &["--milliseconds", "250"],
        rounds: 10,
        ..program(LATENCY, "latency", "latency")
    },
    Program {
        workers: Workers::Fixed,
        ..program(QUEUE, "queue", "queue")
    },
    program(POLICIES, "policies", "policies"),
    Program {
        quick: &["--only", "sleeps,arm,limit"],
        rounds: 10,
        ..program(TIME, "timers", "timers")
    },
    Program {
        args: &["--only", "sleepers"],
        quick: &["--most", "10000"],
        rounds: 10,
        ..program(TIME, "sleepers", "growth")
    },
    program(SYNC, "sync", "sync"),
    Program {
        quick: SHORT,
        rounds: 10,
        ..program(IO, "io", "io")
    },
    Program {
        args: &["--pinned"],
        quick: &["--milliseconds", "100", "--only", "small"],
        workers: Workers::Fixed,
        rounds: 10,
        ..program(IO, "io-pinned", "io")
    },
    Program {
        args: &["--syscalls"],
        quick: &["--only", "small"],
        rounds: 6,
        quick_rounds: COUNTED,
        ..program(IO, "io-syscalls", "io")
    },
    Program {
        quick: &["--seconds", "1", "--connections", "50"],
        rounds: 10,
        ..program(HTTP, "http", "http")
    },
    Program {
        args: &["--pinned", "--connections", "50"],
        quick: ONE_SECOND,
        workers: Workers::Fixed,
        rounds: 10,
        ..program(HTTP, "http-pinned", "http")
    },
    Program {
        args: &["--pinned", "--paced", "10000", "--connections", "50"],
        quick: ONE_SECOND,
        workers: Workers::Fixed,
        rounds: 10,
        ..program(HTTP, "http-paced", "http")
    },
    Program {
        args: &["--syscalls", "--connections", "50"],
        rounds: 6,
        quick_rounds: COUNTED,
        ..program(HTTP, "http-syscalls", "http")
    },
    Program {
        args: &["--shared", "--connections", "50"],
        quick: ONE_SECOND,
        rounds: 10,
        ..program(SHARED_CORES, "shared-cores", "http")
    },
    Program {
        quick: ONE_SECOND,
        rounds: 10,
        ..program(ECOSYSTEM, "ecosystem", "ecosystem")
    },
    Program {
        args: &["--databases"],
        quick: ONE_SECOND,
        workers: Workers::Fixed,
        rounds: 10,
        ..program(ECOSYSTEM, "databases", "ecosystem")
    },
    Program {
        rounds: 6,
        quick_rounds: COUNTED,
        ..program(MEMORY, "memory", "memory")
    },
    Program {
        workers: Workers::Fixed,
        ..program(ASYNC_COST, "async-cost", "async_cost")
    },
];

/// A run, with its name and its arguments.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    pub(super) step: String,
    pub(super) bin: &'static str,
    pub(super) args: Vec<String>,
}

/// The runs for `args`, in order.
pub(super) fn runs(args: &Args) -> Vec<Run> {
    let name = args.name.as_deref();
    let workload = name.filter(|name| !names().contains(name));
    let mut runs = Vec::new();
    for program in &PROGRAMS {
        let wanted = name.is_none_or(|name| name == program.bench);
        if let Some(workload) = workload.filter(|_| program.bin == "side_by_side") {
            let mut run = program.run(args, None);
            run.step = format!("{}-{workload}", run.step);
            run.args.extend(["--only".to_owned(), workload.to_owned()]);
            runs.push(run);
        } else if wanted && program.workers == Workers::One && !args.workers.is_empty() {
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
        let mut words: Vec<String> = Vec::new();
        let own = match args.quick {
            // The quick list replaces the other one.
            true if self.workers == Workers::List => self.quick.to_vec(),
            true => [self.args, self.quick].concat(),
            false => self.args.to_vec(),
        };
        words.extend(own.into_iter().map(str::to_owned));
        if self.workers == Workers::List && !args.workers.is_empty() {
            let list: Vec<_> = args.workers.iter().map(u16::to_string).collect();
            words = vec!["--workers".to_owned(), list.join(",")];
        }
        if let Some(workers) = workers {
            step += &format!("-{workers}");
            words.extend(["--workers".to_owned(), workers.to_string()]);
        }
        words.extend(["--rounds".to_owned(), self.rounds(args).to_string()]);
        Run {
            step,
            bin: self.bin,
            args: words,
        }
    }

    fn rounds(&self, args: &Args) -> u32 {
        match (args.quick, args.name.is_some()) {
            (true, _) => self.quick_rounds,
            (false, false) => self.rounds,
            (false, true) => self.rounds * 3 / 2,
        }
    }
}
