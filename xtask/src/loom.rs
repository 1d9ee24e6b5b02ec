//! `cargo xtask loom`: runs the models, and checks with the canaries of each suite that the models
//! explore.
//!
//! One cargo command builds the models of all crates. Then each test runs in its own process, as
//! many at once as there are processors.

mod canary;
mod report;
pub(crate) mod suite;

use std::process::Command;

use anyhow::Result;

use crate::steps;
use crate::workspace::{self, Package};
use report::Report;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A package or its directory: raddle-queue, or queue
    #[arg(value_name = "CRATE", value_parser = package_with_models)]
    package: Option<Package>,

    /// Explore executions with at most this many involuntary switches, instead of each model's own
    /// bound
    #[arg(long, value_name = "N", conflicts_with = "complete")]
    preemptions: Option<u8>,

    /// Explore every execution of every model; some take hours
    #[arg(long)]
    complete: bool,

    /// Explore further than CI does: one more involuntary switch in each bounded model
    #[arg(long, conflicts_with_all = ["complete", "preemptions"])]
    long: bool,
}

/// How far a model is explored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// Each model's own bound, if any, with which it takes seconds.
    Own,
    /// One switch more than the model's own bound.
    Long,
    Preemptions(u8),
    Complete,
    /// A single execution.
    Once,
}

impl Bound {
    /// Makes a program of models explore this far, whatever the environment says.
    pub(crate) fn set(self, command: &mut Command) {
        command
            .env_remove("LOOM_MAX_PREEMPTIONS")
            .env_remove("RADDLE_LOOM_LONG")
            .env_remove("RADDLE_LOOM_COMPLETE")
            .env_remove("RADDLE_LOOM_ONCE");
        match self {
            Self::Own => command,
            Self::Long => command.env("RADDLE_LOOM_LONG", "1"),
            Self::Preemptions(bound) => command.env("LOOM_MAX_PREEMPTIONS", bound.to_string()),
            Self::Complete => command.env("RADDLE_LOOM_COMPLETE", "1"),
            Self::Once => command.env("RADDLE_LOOM_ONCE", "1"),
        };
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let packages = match &args.package {
        Some(package) => vec![package.clone()],
        None => workspace::packages()?,
    };
    let bound = match args.preemptions {
        _ if args.complete => Bound::Complete,
        _ if args.long => Bound::Long,
        Some(bound) => Bound::Preemptions(bound),
        None => Bound::Own,
    };
    models(&packages, bound)
}

/// Runs the models of those `packages` that have any, and prints how many executions each explored.
pub(crate) fn models(packages: &[Package], bound: Bound) -> Result<()> {
    let mut build = suite::build_command(workspace::root(), packages);
    let mut suites = Vec::new();
    steps::step("models, build", &steps::line_of(&build), || {
        suites = suite::build(packages, &mut build)?;
        Ok(())
    })?;
    let shown = format!("{} suites of target/loom", suites.len());
    let mut report = Report::default();
    steps::step("models", &shown, || suite::run(&suites, bound, &mut report))?;
    print!("{}", report.tables());
    Ok(())
}

/// Finds the package that a user names, for the argument parser.
fn package_with_models(name: &str) -> Result<Package, String> {
    let mut packages = workspace::packages().map_err(|error| format!("{error:#}"))?;
    packages.retain(|package| package.has_models);
    if let Some(package) = packages.iter().find(|package| package.is_named(name)) {
        return Ok(package.clone());
    }
    let names: Vec<_> = packages.into_iter().map(|package| package.name).collect();
    Err(format!("the crates with models are {}", names.join(", ")))
}
