//! Programs of tests that cargo has built, and the tests in them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::steps::line_of;

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
    let shown = line_of(command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {shown}"))?;
    ensure!(output.status.success(), "{shown}: {}", output.status);
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
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
    let output = Command::new(executable)
        .args(["--list", "--format", "terse"])
        .output()
        .with_context(|| format!("cannot start {}", executable.display()))?;
    ensure!(
        output.status.success(),
        "{}: {}",
        executable.display(),
        output.status
    );
    let listing = String::from_utf8(output.stdout)?;
    let names = listing
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(str::to_owned).collect())
}
