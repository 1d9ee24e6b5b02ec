//! The counting build: its tests, and the program that counts for `cargo xtask bench scaling`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::steps::{self, Steps, cargo};
use crate::workspace;

/// The packages of the counting build: the primitives, and the program with the layers under the
/// scheduler.
const PACKAGES: [&str; 4] = ["-p", "raddle-primitives", "-p", "raddle-scaling"];

/// Checks the counting build, and runs its tests: short runs of each load among them.
pub(crate) fn check(steps: &mut Steps, root: &Path) -> Result<()> {
    let mut clippy = counted(root, "clippy");
    clippy.args(PACKAGES);
    clippy.args(["--all-targets", "--", "-D", "warnings"]);
    steps.run("clippy, counting", &mut clippy)?;
    let mut test = counted(root, "test");
    test.args(PACKAGES).arg("--tests");
    steps.run("test, counting", &mut test)?;
    for (command, lints) in [("clippy", &["--", "-D", "warnings"][..]), ("test", &[])] {
        let mut timer = counted(root, command);
        timer
            .args(["-p", "raddle-timer", "--test", "waits"])
            .args(lints);
        steps.run(&format!("{command}, counting, waits of timers"), &mut timer)?;
    }
    Ok(())
}

/// Counts, and writes what was counted to `file`.
pub(crate) fn count(root: &Path, file: &Path, args: &[String]) -> Command {
    let mut run = counted(root, "run");
    run.args(["--release", "--quiet", "-p", "raddle-scaling", "--"]);
    run.args(args).arg("--json").arg(file);
    run
}

/// A cargo command with the cfg, in a target directory of its own.
fn counted(root: &Path, command: &str) -> Command {
    let mut cargo = cargo(root, &[command]);
    steps::set_cfg(&mut cargo, "raddle_count");
    cargo.env("CARGO_TARGET_DIR", workspace::target(root).join("count"));
    cargo
}
