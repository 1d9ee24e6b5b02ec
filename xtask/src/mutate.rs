//! `cargo xtask mutate`: checks whether the models and tests find deliberate faults.
//!
//! A mutant is one change of one file that a model or a test should find. The command's own mutants
//! weaken one ordering, or remove one fence or one check before sleeping: see [`mutants`]. The
//! models run on each until one fails: see [`lab`]. With `--logic` the command runs cargo-mutants,
//! which changes the logic of the code.
#![allow(clippy::disallowed_types, reason = "never modelled")]

mod lab;
mod mutants;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::loom::Bound;
use crate::steps::{self, cargo};
use crate::tidy::text::{self, File};
use crate::workspace::{self, Package};
use lab::Lab;
use mutants::Mutant;

/// The page with the mutants that no model can find, and the reason for each.
const PAGE: &str = "docs/mutants.md";

/// The heading of the part of the page that is about other mutants.
const LOGIC: &str = "\n## Logic\n";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, lines of files or crates: crates/queue/src/slot.rs, crates/queue/src/slot.rs:40,
    /// raddle-queue, or queue; otherwise all files without locks, and with --logic all crates with
    /// models
    #[arg(value_name = "FILE[:LINE]|CRATE")]
    only: Vec<String>,

    /// Change the logic instead, with cargo-mutants; the tests of the crate run
    #[arg(long, conflicts_with_all = ["own", "shallow", "argued"])]
    logic: bool,

    /// With --logic, run the models of the crate instead of its tests
    #[arg(long, requires = "logic")]
    models: bool,

    /// List the mutants, and run nothing
    #[arg(long)]
    list: bool,

    /// Run only the models of the mutant's own crate
    #[arg(long)]
    own: bool,

    /// Explore the models with one involuntary switch only
    #[arg(long)]
    shallow: bool,

    /// Skip the mutants that an earlier run has caught
    #[arg(long)]
    resume: bool,

    /// Also run the mutants that the page argues: one that is caught needs no argument
    #[arg(long)]
    argued: bool,

    /// With --logic, further arguments of cargo-mutants
    #[arg(last = true, value_name = "ARGS")]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let packages = workspace::packages()?;
    if args.logic {
        return logic(&packages, args);
    }
    let (files, mutants) = find(&packages, args)?;
    if args.list {
        for mutant in &mutants {
            println!("{mutant}");
        }
        println!("{} mutants", mutants.len());
        return Ok(());
    }
    let page = fs::read_to_string(workspace::root().join(PAGE)).context(PAGE)?;
    let rows = rows(&page);
    let is_argued = |mutant: &Mutant| rows.iter().any(|row| row.starts_with(&mutant.row()));
    let directory = workspace::target().join("mutate");
    let mut lab = Lab::new(&directory, &mutants, args.resume)?;
    let is_open = |(id, mutant): &(usize, &Mutant)| {
        !lab.is_caught(*id) && (args.argued || !is_argued(mutant))
    };
    let mut open: Vec<_> = (1..).zip(&mutants).filter(is_open).collect();
    if !open.is_empty() {
        let mut bounds = vec![Bound::Preemptions(1)];
        bounds.extend((!args.shallow).then_some(Bound::Own));
        lab.build(&packages, args.own)?;
        for bound in bounds {
            lab.judge(&open, bound)?;
            open.retain(|(id, _)| !lab.is_caught(*id));
        }
    }
    let mut counts = BTreeMap::<_, [usize; 4]>::new();
    for (id, mutant) in (1..).zip(&mutants) {
        let kind = match (lab.is_caught(id), is_argued(mutant)) {
            (true, false) => 1,
            (true, true) => {
                println!("needless  {}", mutant.row());
                1
            }
            (false, true) => 2,
            (false, false) => {
                println!("survived  {} line {}", mutant.row(), mutant.line);
                3
            }
        };
        let count = counts.entry(&mutant.path).or_default();
        count[0] += 1;
        count[kind] += 1;
    }
    let mut table = vec!["file\tmutants\tcaught\targued\tsurvived".to_owned()];
    let mut survivors = 0;
    for (file, [all, caught, argued, survived]) in counts {
        survivors += survived;
        let file = file.display();
        table.push(format!("{file}\t{all}\t{caught}\t{argued}\t{survived}"));
    }
    print!("{}", steps::table(&table));
    let stale = stale(&rows, &files, &mutants);
    ensure!(
        survivors == 0,
        "{survivors} mutants survive: write a test or a model, or give a reason in {PAGE}"
    );
    ensure!(
        stale.is_empty(),
        "rows of {PAGE} name no mutant:\n{}",
        stale.join("\n")
    );
    Ok(())
}

/// Runs cargo-mutants with the tests or models of the mutant's crate.
fn logic(packages: &[Package], args: &Args) -> Result<()> {
    ensure!(
        steps::output(&mut cargo("mutants --version")).is_ok(),
        "no cargo-mutants; run cargo install cargo-mutants --locked"
    );
    let status = logic_command(packages, args).status()?;
    // Exit code 3 means that some mutants timed out, which counts as caught, and none survived.
    ensure!(
        matches!(status.code(), Some(0 | 3)),
        "cargo-mutants: {status}; target/mutants.out has the names and the output of the tests"
    );
    Ok(())
}

fn logic_command(packages: &[Package], args: &Args) -> Command {
    let mut mutants = cargo("mutants --no-shuffle --output");
    mutants.arg(workspace::target());
    mutants.args(args.list.then_some("--list"));
    mutants.args(args.resume.then_some("--iterate"));
    for name in &args.only {
        match packages.iter().find(|package| package.is_named(name)) {
            Some(package) => mutants.args(["--package", &package.name]),
            None => mutants.args(["--file", name]),
        };
    }
    if args.only.is_empty() {
        for package in packages.iter().filter(|package| !package.suites.is_empty()) {
            mutants.args(["--package", &package.name]);
        }
    }
    mutants.args(&args.rest);
    match args.models {
        true => {
            steps::set_cfg(&mut mutants, "raddle_loom");
            mutants.args(["--profile", "release", "--", "--test", "loom_*"])
        }
        false => mutants.args(["--all-features", "--", "--lib", "--tests"]),
    };
    mutants
}

/// Returns the files that a user names as a whole, and the mutants in the named files and lines.
fn find(packages: &[Package], args: &Args) -> Result<(BTreeSet<PathBuf>, Vec<Mutant>)> {
    let mut files = BTreeSet::new();
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    for package in packages {
        for (path, text) in text::sources(workspace::root(), package)? {
            let names = |name: &&String| path.ends_with(file_of(name).0) || package.is_named(name);
            let named_here: Vec<_> = args.only.iter().filter(names).collect();
            named.extend(named_here.iter().copied());
            if named_here.is_empty() && !args.only.is_empty() || !mutants::is_mutable(&text) {
                continue;
            }
            let lines = named_here.iter().map(|name| file_of(name).1);
            let lines = lines.collect::<Option<Vec<usize>>>().unwrap_or_default();
            let file = File::new(&package.name, path, &text)?;
            if file.path.starts_with("crates") && !file.is_apart() {
                let mut mutants = mutants::of(&file, &text);
                mutants.retain(|mutant| lines.is_empty() || lines.contains(&mutant.line));
                found.extend(mutants);
                if lines.is_empty() {
                    files.insert(file.path);
                }
            }
        }
    }
    if let Some(stranger) = args.only.iter().find(|name| !named.contains(name)) {
        bail!("{stranger} is neither a file nor a crate of the workspace");
    }
    ensure!(
        !found.is_empty(),
        "no mutants there; cargo xtask mutate --list shows all"
    );
    Ok((files, found))
}

/// Returns the file of a name, and the line if the name has one.
fn file_of(name: &str) -> (&str, Option<usize>) {
    let split = name.rsplit_once(':');
    let split = split.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    split.map_or((name, None), |(file, line)| (file, Some(line)))
}

/// Returns the rows of the page that argue an ordering, a fence or a check.
fn rows(page: &str) -> Vec<&str> {
    let (page, _) = page.split_once(LOGIC).unwrap_or((page, ""));
    let is_row = |line: &&str| line.starts_with("| `crates/");
    page.lines().filter(is_row).collect()
}

/// Returns the rows for these files that name no mutant: the source has changed since.
fn stale<'a>(rows: &[&'a str], files: &BTreeSet<PathBuf>, mutants: &[Mutant]) -> Vec<&'a str> {
    let is_about = |row: &&&str| {
        let path = row.split('`').nth(1).unwrap_or_default();
        files.contains(Path::new(path))
    };
    let is_stale = |row: &&&str| !mutants.iter().any(|mutant| row.starts_with(&mutant.row()));
    let stale = rows.iter().filter(is_about).filter(is_stale);
    stale.copied().collect()
}

#[cfg(test)]
mod tests;
