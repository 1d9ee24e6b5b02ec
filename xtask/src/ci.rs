//! `cargo xtask ci`: does what CI does, in a fresh clone of `HEAD`.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::{steps, workspace};

/// Variables that the contributor's shell and `cargo run` set, and CI does not.
const NOT_IN_CI: &[&str] = &[
    "CARGO",
    "CARGO_TARGET_DIR",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
];

pub(crate) fn run() -> Result<()> {
    // On an interrupt the terminal signals the child too, which ends. This process continues, to
    // remove the clone.
    ctrlc::set_handler(|| {}).context("cannot handle interrupts")?;
    let directory = tempfile::Builder::new().prefix("raddle-ci-").tempdir();
    let directory = directory.context("cannot make a temporary directory")?;
    let clone = directory.path().join("raddle");
    let mut git = Command::new("git");
    git.args(["clone", "--quiet"]).arg(workspace::root());
    let mut ci = Command::new("./.ci/run");
    ci.current_dir(&clone)
        .env("CI", "true")
        .stdin(Stdio::null());
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let of_cargo =
        |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for name in names.filter(|name| NOT_IN_CI.contains(&name.as_str()) || of_cargo(name)) {
        ci.env_remove(name);
    }
    let result = steps::run("clone", git.arg(&clone)).and_then(|()| steps::run(".ci/run", &mut ci));
    directory.close().context("cannot remove the clone")?;
    result
}
