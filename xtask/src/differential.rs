//! `cargo xtask differential`: compares Raddle with Tokio for a given time.

use anyhow::Result;

use crate::steps::{self, cargo};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the program with this name, for example `oneshot`
    program: Option<String>,

    /// Minutes for which each program runs with new seeds
    #[arg(long, value_name = "N", default_value_t = 1)]
    minutes: u64,

    /// The first seed; a single one with `--minutes 0` [default: the time]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut command = cargo("test -p raddle-proof --test differential --release --");
    if let Some(program) = &args.program {
        command.args(["--exact", program]);
    }
    if args.minutes > 0 {
        command.env("RADDLE_MINUTES", args.minutes.to_string());
    }
    command.envs(args.seed.map(|seed| ("RADDLE_SEED", seed.to_string())));
    steps::run("differential", &mut command)
}
