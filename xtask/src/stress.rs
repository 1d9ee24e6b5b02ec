//! `cargo xtask stress`: runs all kinds of operations at once, and counts every task.

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
}

pub(crate) fn run(args: &Args) -> Result<()> {
    stress(args.minutes * 60, args.seed)
}

/// Runs the stress program as a step, with a seed or without.
pub(crate) fn stress(seconds: u64, seed: Option<u64>) -> Result<()> {
    let mut command = cargo("test -p raddle --test stress --");
    command.args(["--seconds", &seconds.to_string()]);
    if let Some(seed) = seed {
        command.args(["--seed", &seed.to_string()]);
    }
    steps::run("stress", &mut command)
}
