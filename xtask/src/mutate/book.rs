//! The verdicts of earlier runs, kept for `--resume` and `--known`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;

use super::mutants::Mutant;

/// The result of running tests and models on one mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A test or a model of this name failed.
    Caught(String),
    /// This test or model did not end in time.
    TimedOut(String),
    DoesNotCompile,
    /// What has run: [`super::judge`] words it.
    Survived(String),
    /// The list says why no test can see it.
    Argued,
    NotRun,
}

impl Verdict {
    fn words(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Caught(name) => Some(("caught", name)),
            Self::TimedOut(name) => Some(("timed out", name)),
            Self::DoesNotCompile => Some(("does not compile", "")),
            Self::Survived(what) => Some(("survived", what)),
            Self::Argued | Self::NotRun => None,
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
        let Some((word, name)) = verdict.words() else {
            return Ok(());
        };
        let mut file = fs::File::options()
            .create(true)
            .append(true)
            .open(&self.path)?;
        writeln!(file, "{}\t{word}\t{name}", mutant.key())?;
        self.verdicts.insert(mutant.key(), verdict.clone());
        Ok(())
    }
}

fn parse(line: &str) -> Option<(String, Verdict)> {
    let mut cells = line.split('\t');
    let (key, word, name) = (cells.next()?, cells.next()?, cells.next()?);
    let verdict = match word {
        "caught" => Verdict::Caught(name.to_owned()),
        "timed out" => Verdict::TimedOut(name.to_owned()),
        "does not compile" => Verdict::DoesNotCompile,
        "survived" => Verdict::Survived(name.to_owned()),
        _ => return None,
    };
    Some((key.to_owned(), verdict))
}

#[cfg(test)]
mod tests;
