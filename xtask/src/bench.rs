//! `cargo xtask bench`: the benchmarks, on Raddle and on other runtimes.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::steps::{self, Steps, cargo};
use crate::workspace;

const QUEUE: &str = "queue";
const POLICIES: &str = "policies";
const TIME: &str = "time";
const SYNC: &str = "sync";
const IO: &str = "io";
const HTTP: &str = "http";
const ASYNC_COST: &str = "async-cost";

/// What is not a workload of the scheduler.
const OTHERS: [&str; 7] = [QUEUE, POLICIES, TIME, SYNC, IO, HTTP, ASYNC_COST];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this one: a workload of the scheduler, or the run queue, the policies, timers, channels
    /// and locks, sockets, hyper, or what async costs
    #[arg(value_parser = [
        "chained_spawn", "ping_pong", "spawn_many_remote", "spawn_many_local", "spawn_join",
        "yield_many", QUEUE, POLICIES, TIME, SYNC, IO, HTTP, ASYNC_COST,
    ])]
    name: Option<String>,

    /// Fewer rounds: a rough figure in a minute or, of all, in a few
    #[arg(long)]
    quick: bool,

    /// How many worker threads; a comma joins several [default: 1,2 for the scheduler, else 2]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Vec<u16>,

    /// Skip criterion: only the interleaved rounds that give the ratios
    #[arg(long)]
    side_by_side: bool,
}

/// A table of contestants in turn.
struct Table {
    /// The benchmark that it is a part of.
    bench: &'static str,
    step: &'static str,
    bin: &'static str,
    args: &'static [&'static str],
    /// What makes a round shorter.
    quick: &'static [&'static str],
}

/// Without those of the scheduler and of the queue, which have settings of their
/// own.
const TABLES: [Table; 9] = [
    Table {
        bench: POLICIES,
        step: "policies",
        bin: "policies",
        args: &[],
        quick: &[],
    },
    Table {
        bench: TIME,
        step: "timers",
        bin: "timers",
        args: &[],
        quick: &[],
    },
    Table {
        bench: SYNC,
        step: "channels and locks",
        bin: "sync",
        args: &[],
        quick: &[],
    },
    Table {
        bench: IO,
        step: "sockets",
        bin: "io",
        args: &[],
        quick: &["--milliseconds", "300"],
    },
    Table {
        bench: IO,
        step: "sockets, pinned",
        bin: "io",
        args: &[PINNED],
        quick: &["--milliseconds", "300"],
    },
    Table {
        bench: IO,
        step: "sockets, system calls",
        bin: "io",
        args: &[SYSCALLS],
        quick: &[],
    },
    Table {
        bench: HTTP,
        step: "hyper",
        bin: "http",
        args: &[],
        quick: &["--seconds", "1"],
    },
    Table {
        bench: HTTP,
        step: "hyper, pinned",
        bin: "http",
        args: &[PINNED],
        quick: &["--seconds", "1"],
    },
    Table {
        bench: HTTP,
        step: "hyper, system calls",
        bin: "http",
        args: &[SYSCALLS],
        quick: &[],
    },
];

/// With one worker, so that a number of workers is not given.
const PINNED: &str = "--pinned";
const SYSCALLS: &str = "--syscalls";

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let name = args.name.as_deref();
    let wanted = |bench| name.is_none_or(|name| name == bench);
    steps::summarized(|steps| {
        if name.is_none_or(|name| !OTHERS.contains(&name)) {
            scheduler(steps, &root, args)?;
        }
        if wanted(QUEUE) {
            under_criterion(steps, "queues", args, &mut criterion(&root, QUEUE, args))?;
            let mut table = table(&root, QUEUE);
            if args.quick {
                table.arg("--quick");
            }
            steps.run("queues, side by side", &mut table)?;
        }
        if wanted(POLICIES) {
            let mut criterion = criterion(&root, POLICIES, args);
            under_criterion(steps, "policies", args, &mut criterion)?;
        }
        if wanted(ASYNC_COST) {
            let mut criterion = criterion(&root, "async_cost", args);
            under_criterion(steps, "what async costs", args, &mut criterion)?;
            let mut table = table(&root, "async_cost");
            if args.quick {
                table.arg("--quick");
            }
            steps.run("what async costs, side by side", &mut table)?;
        }
        for table in TABLES.iter().filter(|table| wanted(table.bench)) {
            table.run(steps, &root, args)?;
        }
        Ok(())
    })
}

fn scheduler(steps: &mut Steps, root: &Path, args: &Args) -> Result<()> {
    let name = args.name.as_deref();
    let mut sched = criterion(root, "sched", args);
    let mut table = table(root, "side_by_side");
    sched.args(name);
    if let Some(name) = name {
        table.args(["--only", name]);
    }
    if !args.workers.is_empty() {
        let workers: Vec<_> = args.workers.iter().map(u16::to_string).collect();
        let workers = workers.join(",");
        sched.env("RADDLE_BENCH_WORKERS", &workers);
        table.args(["--workers", &workers]);
    }
    if args.quick {
        table.arg("--quick");
    }
    under_criterion(steps, "scheduler", args, &mut sched)?;
    steps.run("scheduler, side by side", &mut table)
}

impl Table {
    /// Once, or once for each number of workers that was asked for.
    fn run(&self, steps: &mut Steps, root: &Path, args: &Args) -> Result<()> {
        let command = || {
            let mut command = table(root, self.bin);
            command.args(self.args);
            command.args(["--rounds", &self.rounds(args).to_string()]);
            if args.quick {
                command.args(self.quick);
            }
            command
        };
        if args.workers.is_empty() || self.args.contains(&PINNED) {
            return steps.run(self.step, &mut command());
        }
        for workers in &args.workers {
            let mut command = command();
            command.args(["--workers", &workers.to_string()]);
            steps.run(self.step, &mut command)?;
        }
        Ok(())
    }

    /// Fewer where this is one benchmark among all, and of counts, which vary
    /// less than times.
    fn rounds(&self, args: &Args) -> usize {
        match (args.quick, args.name.is_some()) {
            (true, _) => 3,
            _ if self.args.contains(&SYSCALLS) => 5,
            (false, false) => 10,
            (false, true) => 20,
        }
    }
}

fn under_criterion(
    steps: &mut Steps,
    name: &str,
    args: &Args,
    criterion: &mut Command,
) -> Result<()> {
    if args.side_by_side {
        return Ok(());
    }
    steps.run(&format!("{name}, criterion"), criterion)
}

fn criterion(root: &Path, bench: &str, args: &Args) -> Command {
    let mut command = cargo(
        root,
        &["bench", "-p", "raddle-benches", "--bench", bench, "--"],
    );
    if args.quick {
        command.arg("--quick");
    } else {
        command.args(["--warm-up-time", "1", "--measurement-time", "3"]);
    }
    command
}

fn table(root: &Path, bin: &str) -> Command {
    cargo(
        root,
        &[
            "run",
            "--release",
            "-p",
            "raddle-benches",
            "--bin",
            bin,
            "--",
        ],
    )
}
