//! Runs tests and models on each mutant, in a copy of the tree.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::argued::Argued;
use super::book::{Book, Verdict};
use super::copy::Copy;
use super::mutants::Mutant;
use super::suite::{self, Kind, Outcome, Stage, Suite};
use super::tally::Tally;
use crate::workspace::Package;

/// The time limit of a suite of models, with one switch, beyond five times what
/// it takes without a mutant.
const MORE_FOR_MODELS: Duration = Duration::from_secs(60);

/// The same for a suite of tests.
const MORE_FOR_TESTS: Duration = Duration::from_secs(12);

/// The time limit of a suite that is explored as far as in CI.
const LIMIT_OF_FULL: Duration = Duration::from_secs(1800);

/// The packages whose models may see a mutant of `package`: itself, and those
/// that are built on it.
pub(super) fn judges(packages: &[Package], package: &str) -> Vec<String> {
    let uses = |other: &&Package| {
        let mut uses = other.dependencies.iter().filter(|used| !used.dev);
        uses.any(|used| used.name == package)
    };
    let above = packages.iter().filter(uses).map(|other| other.name.clone());
    std::iter::once(package.to_owned()).chain(above).collect()
}

pub(super) struct Run {
    pub(super) copy: Copy,
    pub(super) target: PathBuf,
    /// By package and kind. The suites that catch most come first, in the course
    /// of time.
    pub(super) suites: BTreeMap<(String, Kind), Vec<Suite>>,
    /// What is run on a mutant until something fails.
    pub(super) stages: &'static [Stage],
    /// Whether the crates above the mutant's own are left out.
    pub(super) own: bool,
    /// Whether argued mutants are run.
    pub(super) argued: bool,
    /// Whether nothing is run, and only earlier verdicts are counted.
    pub(super) known: bool,
}

impl Run {
    /// Judges each mutant, and returns those that survive.
    pub(super) fn judge_all<'a>(
        &mut self,
        packages: &[Package],
        mutants: &'a [Mutant],
        argued: &Argued,
        mut book: Book,
    ) -> Result<(Tally, Vec<&'a Mutant>)> {
        let mut tally = Tally::default();
        let mut survivors = Vec::new();
        for mutant in mutants {
            let start = Instant::now();
            let is_argued = argued.contains(mutant);
            let mut verdict = match book.verdict(mutant) {
                _ if is_argued && !self.argued => Verdict::Argued,
                // New tests may catch a survivor.
                Some(earlier) if self.known || *earlier != Verdict::Survived => earlier.clone(),
                _ if self.known => Verdict::NotRun,
                _ if self.own => self.judge(slice::from_ref(&mutant.package), mutant)?,
                _ => self.judge(&judges(packages, &mutant.package), mutant)?,
            };
            if book.verdict(mutant) != Some(&verdict) {
                book.note(mutant, &verdict)?;
            }
            if is_argued && verdict == Verdict::Survived {
                verdict = Verdict::Argued;
            } else if is_argued && verdict != Verdict::Argued {
                println!("needless  {}", mutant.row());
            }
            if !self.known {
                let seconds = start.elapsed().as_secs_f64();
                println!("{} ({seconds:.0} s)", line(mutant, &verdict));
            }
            tally.count(mutant, &verdict);
            if verdict == Verdict::Survived {
                survivors.push(mutant);
            }
        }
        Ok((tally, survivors))
    }

    fn judge(&mut self, judges: &[String], mutant: &Mutant) -> Result<Verdict> {
        let original = fs::read_to_string(self.copy.root.join(&mutant.path))?;
        let mutated = mutant.apply(&original);
        let verdict = self.run_stages(judges, mutant, &original, &mutated);
        self.copy.write(&mutant.path, &original)?;
        verdict
    }

    fn run_stages(
        &mut self,
        judges: &[String],
        mutant: &Mutant,
        original: &str,
        mutated: &str,
    ) -> Result<Verdict> {
        for judge in judges {
            // Most are caught by the first stage; the later ones take long.
            for &stage in self.stages {
                if !self.is_timed(judge, stage.kind()) {
                    self.copy.write(&mutant.path, original)?;
                    self.time(judge, stage.kind())?;
                }
                self.copy.write(&mutant.path, mutated)?;
                let verdict = self.run_stage(judge, stage)?;
                if verdict != Verdict::Survived {
                    return Ok(verdict);
                }
            }
        }
        Ok(Verdict::Survived)
    }

    /// Runs the suites of a package on the copy as it is, until one fails.
    fn run_stage(&mut self, package: &str, stage: Stage) -> Result<Verdict> {
        let suites = self.suites.get_mut(&(package.to_owned(), stage.kind()));
        let suites = suites.map_or(&mut [][..], Vec::as_mut_slice);
        for place in 0..suites.len() {
            let suite = &suites[place];
            let usual = suite.time.unwrap_or_default() * 5;
            let limit = match stage {
                Stage::Tests => usual + MORE_FOR_TESTS,
                Stage::Shallow => usual + MORE_FOR_MODELS,
                Stage::Full => LIMIT_OF_FULL,
            };
            let verdict = match suite::run(&self.copy.root, &self.target, suite, stage, limit)? {
                Outcome::AllPassed => continue,
                Outcome::Failed(test) => Verdict::Caught(format!("{}::{test}", suite.name)),
                Outcome::TimedOut(test) => Verdict::TimedOut(format!("{}::{test}", suite.name)),
                Outcome::DoesNotCompile => Verdict::DoesNotCompile,
            };
            suites[..=place].rotate_right(1);
            return Ok(verdict);
        }
        Ok(Verdict::Survived)
    }

    fn is_timed(&self, package: &str, kind: Kind) -> bool {
        let suites = self.suites.get(&(package.to_owned(), kind));
        let mut suites = suites.into_iter().flatten();
        suites.all(|suite| suite.time.is_some())
    }

    /// Runs the suites of a package without a mutant, once: a failure then would
    /// catch every mutant. The time sets the limits, and the shortest runs first.
    fn time(&mut self, package: &str, kind: Kind) -> Result<()> {
        let Some(suites) = self.suites.get_mut(&(package.to_owned(), kind)) else {
            return Ok(());
        };
        for suite in &mut *suites {
            let (root, target) = (&self.copy.root, &self.target);
            let stage = match kind {
                Kind::Tests => Stage::Tests,
                Kind::Models => Stage::Shallow,
            };
            suite::build(root, target, suite)?;
            let start = Instant::now();
            let outcome = suite::run(root, target, suite, stage, LIMIT_OF_FULL)?;
            ensure!(
                outcome == Outcome::AllPassed,
                "{package} {} fails without a mutant: {outcome:?}",
                suite.name
            );
            suite.time = Some(start.elapsed());
        }
        suites.sort_by_key(|suite| suite.time);
        Ok(())
    }
}

fn line(mutant: &Mutant, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Caught(test) => format!("caught    {mutant} -- {test}"),
        Verdict::TimedOut(test) => format!("timed out {mutant} -- {test}"),
        Verdict::DoesNotCompile => format!("unviable  {mutant}"),
        Verdict::Survived => format!("SURVIVED  {mutant}"),
        Verdict::Argued => format!("argued    {mutant}"),
        Verdict::NotRun => format!("not run   {mutant}"),
    }
}

/// The suites of models of each package, and its suites of tests.
pub(super) fn suites(root: &Path, packages: &[Package]) -> BTreeMap<(String, Kind), Vec<Suite>> {
    let mut suites = BTreeMap::new();
    for package in packages {
        for kind in [Kind::Tests, Kind::Models] {
            let of_kind = suite::of(root, package, kind);
            suites.insert((package.name.clone(), kind), of_kind);
        }
    }
    suites
}
