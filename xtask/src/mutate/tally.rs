//! The table at the end of a run: how many mutants of each file had which verdict.

use std::collections::BTreeMap;
use std::fmt;

use super::book::Kind;
use super::mutants::Mutant;

#[derive(Default)]
pub(super) struct Tally(BTreeMap<String, Row>);

/// How many mutants had each verdict, in the order of [`Kind::ALL`].
type Row = [usize; Kind::ALL.len()];

impl Tally {
    pub(super) fn count(&mut self, mutant: &Mutant, kind: Kind) {
        let file = mutant.path.display().to_string();
        self.0.entry(file).or_default()[kind as usize] += 1;
    }

    /// The number of mutants that do not compile.
    pub(super) fn unviable(&self) -> usize {
        self.0
            .values()
            .map(|row| row[Kind::Unviable as usize])
            .sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{:<44} {:>9}", "file", "mutants")?;
        for kind in Kind::ALL {
            write!(f, " {:>9}", kind.name())?;
        }
        let mut total = Row::default();
        for row in self.0.values() {
            for (sum, number) in total.iter_mut().zip(row) {
                *sum += number;
            }
        }
        let total = ("total".to_owned(), total);
        let rows = self.0.iter().chain(std::iter::once((&total.0, &total.1)));
        for (file, row) in rows {
            write!(f, "\n{file:<44} {:>9}", row.iter().sum::<usize>())?;
            for number in row {
                write!(f, " {number:>9}")?;
            }
        }
        writeln!(f)
    }
}
