//! `cargo xtask loom`: the models, and whether the canaries of each suite show that
//! they explore.

mod canary;
mod report;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::steps::{self, Steps, cargo, line_of};
use crate::workspace::{self, Package};
use canary::Verdicts;
use report::{Output, Report, area};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A package or its directory: raddle-queue, or queue
    #[arg(value_name = "CRATE", value_parser = package_with_models)]
    package: Option<Package>,

    /// Explore executions of at most this many involuntary switches, instead
    /// of each model's own bound
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
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    /// Each model's own bound, if it has one, with which it takes seconds.
    Own,
    /// One switch more than its own bound.
    Long,
    Preemptions(u8),
    Complete,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let packages = match &args.package {
        Some(package) => vec![package.clone()],
        None => workspace::packages(&root)?,
    };
    let bound = match args.preemptions {
        _ if args.complete => Bound::Complete,
        _ if args.long => Bound::Long,
        Some(bound) => Bound::Preemptions(bound),
        None => Bound::Own,
    };
    steps::summarized(|steps| models(steps, &root, &packages, bound))
}

/// Runs the models of those `packages` that have any, and prints what each
/// explored, also when one failed.
pub(crate) fn models(
    steps: &mut Steps,
    root: &Path,
    packages: &[Package],
    bound: Bound,
) -> Result<()> {
    let mut report = Report::default();
    let result = suites_of(steps, root, packages, bound, &mut report);
    print!("{report}");
    result
}

fn suites_of(
    steps: &mut Steps,
    root: &Path,
    packages: &[Package],
    bound: Bound,
    report: &mut Report,
) -> Result<()> {
    for package in packages {
        let dir = root.join(&package.dir);
        for suite in suites(&dir) {
            let source = fs::read_to_string(dir.join("tests").join(format!("{suite}.rs")))?;
            // One suite a process, so that the canaries seen are this suite's.
            let mut test = test_of(root, package, &suite);
            match bound {
                Bound::Own => &mut test,
                Bound::Long => test.env("RADDLE_LOOM_LONG", "1"),
                Bound::Preemptions(bound) => test.env("LOOM_MAX_PREEMPTIONS", bound.to_string()),
                Bound::Complete => test.env("RADDLE_LOOM_COMPLETE", "1"),
            };
            // A test that is alone on its thread gives the model its name.
            test.args(["--", "--show-output", "--test-threads", "2"]);
            let name = format!("{} {suite}", package.name);
            let shown = line_of(&test);
            steps.step(&name, &shown, || {
                let canaries = canary::of_suite(&source)?;
                let mut output = Output::default();
                let mut verdicts = Verdicts::default();
                let result = steps::filter(&mut test, |line| {
                    output.read(line);
                    verdicts.read(line);
                });
                report.add(area(&package.name, &suite), &suite, &output);
                result.inspect_err(|_| output.print_hidden())?;
                verdicts.check_models(&canaries)?;
                single_executions(test_of(root, package, &suite)).check_single(&canaries)
            })?;
        }
    }
    Ok(())
}

/// The command that builds and runs one suite.
fn test_of(root: &Path, package: &Package, suite: &str) -> Command {
    let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    flags.push_str(" --cfg raddle_loom");
    let mut test = cargo(
        root,
        &["test", "-p", &package.name, "--release", "--test", suite],
    );
    test.env("RUSTFLAGS", flags.trim_start());
    test.env("CARGO_TARGET_DIR", target(root));
    test.env_remove("LOOM_MAX_PREEMPTIONS")
        .env_remove("RADDLE_LOOM_LONG")
        .env_remove("RADDLE_LOOM_COMPLETE")
        .env_remove("RADDLE_LOOM_ONCE");
    test
}

/// Runs the canaries of a suite with one execution for each model.
fn single_executions(mut test: Command) -> Verdicts {
    test.env("RADDLE_LOOM_ONCE", "1");
    test.args(["--", "canary_", "--show-output", "--test-threads", "2"]);
    test.stderr(Stdio::null());
    let mut verdicts = Verdicts::default();
    // It fails, since its canaries do not panic.
    let _ = steps::filter(&mut test, |line| verdicts.read(line));
    verdicts
}

/// The names of a package's model suites: its `tests/loom_*.rs`.
pub(crate) fn suites(package: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(package.join("tests")).into_iter().flatten();
    entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let suite = name.strip_suffix(".rs")?;
            suite.starts_with("loom_").then(|| suite.to_owned())
        })
        .collect()
}

/// The models' own target directory, so that their flags do not rebuild the
/// ordinary one.
pub(crate) fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root.join(target).join("loom")
}

/// Finds the package a user names, for the argument parser.
fn package_with_models(name: &str) -> Result<Package, String> {
    let root = workspace::root();
    let mut packages = workspace::packages(&root).map_err(|error| format!("{error:#}"))?;
    packages.retain(|package| !suites(&root.join(&package.dir)).is_empty());
    let names: Vec<_> = packages
        .iter()
        .map(|package| package.name.clone())
        .collect();
    packages
        .into_iter()
        .find(|package| package.name == name || package.dir.ends_with(name))
        .ok_or_else(|| format!("the crates with models are {}", names.join(", ")))
}

#[cfg(test)]
mod tests;
