//! `cargo xtask conformance`: runs the integration tests of Tokio and its companion crates on the
//! stand-in. The test files come from the published packages, where cargo has unpacked them; this
//! tree contains none of them. All files of a package that can be modules of one test program are
//! compiled as such, which takes a tenth of the time. Each test runs in its own process.

mod accepted;
mod project;
mod run;

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use crate::steps;
use accepted::Kind;
use project::Side;
use run::Outcome;

/// The packages whose tests run.
const SUITES: [&str; 4] = ["tokio", "tokio-stream", "tokio-test", "tokio-util"];

/// The largest number of accepted tests that may differ in more than the text of a panic.
const MAX_DIFFERENT: usize = 15;

#[derive(Default, clap::Args)]
pub(crate) struct Args {
    /// Run only test files whose name contains this
    #[arg(value_name = "FILE")]
    file: Option<String>,

    /// Compile and run on Tokio too, and not only when a test that is not accepted fails on the
    /// stand-in, to see whether it passes there
    #[arg(long)]
    tokio: bool,
}

/// The outcome of each test, by its package, file and path in the file.
type Results = BTreeMap<String, Outcome>;

pub(crate) fn run(args: &Args) -> Result<()> {
    let accepted = accepted::read()?;
    let only = args.file.as_deref().unwrap_or("");
    let mut failed = run_suites(Side::StandIn, only)?;
    let seen: Vec<_> = failed.keys().cloned().collect();
    failed.retain(|_, outcome| *outcome != Outcome::Passed);
    let is_accepted = |(name, outcome): &(&String, &Outcome)| {
        **outcome == Outcome::Failed && accepted.contains_key(*name)
    };
    let (known, others): (Vec<_>, Vec<_>) = failed.iter().partition(is_accepted);
    let mut tokio = Results::new();
    if args.tokio || !others.is_empty() {
        tokio = run_suites(Side::Tokio, only)?;
    }

    let mut findings = Vec::new();
    for (name, outcome) in others {
        match tokio.get(name) {
            Some(Outcome::Passed) => {
                findings.push(format!("{name}: {outcome} on the stand-in only"))
            }
            Some(other) => println!("{name}: {outcome}; on Tokio: {other}"),
            None => findings.push(format!("{name}: {outcome}; it is not compiled on Tokio")),
        }
    }
    for name in tokio.keys().filter(|name| !seen.contains(name)) {
        findings.push(format!("{name}: not compiled on the stand-in"));
    }
    let is_stale = |name: &&String| {
        let may_pass = failed.contains_key(*name) || accepted[*name] == Kind::Root;
        file_of(name).contains(only) && !may_pass
    };
    for name in accepted.keys().filter(is_stale) {
        let what = "accepted, but it passes or does not exist; remove its line";
        findings.push(format!("{name}: {what}"));
    }
    let of_kind = |kind| {
        let known = known.iter().filter(|(name, _)| accepted[*name] == kind);
        known.count()
    };
    let (texts, behaviour) = (of_kind(Kind::PanicText), of_kind(Kind::Behaviour));
    println!("accepted: {texts} by the text of a panic, {behaviour} by behaviour");
    let cure = format!("make Raddle agree, or give reasons in {}", accepted::PAGE);
    steps::report(&findings, &cure)?;
    ensure!(
        behaviour <= MAX_DIFFERENT,
        "{behaviour} tests are accepted by behaviour, more than {MAX_DIFFERENT}"
    );
    Ok(())
}

/// Builds the tests on one side, and runs those in files whose name contains `only`.
fn run_suites(side: Side, only: &str) -> Result<Results> {
    let mut results = Results::new();
    for suite in project::build(side)? {
        results.extend(run::suite(&suite, only)?);
    }
    ensure!(!results.is_empty(), "no test file is named {only}");
    let passed = results.values().filter(|it| **it == Outcome::Passed);
    println!("{side:?}: {} of {} passed", passed.count(), results.len());
    Ok(results)
}

/// Returns the file in the name of a test.
fn file_of(name: &str) -> &str {
    let path = name.split_once("::").map_or(name, |(file, _)| file);
    path.rsplit('/').next().unwrap_or(path)
}
