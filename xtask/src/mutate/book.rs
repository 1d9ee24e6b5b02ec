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
    Survived,
    /// The list says why no test can see it.
    Argued,
    NotRun,
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
        let (word, name) = match verdict {
            Verdict::Caught(name) => ("caught", name.as_str()),
            Verdict::TimedOut(name) => ("timed out", name.as_str()),
            Verdict::DoesNotCompile => ("does not compile", ""),
            Verdict::Survived => ("survived", ""),
            Verdict::Argued | Verdict::NotRun => return Ok(()),
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
        "survived" => Verdict::Survived,
        _ => return None,
    };
    Some((key.to_owned(), verdict))
}

#[cfg(test)]
mod tests;
