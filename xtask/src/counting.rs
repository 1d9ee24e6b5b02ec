//! The counting build: its tests, and the program that counts for `cargo xtask bench scaling`.

use std::process::Command;

use anyhow::Result;

use crate::steps::{self, cargo};
use crate::workspace;

/// Checks the primitives, and the program with the layers below the scheduler, in the counting
/// build. Runs their tests, including short runs of each load, and one test of the timers.
pub(crate) fn check() -> Result<()> {
    for line in [
        "clippy -p raddle-primitives -p raddle-scaling --all-targets -- -D warnings",
        "test -p raddle-primitives -p raddle-scaling --tests",
        "clippy -p raddle-timer --test waits -- -D warnings",
        "test -p raddle-timer --test waits",
    ] {
        steps::run(&format!("counting, {line}"), &mut counted(line))?;
    }
    Ok(())
}

/// Makes the command that counts.
pub(crate) fn count(args: &str) -> Command {
    counted(&format!(
        "run --release --quiet -p raddle-scaling -- {args}"
    ))
}

/// Makes a cargo command with the cfg and its own target directory.
fn counted(line: &str) -> Command {
    let mut cargo = cargo(line);
    steps::set_cfg(&mut cargo, "raddle_count");
    cargo.env("CARGO_TARGET_DIR", workspace::target().join("count"));
    cargo
}
