//! `cargo xtask ci`: what CI does, on a fresh clone of `HEAD`.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::{steps, workspace};

/// What the contributor's shell and `cargo run` set, and CI does not.
const NOT_IN_CI: &[&str] = &[
    "CARGO",
    "CARGO_TARGET_DIR",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
];

pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    // An interrupt ends the child, which the terminal signals too; this process
    // lives on to remove the clone.
    ctrlc::set_handler(|| {}).context("cannot handle interrupts")?;
    let directory = tempfile::Builder::new()
        .prefix("raddle-ci-")
        .tempdir()
        .context("cannot make a temporary directory")?;
    let clone = directory.path().join("raddle");
    let result = steps::summarized(|steps| {
        let mut git = Command::new("git");
        git.args(["clone", "--quiet"]).arg(&root).arg(&clone);
        steps.run("clone", &mut git)?;

        let mut ci = Command::new("./.ci/run");
        ci.current_dir(&clone)
            .env("CI", "true")
            .stdin(Stdio::null());
        for name in NOT_IN_CI {
            ci.env_remove(name);
        }
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                ci.env_remove(&name);
            }
        }
        steps.run(".ci/run", &mut ci)
    });
    directory.close().context("cannot remove the clone")?;
    result
}
