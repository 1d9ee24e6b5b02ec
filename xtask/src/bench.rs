//! `cargo xtask bench`: the benchmarks, on Raddle and on other runtimes.

use anyhow::Result;

use crate::steps::{self, cargo};
use crate::workspace;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this one
    #[arg(value_parser = [
        "chained_spawn", "ping_pong", "spawn_many_remote", "spawn_many_local", "spawn_join",
        "yield_many",
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
    let workers = args
        .workers
        .iter()
        .map(u16::to_string)
        .collect::<Vec<_>>()
        .join(",");
    steps::summarized(|steps| {
        if !args.side_by_side {
            let mut criterion = cargo(
                &root,
                &["bench", "-p", "raddle-benches", "--bench", "sched", "--"],
            );
            criterion.env("RADDLE_BENCH_WORKERS", &workers);
            if args.quick {
                criterion.arg("--quick");
            } else {
                criterion.args(["--warm-up-time", "1", "--measurement-time", "3"]);
            }
            criterion.args(&args.name);
            steps.run("criterion", &mut criterion)?;
        }
        let mut table = cargo(
            &root,
            &[
                "run",
                "--release",
                "-p",
                "raddle-benches",
                "--bin",
                "side_by_side",
                "--",
            ],
        );
        table.args(["--workers", &workers]);
        if args.quick {
            table.arg("--quick");
        }
        if let Some(name) = &args.name {
            table.args(["--only", name]);
        }
        steps.run("side by side", &mut table)
    })
}
