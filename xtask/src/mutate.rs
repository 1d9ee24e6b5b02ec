//! `cargo xtask mutate`: whether the models see what they are there for.
//!
//! Each mutant of the files without locks is one ordering weakened, one fence
//! or one check before sleeping removed: see [`mutants`]. The models of its
//! crate, and then of the crates that use that one, run until one fails. All of
//! it happens in a copy of the tree.

mod copy;
mod mutants;
mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::loom;
use crate::tidy::text::{self, File};
use crate::workspace::{self, Package};
use copy::Copy;
use mutants::Mutant;
use suite::{Depth, Outcome, Suite};

/// Where the survivors are argued, one in a row of a table.
const ARGUED_IN: &str = "docs/memory-ordering.md";

/// What a suite may take, with one switch, beyond five times what it takes
/// without a mutant.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a suite may take when it is explored as far as in CI.
const PATIENCE_IF_FULL: Duration = Duration::from_secs(1800);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files or crates: crates/queue/src/slot.rs, raddle-queue, or queue; all
    /// files without locks otherwise
    #[arg(value_name = "FILE|CRATE")]
    only: Vec<String>,

    /// Show the mutants, and run nothing
    #[arg(long)]
    list: bool,

    /// Ask only the models of the mutant's own crate, not of those above
    #[arg(long)]
    own: bool,

    /// Leave out what an earlier run has seen caught
    #[arg(long)]
    resume: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let packages = workspace::packages(&root)?;
    if args.list {
        let mutants = find(&root, &packages, &args.only)?;
        for mutant in &mutants {
            println!("{mutant}");
        }
        println!("{} mutants", mutants.len());
        return Ok(());
    }
    let directory = loom::target(&root).with_file_name("mutate");
    let copy = Copy::new(&root, directory.join("tree"))?;
    // Of the copy: the tree may be edited meanwhile.
    let mutants = find(&copy.root, &packages, &args.only)?;
    let mut run = Run {
        suites: suites(&copy.root, &packages),
        copy,
        target: directory.join("target"),
        own: args.own,
        unviable: 0,
    };
    let book = Book::open(directory.join("caught"), args.resume)?;
    let survivors = run.judge_all(&packages, &mutants, book)?;
    conclude(&root, &survivors, run.unviable)
}

/// The mutants of the files that a user names.
fn find(root: &Path, packages: &[Package], only: &[String]) -> Result<Vec<Mutant>> {
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    for package in packages {
        for (path, text) in text::sources(root, package)? {
            let names = |name: &&String| {
                path.ends_with(name) || package.name == **name || package.dir.ends_with(name)
            };
            let name = only.iter().find(names);
            named.extend(name);
            if !(only.is_empty() || name.is_some()) || !mutants::is_mutable(&text) {
                continue;
            }
            let file = File::new(&package.name, path, &text)?;
            if file.path.starts_with("crates") && !file.is_apart() {
                found.extend(mutants::of(&file, &text));
            }
        }
    }
    if let Some(stranger) = only.iter().find(|name| !named.contains(name)) {
        bail!("{stranger} is no file and no crate of the workspace");
    }
    ensure!(
        !found.is_empty(),
        "no mutants there; cargo xtask mutate --list shows all"
    );
    Ok(found)
}

/// The suites of each package.
fn suites(root: &Path, packages: &[Package]) -> BTreeMap<String, Vec<Suite>> {
    let of = |package: &Package| {
        loom::suites(&root.join(&package.dir))
            .into_iter()
            .map(|name| Suite {
                package: package.name.clone(),
                name,
                time: None,
            })
            .collect()
    };
    packages
        .iter()
        .map(|package| (package.name.clone(), of(package)))
        .collect()
}

/// Whose models may see a mutant of `package`: its own, and those of the crates
/// that are built on it.
fn judges(packages: &[Package], package: &str) -> Vec<String> {
    let uses = |other: &&Package| {
        let mut uses = other.dependencies.iter().filter(|used| !used.dev);
        uses.any(|used| used.name == package)
    };
    let above = packages.iter().filter(uses).map(|other| other.name.clone());
    std::iter::once(package.to_owned()).chain(above).collect()
}

/// What became of one mutant.
enum Verdict {
    /// By the model of this name, or because it did not end.
    Caught(String),
    Survived,
}

struct Run {
    copy: Copy,
    target: PathBuf,
    /// Those that catch most come first, in the course of time.
    suites: BTreeMap<String, Vec<Suite>>,
    /// Whether the crates above are left out.
    own: bool,
    unviable: usize,
}

impl Run {
    /// Judges each mutant, and gives those that survive.
    fn judge_all<'a>(
        &mut self,
        packages: &[Package],
        mutants: &'a [Mutant],
        mut book: Book,
    ) -> Result<Vec<&'a Mutant>> {
        let mut tally = BTreeMap::<PathBuf, [usize; 2]>::new();
        let mut survivors = Vec::new();
        for mutant in mutants {
            let of_file = tally.entry(mutant.path.clone()).or_default();
            of_file[0] += 1;
            let start = Instant::now();
            let verdict = match book.caught.get(&mutant.key()) {
                Some(model) => Verdict::Caught(model.clone()),
                None if self.own => self.judge(slice::from_ref(&mutant.package), mutant)?,
                None => self.judge(&judges(packages, &mutant.package), mutant)?,
            };
            let seconds = start.elapsed().as_secs_f64();
            match verdict {
                Verdict::Caught(model) => {
                    of_file[1] += 1;
                    println!("caught    {mutant} -- {model} ({seconds:.0} s)");
                    book.note(mutant, &model)?;
                }
                Verdict::Survived => {
                    println!("SURVIVED  {mutant} ({seconds:.0} s)");
                    survivors.push(mutant);
                }
            }
        }
        println!("\n{:<44} {:>8} {:>8}", "file", "mutants", "caught");
        for (path, [all, caught]) in &tally {
            println!("{:<44} {all:>8} {caught:>8}", path.display());
        }
        Ok(survivors)
    }

    fn judge(&mut self, judges: &[String], mutant: &Mutant) -> Result<Verdict> {
        let original = fs::read_to_string(self.copy.root.join(&mutant.path))?;
        let mutated = mutant.apply(&original);
        let mut verdict = Verdict::Survived;
        for judge in judges {
            // The copy is whole when the suites are timed.
            self.copy.write(&mutant.path, &original)?;
            self.time(judge)?;
            self.copy.write(&mutant.path, &mutated)?;
            // Most are seen at once; what is left takes long.
            for depth in [Depth::Shallow, Depth::Full] {
                if let Some(model) = self.ask(judge, depth)? {
                    verdict = Verdict::Caught(model);
                    break;
                }
            }
            if matches!(verdict, Verdict::Caught(_)) {
                break;
            }
        }
        self.copy.write(&mutant.path, &original)?;
        Ok(verdict)
    }

    /// Runs the suites of a package on what the copy now is, until a model fails.
    fn ask(&mut self, package: &str, depth: Depth) -> Result<Option<String>> {
        let Some(suites) = self.suites.get_mut(package) else {
            return Ok(None);
        };
        for place in 0..suites.len() {
            let suite = &suites[place];
            let limit = match depth {
                Depth::Shallow => suite.time.unwrap_or_default() * 5 + PATIENCE,
                Depth::Full => PATIENCE_IF_FULL,
            };
            let model = match suite::run(&self.copy.root, &self.target, suite, depth, limit)? {
                Outcome::AllPassed => continue,
                Outcome::Failed(model) => format!("{}::{model}", suite.name),
                Outcome::TimedOut(model) => format!("{}::{model}, time-out", suite.name),
                Outcome::DoesNotCompile => {
                    self.unviable += 1;
                    "does not compile".to_owned()
                }
            };
            suites[..=place].rotate_right(1);
            return Ok(Some(model));
        }
        Ok(None)
    }

    /// Runs the suites of a package on what is not changed, once: a failure
    /// then would catch every mutant, and the time is a measure for the others.
    fn time(&mut self, package: &str) -> Result<()> {
        for suite in self.suites.get_mut(package).into_iter().flatten() {
            if suite.time.is_some() {
                continue;
            }
            let start = Instant::now();
            let (root, target) = (&self.copy.root, &self.target);
            let outcome = suite::run(root, target, suite, Depth::Shallow, PATIENCE_IF_FULL)?;
            ensure!(
                outcome == Outcome::AllPassed,
                "{} {} fails without a mutant: {outcome:?}; see cargo xtask loom {}",
                suite.package,
                suite.name,
                suite.package
            );
            suite.time = Some(start.elapsed());
        }
        Ok(())
    }
}

/// Names the survivors that nobody has argued.
fn conclude(root: &Path, survivors: &[&Mutant], unviable: usize) -> Result<()> {
    let page = fs::read_to_string(root.join(ARGUED_IN)).context(ARGUED_IN)?;
    let (argued, open): (Vec<&Mutant>, Vec<&Mutant>) = survivors
        .iter()
        .partition(|mutant| is_argued(&page, mutant));
    for mutant in &argued {
        println!("argued    {mutant}");
    }
    for mutant in &open {
        println!("open      {mutant}");
    }
    ensure!(unviable == 0, "{unviable} mutants do not compile");
    ensure!(
        open.is_empty(),
        "{} mutants survive: write a model, or argue them in {ARGUED_IN}",
        open.len()
    );
    Ok(())
}

/// Whether a row of a table names the file, the function and the change.
fn is_argued(page: &str, mutant: &Mutant) -> bool {
    let path = mutant.path.display();
    let row = format!("| `{path}` | `{}` | {} |", mutant.function, mutant.change);
    page.lines().any(|line| line.starts_with(&row))
}

/// What was caught, by which model; kept for `--resume`.
struct Book {
    caught: BTreeMap<String, String>,
    path: PathBuf,
}

impl Book {
    fn open(path: PathBuf, resume: bool) -> Result<Self> {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        let mut caught = BTreeMap::new();
        if resume {
            caught.extend(lines.map(|(key, model)| (key.to_owned(), model.to_owned())));
        }
        Ok(Self { caught, path })
    }

    fn note(&mut self, mutant: &Mutant, model: &str) -> Result<()> {
        if self.caught.insert(mutant.key(), model.to_owned()).is_none() {
            let mut file = fs::File::options()
                .create(true)
                .append(true)
                .open(&self.path)?;
            writeln!(file, "{}\t{model}", mutant.key())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
