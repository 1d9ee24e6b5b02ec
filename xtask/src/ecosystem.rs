//! `cargo xtask ecosystem`: crates of the Tokio ecosystem, unmodified, on the
//! stand-in.
//!
//! They are dependencies of the workspace in `xtask/ecosystem`, which patches
//! `tokio`. One of its packages names a type of each crate and is checked; the
//! other holds tests with real servers and clients, which are run.

mod served;

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;

use crate::apt;
use crate::steps::{self, Steps, cargo, line_of};
use crate::workspace;

pub(crate) use served::{build_servers, servers};

/// The folder of the workspace, relative to the root.
const FOLDER: &str = "xtask/ecosystem";

/// Debian's packages that build scripts look for.
const LIBRARIES: [&str; 2] = ["libssl-dev", "pkg-config"];

/// Debian's packages that the scenarios start.
const SERVERS: [&str; 2] = ["postgresql", "redis-server"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Do only one of the parts
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Compile all crates, after a check that the stand-in is their only tokio
    Check,
    /// Run the tests with real servers and clients
    Scenarios,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    steps::summarized(|steps| check(steps, &root, args.only))
}

/// Runs the parts, or only one, as steps.
pub(crate) fn check(steps: &mut Steps, root: &Path, only: Option<Part>) -> Result<()> {
    let directory = root.join(FOLDER);
    let target = workspace::target(root).join("ecosystem");
    let cargo = |args: &[&str]| {
        let mut command = cargo(&directory, args);
        command.env("CARGO_TARGET_DIR", &target);
        command
    };
    steps.run("ecosystem fmt", &mut cargo(&["fmt", "--all", "--check"]))?;
    let mut tree = cargo(&["tree", "--workspace", "--depth", "0", "-i", "tokio"]);
    let shown = line_of(&tree);
    steps.step("ecosystem tree", &shown, || {
        let listing = steps::output(&mut tree).context("more than one tokio, or none")?;
        is_stand_in(&listing, &root.join("crates/tokio"))
    })?;
    if only != Some(Part::Scenarios) {
        steps.step("ecosystem libraries", "dpkg", || apt::install(&LIBRARIES))?;
        steps.run("ecosystem check", &mut cargo(&["check", "-p", "compiles"]))?;
    }
    if only != Some(Part::Check) {
        steps.step("ecosystem servers", "dpkg", || apt::install(&SERVERS))?;
        let mut test = cargo(&["test", "-p", "scenarios"]);
        steps.run("ecosystem scenarios", &mut test)?;
    }
    Ok(())
}

/// Checks that a listing of `cargo tree` names the package at `path`, and only
/// that.
fn is_stand_in(listing: &str, path: &Path) -> Result<()> {
    let mut lines = listing.lines().filter(|line| !line.trim().is_empty());
    let place = format!("({})", path.display());
    ensure!(
        lines
            .next()
            .is_some_and(|line| line.starts_with("tokio ") && line.ends_with(&place))
            && lines.next().is_none(),
        "the tree has another tokio than the stand-in: {listing}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_package_at_the_path_is_the_stand_in() {
        let path = Path::new("/raddle/crates/tokio");
        let stand_in = "tokio v1.99.0 (/raddle/crates/tokio)\n";
        assert!(is_stand_in(stand_in, path).is_ok());
        assert!(is_stand_in("", path).is_err());
        assert!(is_stand_in("tokio v1.54.1\n", path).is_err());
        assert!(is_stand_in(&format!("{stand_in}tokio v1.54.1\n"), path).is_err());
    }
}
