//! The verdicts of earlier runs, kept for `--resume` and `--known`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;

use super::mutants::Mutant;

/// What came of running tests and models on a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A test or a model failed.
    Caught,
    /// A test or a model did not end in time.
    TimedOut,
    Unviable,
    /// The list says why no test can see it.
    Argued,
    Survived,
    NotRun,
}

impl Kind {
    pub(super) const ALL: [Self; 6] = [
        Self::Caught,
        Self::TimedOut,
        Self::Unviable,
        Self::Argued,
        Self::Survived,
        Self::NotRun,
    ];

    /// The column of the table, and the word in the file of verdicts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Caught => "caught",
            Self::TimedOut => "timed out",
            Self::Unviable => "unviable",
            Self::Argued => "argued",
            Self::Survived => "survived",
            Self::NotRun => "not run",
        }
    }
}

/// The result of running tests and models on one mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) kind: Kind,
    /// The test or model that has caught it or timed out; of a survivor what has run, in the words
    /// of [`super::judge`].
    pub(super) by: String,
}

impl Verdict {
    pub(super) fn new(kind: Kind, by: impl Into<String>) -> Self {
        Self {
            kind,
            by: by.into(),
        }
    }
}

/// One line a verdict: the mutant's key, the verdict and the name of a test.
#[derive(Debug)]
pub(super) struct Book {
    verdicts: BTreeMap<String, Verdict>,
    path: PathBuf,
}

impl Book {
    pub(super) fn open(path: PathBuf, resume: bool) -> Self {
        let mut verdicts = BTreeMap::new();
        if resume {
            let text = fs::read_to_string(&path).unwrap_or_default();
            verdicts.extend(text.lines().filter_map(parse));
        }
        Self { verdicts, path }
    }

    pub(super) fn verdict(&self, mutant: &Mutant) -> Option<&Verdict> {
        self.verdicts.get(&mutant.key())
    }

    pub(super) fn note(&mut self, mutant: &Mutant, verdict: &Verdict) -> Result<()> {
        let mut options = fs::File::options();
        let mut file = options.create(true).append(true).open(&self.path)?;
        let (key, kind) = (mutant.key(), verdict.kind.name());
        writeln!(file, "{key}\t{kind}\t{}", verdict.by)?;
        self.verdicts.insert(key, verdict.clone());
        Ok(())
    }
}

fn parse(line: &str) -> Option<(String, Verdict)> {
    let mut cells = line.split('\t');
    let (key, word, by) = (cells.next()?, cells.next()?, cells.next()?);
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == word)?;
    Some((key.to_owned(), Verdict::new(kind, by)))
}

#[cfg(test)]
mod tests;
