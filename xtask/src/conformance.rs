//! `cargo xtask conformance`: the integration tests of Tokio and its companion
//! crates, on the stand-in.
//! The files come from the published packages, where cargo has unpacked
//! them; nothing of theirs is in this tree. All files of a package that can be
//! modules of one test program are compiled as such, which takes a tenth of the
//! time. Each file's tests run in a process of their own.

mod accepted;
mod project;
mod run;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use crate::workspace;
use accepted::{Accepted, Kind};
use project::{Project, Side, Suite};
use run::Outcome;

/// The packages whose tests are run.
const SUITES: [&str; 4] = ["tokio", "tokio-stream", "tokio-test", "tokio-util"];

/// How many accepted tests may differ in more than the text of a panic.
const MAX_DIFFERENT: usize = 15;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only test files whose name contains this
    #[arg(value_name = "FILE")]
    file: Option<String>,

    /// Run every test this often, to find tests that hang or fail sometimes
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
    /// The arguments with which CI runs it.
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
    let root = workspace::root();
    let accepted = Accepted::read(&root)?;
    let mut tokio = Peer {
        root: &root,
        args,
        results: None,
    };
    if !args.lazy {
        tokio.results()?;
    }

    println!("on the stand-in:");
    let project = Project::create(&root, Side::StandIn)?;
    let suites = project.build()?;
    let mut last = 0;
    let mut failed = Results::new();
    let mut seen = Vec::new();
    for round in 1..=args.runs {
        let results = run_suites(&suites, args)?;
        last = passed(&results);
        let (runs, all) = (args.runs, results.len());
        println!("round {round} of {runs}: {last} of {all} passed");
        seen = results.keys().cloned().collect();
        let others = results.into_iter();
        failed.extend(others.filter(|(_, outcome)| *outcome != Outcome::Passed));
    }

    let mut findings = Vec::new();
    let mut differing = [0, 0];
    for (name, outcome) in &failed {
        if *outcome == Outcome::Failed
            && let Some(kind) = accepted.kind(name)
        {
            differing[usize::from(kind == Kind::Behaviour)] += 1;
            continue;
        }
        match tokio.results()?.get(name) {
            Some(Outcome::Passed) => {
                findings.push(format!("{name}: {outcome} on the stand-in only"))
            }
            Some(other) => println!("{name}: {outcome}, and {other} on Tokio too"),
            None => findings.push(format!("{name}: {outcome}, and not compiled on Tokio")),
        }
    }
    if !args.lazy {
        for name in tokio.results()?.keys().filter(|name| !seen.contains(name)) {
            findings.push(format!("{name}: not compiled on the stand-in"));
        }
    }
    for name in accepted.names() {
        let file = args.file.as_ref();
        let selected = file.is_none_or(|file| file_of(name).contains(file));
        if selected && !failed.contains_key(name) {
            findings.push(format!(
                "{name}: accepted, but passes or is gone; remove its line"
            ));
        }
    }
    println!(
        "{last} passed; accepted: {} by the text of a panic, {} by behaviour",
        differing[0], differing[1]
    );
    for finding in &findings {
        println!("{finding}");
    }
    ensure!(
        findings.is_empty(),
        "{} tests differ from Tokio; mend them, or give a reason in {}",
        findings.len(),
        accepted::PAGE
    );
    ensure!(
        differing[1] <= MAX_DIFFERENT,
        "{} tests are accepted by behaviour, more than {MAX_DIFFERENT}",
        differing[1]
    );
    Ok(())
}

/// The same tests on Tokio, run when they are first asked for.
struct Peer<'a> {
    root: &'a Path,
    args: &'a Args,
    results: Option<Results>,
}

impl Peer<'_> {
    fn results(&mut self) -> Result<&Results> {
        let results = match self.results.take() {
            Some(results) => results,
            None => {
                println!("on Tokio:");
                let suites = Project::create(self.root, Side::Tokio)?.build()?;
                let results = run_suites(&suites, self.args)?;
                println!("{} of {} passed", passed(&results), results.len());
                results
            }
        };
        Ok(self.results.insert(results))
    }
}

fn passed(results: &Results) -> usize {
    let passed = results.values().filter(|it| **it == Outcome::Passed);
    passed.count()
}

fn run_suites(suites: &[Suite], args: &Args) -> Result<Results> {
    let mut results = Results::new();
    for suite in suites {
        let limit = Duration::from_secs(args.limit);
        results.extend(run::suite(suite, args.file.as_deref(), limit)?);
    }
    if results.is_empty() {
        bail!(
            "no test file is named {}",
            args.file.as_deref().unwrap_or("at all")
        );
    }
    Ok(results)
}

/// The file in the name of a test.
fn file_of(name: &str) -> &str {
    let path = name.split_once("::").map_or(name, |(file, _)| file);
    path.rsplit('/').next().unwrap_or(path)
}
