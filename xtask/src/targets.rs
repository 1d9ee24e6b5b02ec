//! Whether the crates compile for other platforms that the toolchain has.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::steps::{Steps, cargo};

/// Checks the crates for each installed target but the one this runs on. If there
/// is none it says so.
pub(crate) fn check(steps: &mut Steps, root: &Path) -> Result<()> {
    let rustc = Command::new("rustc").arg("-vV").current_dir(root).output();
    let version = String::from_utf8(rustc.context("cannot start rustc")?.stdout)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let others = others(root, host.context("rustc does not say what it runs on")?)?;
    if others.is_empty() {
        println!(
            "\n== other targets\nthe toolchain has none; rustup target add NAME gets one, such as \
             aarch64-unknown-linux-gnu"
        );
    }
    for target in others {
        let mut check = cargo(root, &["check", "--target", &target]);
        steps.run(&format!("check {target}"), &mut check)?;
    }
    Ok(())
}

/// The installed targets with a standard library, but `host`. None where there
/// is no rustup.
fn others(root: &Path, host: &str) -> Result<Vec<String>> {
    let list = ["target", "list", "--installed"];
    let Ok(output) = Command::new("rustup").args(list).current_dir(root).output() else {
        return Ok(Vec::new());
    };
    ensure!(output.status.success(), "rustup: {}", output.status);
    let listing = String::from_utf8(output.stdout)?;
    let targets = listing.lines().map(str::trim);
    Ok(targets
        .filter(|target| !target.is_empty() && *target != host)
        .map(str::to_owned)
        .collect())
}
