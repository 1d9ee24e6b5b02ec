//! `cargo xtask bench`: the benchmarks, on Raddle and on other runtimes.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::steps::{self, Steps, cargo};
use crate::workspace;

/// The benchmark of the run queue alone; the others are workloads of the
/// scheduler.
const QUEUE: &str = "queue";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this one
    #[arg(value_parser = [
        "chained_spawn", "ping_pong", "spawn_many_remote", "spawn_many_local", "spawn_join",
        "yield_many", QUEUE,
    ])]
    name: Option<String>,

    /// Fewer rounds: a rough figure in a minute
    #[arg(long)]
    quick: bool,

    /// How many worker threads; a comma joins several
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Vec<u16>,

    /// Skip criterion: only the interleaved rounds that give the ratios
    #[arg(long)]
    side_by_side: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let name = args.name.as_deref();
    let workers = args
        .workers
        .iter()
        .map(u16::to_string)
        .collect::<Vec<_>>()
        .join(",");
    steps::summarized(|steps| {
        if name != Some(QUEUE) {
            let mut sched = criterion(&root, "sched", args);
            sched.env("RADDLE_BENCH_WORKERS", &workers).args(name);
            let mut table = table(&root, "side_by_side", args);
            table.args(["--workers", &workers]);
            if let Some(name) = name {
                table.args(["--only", name]);
            }
            both(steps, "scheduler", args, &mut sched, &mut table)?;
        }
        if name.is_none_or(|name| name == QUEUE) {
            let mut queue = criterion(&root, QUEUE, args);
            let mut table = table(&root, QUEUE, args);
            both(steps, "queues", args, &mut queue, &mut table)?;
        }
        Ok(())
    })
}

fn both(
    steps: &mut Steps,
    name: &str,
    args: &Args,
    criterion: &mut Command,
    table: &mut Command,
) -> Result<()> {
    if !args.side_by_side {
        steps.run(&format!("{name}, criterion"), criterion)?;
    }
    steps.run(&format!("{name}, side by side"), table)
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

fn table(root: &Path, bin: &str, args: &Args) -> Command {
    let mut command = cargo(
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
    );
    if args.quick {
        command.arg("--quick");
    }
    command
}
