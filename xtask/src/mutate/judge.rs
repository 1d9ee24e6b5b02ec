//! Runs tests and models on each mutant.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::argued::Argued;
use super::book::{Book, Verdict};
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
            _ if argued.is_some_and(|argued| argued.contains(mutant)) => Verdict::Argued,
            Some(earlier) => earlier.clone(),
            None => Verdict::NotRun,
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
            let is_open = |verdict: &Verdict| match verdict {
                Verdict::NotRun => true,
                Verdict::Survived(what) => !has_survived(what, tests, stage),
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
        let mut odds = Odds(vec![0.5; round.lab.suites.len()]);
        let suites = &round.lab.suites;
        let mut reached: Vec<_> = suites.iter().map(|suite| suite.reached.clone()).collect();
        let mut left = together;
        // Until the runs have shown no more suites that reach a survivor.
        while !left.is_empty() {
            self.judge_together(round, &left, &reached, &mut odds, verdicts)?;
            let refresh = |suite: &mut Suite| suite.refresh();
            reached = round
                .lab
                .suites
                .iter_mut()
                .map(refresh)
                .collect::<Result<_>>()?;
            left.retain(|(id, _)| {
                matches!(verdicts[id - 1], Verdict::Survived(_))
                    && reached.iter().any(|reached| reached.contains(id))
            });
        }
        let (unviable, alone): (Vec<_>, Vec<_>) = alone
            .into_iter()
            .partition(|(id, _)| round.lab.left_out[id]);
        for (id, mutant) in unviable {
            self.note(mutant, &Verdict::DoesNotCompile)?;
            verdicts[id - 1] = Verdict::DoesNotCompile;
        }
        for (id, mutant) in alone {
            if self.is_over() {
                break;
            }
            let verdict = self.judge_alone(round, &odds, id, mutant)?;
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
        odds: &mut Odds,
        verdicts: &mut [Verdict],
    ) -> Result<()> {
        let shared = Mutex::new((odds, verdicts));
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            // ORDERING: Relaxed; the number is all that the threads share by it.
            while let Some(&(id, mutant)) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.is_over() {
                    break;
                }
                let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
                let mut verdict = None;
                let order = lock().0.order(&round.lab.suites);
                for place in order {
                    let suite = &round.lab.suites[place];
                    if reached[place].contains(&id) {
                        verdict = failure(suite, &suite.run(round.stage, id)?);
                        lock().0.note(place, verdict.is_some());
                    }
                    if verdict.is_some() {
                        break;
                    }
                }
                let verdict = verdict.unwrap_or_else(|| round.survived(id));
                self.note(mutant, &verdict)?;
                lock().1[id - 1] = verdict;
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
    fn judge_alone(
        &self,
        round: &Round<'_, '_>,
        odds: &Odds,
        id: usize,
        mutant: &Mutant,
    ) -> Result<Verdict> {
        let path = &mutant.path;
        let text = fs::read_to_string(self.original.root.join(path))?;
        self.original.write(path, &mutant.apply(&text))?;
        let verdict = || -> Result<Verdict> {
            for place in odds.order(&round.lab.suites) {
                let suite = &round.lab.suites[place];
                let Some(program) = round.lab.build_alone(suite)? else {
                    return Ok(Verdict::DoesNotCompile);
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
        println!("{}", line(mutant, verdict));
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.note(mutant, verdict)
    }
}

/// How likely each suite is to catch the next mutant, by what it has caught of
/// late: most mutants are like those before them.
struct Odds(Vec<f64>);

impl Odds {
    /// The order that takes least time on average.
    fn order(&self, suites: &[Suite]) -> Vec<usize> {
        let price = |place: usize| {
            let start = Duration::from_millis(20);
            (suites[place].usual.processor + start).as_secs_f64() / self.0[place]
        };
        let mut order: Vec<_> = (0..suites.len()).collect();
        order.sort_by(|&one, &other| price(one).total_cmp(&price(other)));
        order
    }

    fn note(&mut self, place: usize, has_caught: bool) {
        let odds = &mut self.0[place];
        *odds = 0.85 * *odds + if has_caught { 0.15 } else { 0.002 };
    }
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
        Verdict::Survived(format!(
            "{tests:016x} {} {stage:?}: {names}",
            *stage as usize
        ))
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
    match outcome {
        Outcome::AllPassed => None,
        Outcome::Failed(test) => Some(Verdict::Caught(format!("{}::{test}", suite.name))),
        Outcome::TimedOut(test) => Some(Verdict::TimedOut(format!("{}::{test}", suite.name))),
    }
}

fn line(mutant: &Mutant, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Caught(test) => format!("caught    {mutant} -- {test}"),
        Verdict::TimedOut(test) => format!("timed out {mutant} -- {test}"),
        Verdict::DoesNotCompile => format!("unviable  {mutant}"),
        Verdict::Survived(what) => format!("SURVIVED  {mutant} -- {what}"),
        Verdict::Argued => format!("argued    {mutant}"),
        Verdict::NotRun => format!("not run   {mutant}"),
    }
}

#[cfg(test)]
mod tests;
