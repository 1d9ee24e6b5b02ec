//! `cargo xtask ecosystem`: compiles and runs unmodified crates of the Tokio ecosystem on the
//! stand-in.
//!
//! The crates are dependencies of the workspace in `xtask/ecosystem`, which patches `tokio`. One of
//! its packages names a type of each crate and is checked. Another holds tests with real servers
//! and clients, which run, and one holds tests in simulations.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;

use crate::steps::{self, cargo_in, line_of, set_cfg};
use crate::{apt, workspace};

/// The directory of the workspace, relative to the root.
const FOLDER: &str = "xtask/ecosystem";

/// Debian's packages that build scripts need.
const LIBRARIES: [&str; 2] = ["libssl-dev", "pkg-config"];

/// Debian's packages of the servers that the scenarios start.
const SERVERS: [&str; 2] = ["postgresql", "redis-server"];

#[derive(Default, clap::Args)]
pub(crate) struct Args {
    /// Do only one of the parts
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Compile all crates, after a check that the stand-in is their only tokio
    Check,
    /// Run the tests with real servers and clients
    Scenarios,
    /// Run servers and clients in simulations
    Simulated,
    /// Run a program whose environment switches tools on
    Tools,
}

/// Runs all parts, or only one, as steps.
pub(crate) fn run(args: &Args) -> Result<()> {
    let cargo = |line: &str| cargo_of("", "ecosystem", line);
    steps::run("ecosystem fmt", &mut cargo("fmt --all --check"))?;
    let mut fmt = cargo_of("simulators", "simulators", "fmt --check");
    steps::run("simulators fmt", &mut fmt)?;
    let mut tree = cargo("tree --workspace --depth 0 -i tokio");
    steps::step("ecosystem tree", &line_of(&tree), || {
        let listing = steps::output(&mut tree).context("more than one tokio, or none")?;
        let place = format!("({})", workspace::root().join("crates/tokio").display());
        let is_stand_in = listing.lines().count() == 1 && listing.trim().ends_with(&place);
        ensure!(is_stand_in, "the tree has another tokio: {listing}");
        Ok(())
    })?;
    let (check, scenarios) = ("ecosystem check", "ecosystem scenarios");
    let has = |part| args.only.is_none_or(|only| only == part);
    if has(Part::Check) && apt::has(check, &LIBRARIES)? {
        steps::run(check, &mut cargo("check -p compiles"))?;
    }
    if has(Part::Scenarios) && apt::has(scenarios, &SERVERS)? {
        steps::run(scenarios, &mut cargo("test -p scenarios"))?;
    }
    if has(Part::Simulated) {
        steps::run("ecosystem simulated", &mut cargo("test -p simulated"))?;
    }
    if has(Part::Tools) {
        steps::run("ecosystem tools", &mut cargo("test -p tooled"))?;
    }
    Ok(())
}

/// The option of the benchmark's program; the directory of the workspace in which the server is
/// built, below that of the ecosystem; and the directory of the build, below the target directory.
const SIDES: [(&str, &str, &str); 2] = [
    ("--stand-in", "", "ecosystem"),
    ("--tokio", "on-tokio", "ecosystem-tokio"),
];

/// Builds the server that `cargo xtask bench ecosystem` loads, on the stand-in and on Tokio, as
/// steps.
pub(crate) fn build_servers() -> Result<()> {
    for (_, folder, build) in SIDES {
        let mut command = cargo_of(folder, build, "build --release -p served");
        steps::run(&format!("build in {build}"), &mut command)?;
    }
    Ok(())
}

/// Builds the other simulators that `cargo xtask bench simulation` runs, as a step. Returns the
/// arguments that name their paths.
pub(crate) fn build_simulators() -> Result<[OsString; 4]> {
    let mut command = cargo_of("simulators", "simulators", "build --release");
    // Without it, madsim is Tokio.
    set_cfg(&mut command, "madsim");
    steps::run("build in simulators", &mut command)?;
    let built = workspace::target().join("simulators/release");
    Ok([
        "--turmoil".into(),
        built.join("turmoil").into(),
        "--madsim".into(),
        built.join("madsim").into(),
    ])
}

/// Makes a cargo command of the workspace in `folder`, below [`FOLDER`], that builds in `build`,
/// below the target directory.
fn cargo_of(folder: &str, build: &str, line: &str) -> Command {
    let directory = workspace::root().join(FOLDER).join(folder);
    let mut command = cargo_in(&directory, line);
    command.env("CARGO_TARGET_DIR", workspace::target().join(build));
    command
}

/// Returns the arguments that name the paths of both servers.
pub(crate) fn servers() -> impl Iterator<Item = OsString> {
    SIDES.into_iter().flat_map(|(option, _, build)| {
        let program = workspace::target().join(build).join("release/served");
        [option.into(), program.into()]
    })
}
