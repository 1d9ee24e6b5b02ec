//! Debian's packages that some steps need.

use std::process::Command;

use anyhow::{Result, bail};

use crate::steps;

/// Whether Debian's packages are installed. If not, prints how to install them, and lists `step` as
/// skipped.
///
/// # Errors
///
/// Returns an error instead if the variable `CI` is set: CI skips nothing.
pub(crate) fn has(step: &str, packages: &[&str]) -> Result<bool> {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat=${db:Status-Status}\n"]);
    let installed = steps::output(query.args(packages))
        .is_ok_and(|statuses| statuses.lines().all(|status| status == "installed"));
    if !installed {
        let names = packages.join(" ");
        skip(step, &format!("run as root: apt-get install {names}"))?;
    }
    Ok(installed)
}

/// Lists `step` as skipped, and prints what it needs.
///
/// # Errors
///
/// Returns an error instead if the variable `CI` is set.
pub(crate) fn skip(step: &str, needs: &str) -> Result<()> {
    if std::env::var_os("CI").is_some() {
        bail!("step \"{step}\" needs more of this machine; {needs}");
    }
    println!("\n== {step}\nskipped; {needs}");
    steps::skipped(step);
    Ok(())
}
