//! `cargo xtask stress`: runs all kinds of operations at once, and counts every task.

use std::process::Command;

use anyhow::Result;

use crate::steps::{self, cargo};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Minutes for which it runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    minutes: u64,

    /// The seed of the first round, which a failure prints [default: the time]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// Build optimized and without debug assertions, for more rounds
    #[arg(long)]
    release: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut command = command(args.minutes, args.release);
    if let Some(seed) = args.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    steps::run("stress", &mut command)
}

/// Makes the command of the stress program, which runs for `minutes` minutes. Callers may add its
/// own arguments.
pub(crate) fn command(minutes: u64, release: bool) -> Command {
    let release = if release { "--release" } else { "" };
    cargo(format!(
        "test -p raddle --test stress {release} -- --minutes {minutes}"
    ))
}
