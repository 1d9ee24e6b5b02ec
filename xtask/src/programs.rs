//! Test programs that cargo has built, and their tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use cargo_metadata::Message;

use crate::steps;

/// A program that cargo has built.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The name of its target: `models`.
    pub(crate) target: String,
    /// The directory of its package.
    pub(crate) dir: PathBuf,
    pub(crate) executable: PathBuf,
}

/// Runs a `cargo test --no-run` and returns the test programs that it builds.
pub(crate) fn build(command: &mut Command) -> Result<Vec<Program>> {
    command.args(["--message-format", "json-render-diagnostics"]);
    let messages = steps::output(command.stderr(Stdio::inherit()))?;
    let mut programs = Vec::new();
    for message in Message::parse_stream(messages.as_bytes()) {
        if let Message::CompilerArtifact(artifact) = message?
            // Cargo also builds the programs of a package, for its tests.
            && artifact.profile.test
            && let Some(executable) = artifact.executable
        {
            let dir = artifact.manifest_path.parent();
            programs.push(Program {
                target: artifact.target.name,
                dir: dir.context("a manifest without directory")?.into(),
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
