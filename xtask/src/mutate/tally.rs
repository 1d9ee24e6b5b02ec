//! The table at the end of a run: how many mutants of each file had which verdict.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::book::Verdict;
use super::mutants::Mutant;

const COLUMNS: [&str; 7] = [
    "mutants",
    "caught",
    "timed out",
    "unviable",
    "argued",
    "open",
    "not run",
];

#[derive(Default)]
pub(super) struct Tally {
    files: BTreeMap<PathBuf, [usize; COLUMNS.len()]>,
}

impl Tally {
    pub(super) fn count(&mut self, mutant: &Mutant, verdict: &Verdict) {
        let row = self.files.entry(mutant.path.clone()).or_default();
        row[0] += 1;
        row[column(verdict)] += 1;
    }

    /// The number of mutants that do not compile.
    pub(super) fn unviable(&self) -> usize {
        let column = column(&Verdict::DoesNotCompile);
        self.files.values().map(|row| row[column]).sum()
    }
}

fn column(verdict: &Verdict) -> usize {
    match verdict {
        Verdict::Caught(_) => 1,
        Verdict::TimedOut(_) => 2,
        Verdict::DoesNotCompile => 3,
        Verdict::Argued => 4,
        Verdict::Survived(_) => 5,
        Verdict::NotRun => 6,
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{:<44}", "file")?;
        for name in COLUMNS {
            write!(f, " {name:>9}")?;
        }
        writeln!(f)?;
        let mut total = [0; COLUMNS.len()];
        for (path, row) in &self.files {
            write!(f, "{:<44}", path.display())?;
            for (sum, number) in total.iter_mut().zip(row) {
                *sum += number;
                write!(f, " {number:>9}")?;
            }
            writeln!(f)?;
        }
        write!(f, "{:<44}", "total")?;
        for number in total {
            write!(f, " {number:>9}")?;
        }
        writeln!(f)
    }
}
