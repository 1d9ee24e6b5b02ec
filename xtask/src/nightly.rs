//! Commands that need a nightly compiler. rustup and cargo say how to install missing parts.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{steps, workspace};

/// Returns the host platform, which the sanitizers need as `--target`.
///
/// # Errors
///
/// Returns rustup's error, which names the command to run, if there is no nightly toolchain.
pub(crate) fn host() -> Result<String> {
    let version = steps::output(&mut nightly("rustc --version --verbose"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc does not say what it runs on")?;
    Ok(host.to_owned())
}

/// Makes a command of the nightly cargo at the root of the workspace, with its own target
/// directory. Spaces separate its arguments.
pub(crate) fn cargo(target: &str, line: &str) -> Command {
    let mut command = nightly(&format!("cargo {line}"));
    command.current_dir(workspace::root());
    command.env("CARGO_TARGET_DIR", workspace::target().join(target));
    command
}

fn nightly(line: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly"]);
    command.args(line.split_whitespace());
    // These variables belong to the toolchain that runs this program.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "RUSTFLAGS"] {
        command.env_remove(name);
    }
    command
}
