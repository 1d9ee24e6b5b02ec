//! Checks whether Debian's packages are installed, and installs them.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::steps;

/// Installs packages, unless they are installed.
///
/// # Errors
///
/// Returns an error that names the packages if this is not Debian, Debian does not have the
/// packages, or the user is not root.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat=${db:Status-Status}\n"]);
    let installed = steps::output(query.args(packages))
        .is_ok_and(|statuses| statuses.lines().all(|status| status == "installed"));
    if installed {
        return Ok(());
    }
    let names = packages.join(" ");
    println!("installs Debian's packages: {names}");
    let install = || {
        update()?;
        let mut install = apt("apt-get");
        install.args(["install", "-y", "-qq", "--no-install-recommends"]);
        install.env("DEBIAN_FRONTEND", "noninteractive");
        steps::output(install.args(packages))
    };
    install().with_context(|| {
        format!("Debian's packages are missing; run as root: apt-get install {names}")
    })?;
    Ok(())
}

/// Updates the list of packages, which may be old or missing.
pub(crate) fn update() -> Result<()> {
    steps::output(apt("apt-get").args(["update", "-qq"]))?;
    Ok(())
}

/// Makes a command of apt, whose messages do not depend on the user's language.
pub(crate) fn apt(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C");
    command
}
