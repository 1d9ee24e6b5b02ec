//! Runs tests and models on each mutant.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::argued::Argued;
use super::book::{Book, Kind, Verdict};
use super::copy::Copy;
use super::lab::{Lab, Place};
use super::mutants::Mutant;
use super::suite::{Outcome, Stage, Suite};
use crate::tidy::text;
use crate::workspace::Package;

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

pub(super) struct Run<'a> {
    pub(super) directory: PathBuf,
    /// The tree as it is when the run begins, and with one mutant at a time.
    pub(super) original: Copy,
    pub(super) packages: &'a [Package],
    pub(super) mutants: &'a [Mutant],
    /// What is run on a mutant until something fails.
    pub(super) stages: &'static [Stage],
    /// Whether the crates above the mutant's own are left out.
    pub(super) own: bool,
    /// Whether what earlier runs found out is believed.
    pub(super) resume: bool,
    /// How many mutants run at a time.
    pub(super) jobs: usize,
    /// No mutant starts later.
    pub(super) end: Option<Instant>,
    pub(super) book: Mutex<Book>,
}

/// A stage of one package.
struct Round<'a, 'b> {
    lab: &'b mut Lab<'a>,
    stage: Stage,
    /// What tells the tests from others.
    tests: u64,
}

impl Run<'_> {
    /// What earlier runs found out.
    pub(super) fn known(&self, argued: Option<&Argued>) -> Vec<Verdict> {
        let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |mutant: &Mutant| match book.verdict(mutant) {
            _ if argued.is_some_and(|argued| argued.contains(mutant)) => {
                Verdict::new(Kind::Argued, "")
            }
            Some(earlier) => earlier.clone(),
            None => Verdict::new(Kind::NotRun, ""),
        };
        self.mutants.iter().map(known).collect()
    }

    /// Judges each mutant that has no verdict.
    pub(super) fn judge_all(&self, verdicts: &mut [Verdict]) -> Result<()> {
        let packages: BTreeSet<_> = self.mutants.iter().map(|mutant| &mutant.package).collect();
        for name in packages {
            let package = self.packages.iter().find(|package| package.name == *name);
            let package = package.context("a package of the workspace")?;
            self.judge_package(package, verdicts)
                .with_context(|| name.clone())?;
        }
        Ok(())
    }

    fn judge_package(&self, package: &Package, verdicts: &mut [Verdict]) -> Result<()> {
        let numbered = (1..).zip(self.mutants);
        let mutants: Vec<_> = numbered
            .filter(|(_, mutant)| mutant.package == package.name)
            .collect();
        let judges = match self.own {
            true => vec![package.name.clone()],
            false => judges(self.packages, &package.name),
        };
        let place = Place {
            directory: &self.directory,
            original: &self.original,
            package: &package.name,
            dir: &package.dir,
            judges: &judges,
            mutants: &mutants,
        };
        let tests = fingerprint(&self.original, package)?;
        let mut labs = Vec::<(_, Lab<'_>)>::new();
        for &stage in self.stages {
            let is_open = |verdict: &Verdict| match verdict.kind {
                Kind::NotRun => true,
                Kind::Survived => !has_survived(&verdict.by, tests, stage),
                _ => false,
            };
            let open: Vec<_> = mutants
                .iter()
                .copied()
                .filter(|(id, _)| is_open(&verdicts[id - 1]))
                .collect();
            if open.is_empty() || self.is_over() {
                continue;
            }
            let kind = stage.kind();
            if !labs.iter().any(|(of, _)| *of == kind) {
                labs.push((kind, Lab::new(&place, kind, self.resume)?));
            }
            let (_, lab) = labs
                .iter_mut()
                .find(|(of, _)| *of == kind)
                .context("a lab")?;
            if lab.suites.is_empty() {
                continue;
            }
            self.judge(&mut Round { lab, stage, tests }, open, verdicts)?;
        }
        Ok(())
    }

    /// Runs one stage on the mutants that are open.
    fn judge(
        &self,
        round: &mut Round<'_, '_>,
        open: Vec<(usize, &Mutant)>,
        verdicts: &mut [Verdict],
    ) -> Result<()> {
        let alone = |(id, _): &(usize, &Mutant)| round.lab.left_out.contains_key(id);
        let (alone, together): (Vec<_>, Vec<_>) = open.into_iter().partition(alone);
        let caught_last = AtomicUsize::new(0);
        let suites = &round.lab.suites;
        let mut reached: Vec<_> = suites.iter().map(|suite| suite.reached.clone()).collect();
        let mut left = together;
        // Until the runs have shown no more suites that reach a survivor.
        while !left.is_empty() {
            self.judge_together(round, &left, &reached, &caught_last, verdicts)?;
            let refresh = |suite: &mut Suite| suite.refresh();
            reached = round
                .lab
                .suites
                .iter_mut()
                .map(refresh)
                .collect::<Result<_>>()?;
            left.retain(|(id, _)| {
                verdicts[id - 1].kind == Kind::Survived
                    && reached.iter().any(|reached| reached.contains(id))
            });
        }
        let (unviable, alone): (Vec<_>, Vec<_>) = alone
            .into_iter()
            .partition(|(id, _)| round.lab.left_out[id]);
        for (id, mutant) in unviable {
            verdicts[id - 1] = Verdict::new(Kind::Unviable, "");
            self.note(mutant, &verdicts[id - 1])?;
        }
        for (id, mutant) in alone {
            if self.is_over() {
                break;
            }
            let verdict = self.judge_alone(round, id, mutant)?;
            self.note(mutant, &verdict)?;
            verdicts[id - 1] = verdict;
        }
        Ok(())
    }

    /// Runs, on each mutant, the suites that reach it: for each suite a set of
    /// mutants.
    fn judge_together(
        &self,
        round: &Round<'_, '_>,
        mutants: &[(usize, &Mutant)],
        reached: &[BTreeSet<usize>],
        caught_last: &AtomicUsize,
        verdicts: &mut [Verdict],
    ) -> Result<()> {
        let verdicts = Mutex::new(verdicts);
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            // ORDERING: Relaxed; the number is all that the threads share by it.
            while let Some(&(id, mutant)) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.is_over() {
                    break;
                }
                let mut verdict = round.survived(id);
                // ORDERING: Relaxed; an older place is as good.
                for place in order(&round.lab.suites, caught_last.load(Ordering::Relaxed)) {
                    let suite = &round.lab.suites[place];
                    if reached[place].contains(&id)
                        && let Some(caught) = failure(suite, &suite.run(round.stage, id)?)
                    {
                        caught_last.store(place, Ordering::Relaxed);
                        verdict = caught;
                        break;
                    }
                }
                self.note(mutant, &verdict)?;
                verdicts.lock().unwrap_or_else(PoisonError::into_inner)[id - 1] = verdict;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs).map(|_| scope.spawn(work)).collect();
            let join = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().try_for_each(join)
        })
    }

    /// Builds and runs the suites of a mutant that could not be put in with the
    /// others.
    fn judge_alone(&self, round: &Round<'_, '_>, id: usize, mutant: &Mutant) -> Result<Verdict> {
        let path = &mutant.path;
        let text = fs::read_to_string(self.original.root.join(path))?;
        self.original.write(path, &mutant.apply(&text))?;
        let verdict = || -> Result<Verdict> {
            for suite in &round.lab.suites {
                let Some(program) = round.lab.build_alone(suite)? else {
                    return Ok(Verdict::new(Kind::Unviable, ""));
                };
                let suite = Suite {
                    program,
                    ..suite.clone()
                };
                if let Some(verdict) = failure(&suite, &suite.run(round.stage, 0)?) {
                    return Ok(verdict);
                }
            }
            Ok(round.survived(id))
        };
        let verdict = verdict();
        self.original.write(path, &text)?;
        verdict
    }

    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn note(&self, mutant: &Mutant, verdict: &Verdict) -> Result<()> {
        println!("{:<9} {mutant} -- {}", verdict.kind.name(), verdict.by);
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.note(mutant, verdict)
    }
}

/// The places of the suites, which are in the order of their cost, but the one that caught the
/// last mutant first: most mutants are like those before them.
fn order(suites: &[Suite], caught_last: usize) -> impl Iterator<Item = usize> + use<> {
    let others = (0..suites.len()).filter(move |place| *place != caught_last);
    std::iter::once(caught_last).chain(others)
}

impl Round<'_, '_> {
    fn survived(&self, id: usize) -> Verdict {
        let reached = self
            .lab
            .suites
            .iter()
            .filter(|suite| suite.reached.contains(&id));
        let names: Vec<_> = reached.map(|suite| suite.name.as_str()).collect();
        let names = match names.is_empty() {
            _ if self.lab.left_out.contains_key(&id) => "built alone".to_owned(),
            true => "reached by none".to_owned(),
            false => format!("reached by {}", names.join(", ")),
        };
        let Self { stage, tests, .. } = self;
        let what = format!("{tests:016x} {} {stage:?}: {names}", *stage as usize);
        Verdict::new(Kind::Survived, what)
    }
}

/// Whether a mutant with this verdict has survived a stage of the same tests.
fn has_survived(what: &str, tests: u64, stage: Stage) -> bool {
    let mut words = what.split(' ');
    let same = words.next() == Some(&format!("{tests:016x}"));
    let reached = words.next().and_then(|word| word.parse().ok());
    same && reached.is_some_and(|reached: usize| reached >= stage as usize)
}

/// What tells the tests of a package, which is not about its mutants, from those
/// of another time.
fn fingerprint(original: &Copy, package: &Package) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    for (path, text) in text::sources(&original.root, package)? {
        if path
            .iter()
            .any(|part| part == "tests" || part == "tests.rs")
        {
            (path, text).hash(&mut hasher);
        }
    }
    Ok(hasher.finish())
}

fn failure(suite: &Suite, outcome: &Outcome) -> Option<Verdict> {
    let (kind, test) = match outcome {
        Outcome::AllPassed => return None,
        Outcome::Failed(test) => (Kind::Caught, test),
        Outcome::TimedOut(test) => (Kind::TimedOut, test),
    };
    Some(Verdict::new(kind, format!("{}::{test}", suite.name)))
}

#[cfg(test)]
mod tests;
