//! `cargo xtask conformance`: runs the integration tests of Tokio and its companion crates on the
//! stand-in. The test files come from the published packages, where cargo has unpacked them; this
//! tree contains none of them. All files of a package that can be modules of one test program are
//! compiled as such, which takes a tenth of the time. The tests of each file run in their own
//! process.

mod accepted;
mod project;
mod run;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::steps;
use accepted::Kind;
use project::{Side, Suite};
use run::Outcome;

/// The packages whose tests run.
const SUITES: [&str; 4] = ["tokio", "tokio-stream", "tokio-test", "tokio-util"];

/// The largest number of accepted tests that may differ in more than the text of a panic.
const MAX_DIFFERENT: usize = 15;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only test files whose name contains this
    #[arg(value_name = "FILE")]
    file: Option<String>,

    /// Run every test this many times, to find tests that hang or fail sometimes
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,

    /// Seconds after which the tests of one file count as hanging
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    limit: u64,

    /// Compile and run on Tokio only when a test that is not accepted fails on the stand-in, to see
    /// whether it passes there
    #[arg(long)]
    lazy: bool,
}

impl Args {
    /// Returns the arguments with which CI runs it.
    pub(crate) fn short() -> Self {
        Self {
            file: None,
            runs: 1,
            limit: 120,
            lazy: true,
        }
    }
}

/// The outcome of each test, by its package, file and path in the file.
type Results = BTreeMap<String, Outcome>;

pub(crate) fn run(args: &Args) -> Result<()> {
    let accepted = accepted::read()?;
    let suites = project::build(Side::StandIn)?;
    let mut passed = 0;
    let mut failed = Results::new();
    let mut seen = Vec::new();
    for round in 1..=args.runs {
        let label = format!("on the stand-in, round {round} of {}", args.runs);
        let mut results = run_suites(&label, &suites, args)?;
        seen = results.keys().cloned().collect();
        results.retain(|_, outcome| *outcome != Outcome::Passed);
        passed = seen.len() - results.len();
        failed.extend(results);
    }
    let is_accepted = |(name, outcome): &(&String, &Outcome)| {
        **outcome == Outcome::Failed && accepted.contains_key(*name)
    };
    let (known, others): (Vec<_>, Vec<_>) = failed.iter().partition(is_accepted);
    let mut tokio = Results::new();
    if !args.lazy || !others.is_empty() {
        tokio = run_suites("on Tokio", &project::build(Side::Tokio)?, args)?;
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
    let only = args.file.as_deref().unwrap_or("");
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
    println!("{passed} passed; accepted: {texts} by the text of a panic, {behaviour} by behaviour");
    let cure = format!("make Raddle agree, or give reasons in {}", accepted::PAGE);
    steps::report(&findings, &cure)?;
    ensure!(
        behaviour <= MAX_DIFFERENT,
        "{behaviour} tests are accepted by behaviour, more than {MAX_DIFFERENT}"
    );
    Ok(())
}

fn run_suites(label: &str, suites: &[Suite], args: &Args) -> Result<Results> {
    let mut results = Results::new();
    for suite in suites {
        let limit = Duration::from_secs(args.limit);
        results.extend(run::suite(suite, args.file.as_deref(), limit)?);
    }
    let name = args.file.as_deref().unwrap_or("at all");
    ensure!(!results.is_empty(), "no test file is named {name}");
    let passed = results.values().filter(|it| **it == Outcome::Passed);
    println!("{label}: {} of {} passed", passed.count(), results.len());
    Ok(results)
}

/// Returns the file in the name of a test.
fn file_of(name: &str) -> &str {
    let path = name.split_once("::").map_or(name, |(file, _)| file);
    path.rsplit('/').next().unwrap_or(path)
}
