//! Programs of tests that cargo has built, and the tests in them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::steps;

/// A program that cargo has built.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The name of its target: `loom_slot`.
    pub(crate) target: String,
    /// The directory of its package.
    pub(crate) dir: PathBuf,
    pub(crate) executable: PathBuf,
}

/// Runs a `cargo test --no-run` and returns the programs that it builds.
pub(crate) fn build(command: &mut Command) -> Result<Vec<Program>> {
    command.args(["--message-format", "json-render-diagnostics"]);
    let mut programs = Vec::new();
    for line in steps::output(command.stderr(Stdio::inherit()))?.lines() {
        let message: Value = serde_json::from_str(line)?;
        if let Some(executable) = message["executable"].as_str() {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let manifest = text(&message["manifest_path"]).context("no manifest path")?;
            programs.push(Program {
                target: text(&message["target"]["name"]).context("a target without name")?,
                dir: Path::new(&manifest).parent().context("no parent")?.into(),
                executable: executable.into(),
            });
        }
    }
    Ok(programs)
}

/// The names of all tests of a program.
pub(crate) fn tests(executable: &Path) -> Result<Vec<String>> {
    let listing = steps::output(Command::new(executable).args(["--list", "--format", "terse"]))?;
    let names = listing
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(str::to_owned).collect())
}
