//! What only a nightly compiler does, and whether there is one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::{steps, workspace};

const INSTALL: &str = "rustup toolchain install nightly --profile minimal --component rust-src";

/// What the toolchain must have beside the compiler.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Component {
    /// The source of the standard library, to build it anew.
    Source,
    Miri,
}

/// The host platform, which the sanitizers need as `--target`.
pub(crate) fn host() -> Result<String> {
    let version = printed(&["rustc", "--version", "--verbose"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .context("rustc does not say what it runs on")?
        .to_owned())
}

/// Returns an error that names a missing tool and the command that installs it.
pub(crate) fn require(component: Option<Component>) -> Result<()> {
    if printed(&["rustc", "--version"]).is_err() {
        bail!("this needs a nightly toolchain: {INSTALL}");
    }
    match component {
        None => Ok(()),
        Some(Component::Source) => {
            let sysroot = PathBuf::from(printed(&["rustc", "--print", "sysroot"])?.trim());
            let library = sysroot.join("lib/rustlib/src/rust/library/Cargo.toml");
            ensure!(
                library.is_file(),
                "this builds the standard library anew, whose source the nightly toolchain lacks: \
                 rustup component add rust-src --toolchain nightly"
            );
            Ok(())
        }
        Some(Component::Miri) => {
            ensure!(
                printed(&["cargo", "miri", "--version"]).is_ok(),
                "the nightly toolchain has no Miri: \
                 rustup component add miri rust-src --toolchain nightly"
            );
            Ok(())
        }
    }
}

/// The nightly's cargo, at the root of the workspace, with a directory of its own
/// for what it builds.
pub(crate) fn cargo(root: &Path, target: &str, args: &[&str]) -> Command {
    let mut command = nightly(&["cargo"]);
    command.current_dir(root).args(args);
    command.env("CARGO_TARGET_DIR", workspace::target(root).join(target));
    command
}

fn nightly(words: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly"]).args(words);
    // Of the toolchain that runs this program.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "RUSTFLAGS"] {
        command.env_remove(name);
    }
    command
}

fn printed(words: &[&str]) -> Result<String> {
    steps::output(&mut nightly(words))
}
