//! `cargo xtask mutate`: whether the tests and models see what they are there for.
//!
//! A mutant is one change of one file, which some test should notice. Without
//! `--logic` it is one ordering weakened, one fence or one check before sleeping
//! removed: see [`mutants`]. The models of its crate, and then of the crates that
//! use that one, run until one fails. With `--logic` it is a change of what the
//! code computes: see [`logic`]. The tests of its crate run until one fails, and
//! the models of its crate if none does. All of it happens in a copy of the tree,
//! which has every mutant in it, each behind a switch: see [`schema`] and [`lab`].
#![allow(clippy::disallowed_types, reason = "never modelled")]

mod argued;
mod book;
mod copy;
mod judge;
mod lab;
mod logic;
mod mutants;
mod schema;
mod suite;
mod tally;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::tidy::text::{self, File};
use crate::workspace::{self, Package};
use argued::Argued;
use book::{Book, Kind, Verdict};
use copy::Copy;
use judge::Run;
use mutants::Mutant;
use suite::Stage;
use tally::Tally;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, lines of files or crates: crates/queue/src/slot.rs,
    /// crates/queue/src/slot.rs:40, raddle-queue, or queue; all files without
    /// locks otherwise, and with --logic all crates it is for
    #[arg(value_name = "FILE[:LINE]|CRATE")]
    only: Vec<String>,

    /// Change the logic instead: comparisons, operators, constants, conditions
    /// with their early returns, statements and bodies of functions; the tests
    /// run first, then the models
    #[arg(long)]
    logic: bool,

    /// Show the mutants, and run nothing
    #[arg(long)]
    list: bool,

    /// Ask only the models of the mutant's own crate, not of those above; with
    /// --logic it is always so
    #[arg(long)]
    own: bool,

    /// Explore the models with one involuntary switch only
    #[arg(long)]
    shallow: bool,

    /// With --logic, run no models: a quick first look
    #[arg(long, requires = "logic")]
    no_models: bool,

    /// With --logic, run no tests: to go on with the models where the tests have run
    #[arg(long, requires = "logic", conflicts_with = "no_models")]
    no_tests: bool,

    /// Leave out what an earlier run has seen caught, timed out or not compile,
    /// and what has survived the tests and models as they are now
    #[arg(long)]
    resume: bool,

    /// Run what is argued too: a mutant that is caught needs no argument
    #[arg(long)]
    argued: bool,

    /// Run nothing, and count the verdicts of earlier runs
    #[arg(long)]
    known: bool,

    /// Start no mutant after this many minutes; `--resume` goes on
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
}

impl Args {
    /// What is run on a mutant until something fails.
    fn stages(&self) -> &'static [Stage] {
        let all: &[Stage] = &[Stage::Tests, Stage::Shallow, Stage::Full];
        let first = usize::from(!self.logic || self.no_tests);
        let end = match (self.no_models, self.shallow) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 3,
        };
        &all[first..end]
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let packages = workspace::packages(&root)?;
    if args.list {
        let (_, mutants) = find(&root, &packages, args)?;
        for mutant in &mutants {
            println!("{mutant}");
        }
        println!("{} mutants", mutants.len());
        return Ok(());
    }
    let directory = workspace::target(&root).join("mutate");
    let original = Copy::new(&root, directory.join("tree"))?;
    // The mutants are those of the copy: the tree may be edited meanwhile.
    let (files, mutants) = find(&original.root, &packages, args)?;
    let argued = Argued::read(&root, args.logic)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let resume = args.resume || args.known;
    let run = Run {
        original,
        packages: &packages,
        mutants: &mutants,
        stages: args.stages(),
        own: args.own || args.logic,
        resume,
        // Many hang.
        jobs: 2 * processors,
        end: args
            .minutes
            .map(|minutes| Instant::now() + Duration::from_secs(60 * minutes)),
        book: Mutex::new(Book::open(directory.join("verdicts"), resume)),
        directory,
    };
    let mut verdicts = run.known((!args.argued).then_some(&argued));
    if !args.known {
        run.judge_all(&mut verdicts)?;
    }
    let mut tally = Tally::default();
    let mut open = Vec::new();
    for (mutant, Verdict { mut kind, by }) in mutants.iter().zip(verdicts) {
        match kind {
            Kind::Survived if argued.contains(mutant) => kind = Kind::Argued,
            Kind::Survived => open.push((mutant, by)),
            Kind::Argued | Kind::NotRun => {}
            _ if argued.contains(mutant) => println!("needless  {}", mutant.row()),
            _ => {}
        }
        tally.count(mutant, kind);
    }
    print!("{tally}");
    conclude(args, &tally, &open, &argued.stale(&files, &mutants))
}

/// The files that a user names whole, and the mutants of those files and lines.
fn find(
    root: &Path,
    packages: &[Package],
    args: &Args,
) -> Result<(BTreeSet<PathBuf>, Vec<Mutant>)> {
    let mut files = BTreeSet::new();
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    for package in packages {
        for (path, text) in text::sources(root, package)? {
            let names = |name: &&String| {
                path.ends_with(file_of(name).0)
                    || package.name == **name
                    || package.dir.ends_with(name)
            };
            let named_here: Vec<_> = args.only.iter().filter(names).collect();
            let name = named_here.first();
            let lines: Option<BTreeSet<usize>> =
                named_here.iter().map(|name| file_of(name).1).collect();
            named.extend(named_here.iter().copied());
            let is_default = match args.logic {
                true => logic::is_default(&package.name),
                false => mutants::is_mutable(&text),
            };
            let is_wanted = match args.logic {
                true => name.is_some() || args.only.is_empty() && is_default,
                false => is_default && (name.is_some() || args.only.is_empty()),
            };
            if !is_wanted {
                continue;
            }
            let file = File::new(&package.name, path, &text)?;
            if file.path.starts_with("crates") && !file.is_apart() {
                let mutants = match args.logic {
                    true => logic::of(&file, &text)?,
                    false => mutants::of(&file, &text),
                };
                let lines = lines.filter(|lines| !lines.is_empty());
                if lines.is_none() {
                    files.insert(file.path.clone());
                }
                let is_named = |mutant: &Mutant| {
                    lines
                        .as_ref()
                        .is_none_or(|lines| lines.contains(&mutant.line))
                };
                found.extend(mutants.into_iter().filter(is_named));
            }
        }
    }
    if let Some(stranger) = args.only.iter().find(|name| !named.contains(name)) {
        bail!("{stranger} is no file and no crate of the workspace");
    }
    ensure!(
        !found.is_empty(),
        "no mutants there; cargo xtask mutate --list shows all"
    );
    Ok((files, found))
}

/// The file of a name, and the line if the name has one.
fn file_of(name: &str) -> (&str, Option<usize>) {
    let split = name.rsplit_once(':');
    let split = split.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    split.map_or((name, None), |(file, line)| (file, Some(line)))
}

/// Names the survivors that the list does not argue, as rows for it.
fn conclude(args: &Args, tally: &Tally, open: &[(&Mutant, String)], stale: &[&str]) -> Result<()> {
    for (mutant, what) in open {
        println!("open   {} line {}, {what}", mutant.row(), mutant.line);
    }
    for row in stale {
        println!("stale  {row}");
    }
    let unviable = tally.unviable();
    ensure!(
        args.logic || unviable == 0,
        "{unviable} mutants do not compile"
    );
    ensure!(
        open.is_empty(),
        "{} mutants survive: write a test or a model, or argue them in {}",
        open.len(),
        argued::PAGE
    );
    ensure!(
        stale.is_empty(),
        "{} rows of {} name no mutant",
        stale.len(),
        argued::PAGE
    );
    Ok(())
}

#[cfg(test)]
mod tests;
