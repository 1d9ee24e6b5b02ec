//! The counting build: its tests, and the program that counts for `cargo xtask bench scaling`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::steps::{self, cargo};
use crate::workspace;

/// Checks the primitives and the program with the layers under the scheduler in the counting build,
/// and runs their tests, short runs of each load among them; and one test of the timers.
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

/// Counts, and writes what was counted to `file`.
pub(crate) fn count(file: &Path, args: &[String]) -> Command {
    let mut run = counted("run --release --quiet -p raddle-scaling --");
    run.args(args).arg("--json").arg(file);
    run
}

/// A cargo command with the cfg, in a target directory of its own.
fn counted(line: &str) -> Command {
    let mut cargo = cargo(line);
    steps::set_cfg(&mut cargo, "raddle_count");
    cargo.env("CARGO_TARGET_DIR", workspace::target().join("count"));
    cargo
}
