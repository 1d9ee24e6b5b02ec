//! `cargo xtask stress`: everything at once, with every task accounted for.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::steps::{self, cargo};
use crate::workspace;

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
    let root = workspace::root();
    let mut command = command(&root, args.minutes, args.release);
    if let Some(seed) = args.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    steps::summarized(|steps| steps.run("stress", &mut command))
}

/// The program, for so many minutes; further arguments are its own.
pub(crate) fn command(root: &Path, minutes: u64, release: bool) -> Command {
    let mut command = cargo(root, &["test", "-p", "raddle", "--test", "stress"]);
    if release {
        command.arg("--release");
    }
    command.args(["--", "--minutes", &minutes.to_string()]);
    command
}
