//! Runs a program of tests, file by file, with a time limit.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read as _, Seek as _};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context as _, Result};
use regex::{Captures, Regex};

use super::Results;
use super::project::Suite;
use crate::{programs, steps};

/// The time after which the tests of one file count as hanging.
const LIMIT: Duration = Duration::from_secs(120);

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    Ignored,
    /// It was still running at the limit, or its process died during it.
    NotFinished,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Passed => "passes",
            Outcome::Failed => "fails",
            Outcome::Ignored => "is ignored",
            Outcome::NotFinished => "hangs or aborts",
        })
    }
}

/// Runs the tests of a program, each file in its own process. Returns the outcome of each test that
/// is not ignored, by `package/file::test`.
pub(super) fn suite(suite: &Suite, only: &str) -> Result<Results> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for test in programs::tests(&suite.executable)? {
        let file = match (&suite.file, test.split_once("::")) {
            (Some(file), _) => file.clone(),
            (None, Some((file, _))) => file.to_owned(),
            (None, None) => continue,
        };
        if file.contains(only) {
            files.entry(file).or_default().push(test);
        }
    }
    let mut results = Results::new();
    for (file, tests) in files {
        let prefix = format!("{file}::");
        // The names of the tests of a program begin with their file if it contains several.
        let (filter, prefix) = match suite.file {
            Some(_) => ("", &*prefix),
            None => (&*prefix, ""),
        };
        let mut outcomes = process(suite, &[filter], LIMIT)?;
        for test in tests {
            // A test that did not finish has prevented others from running. Each of those gets its
            // own process.
            if !outcomes.contains_key(&test) {
                outcomes.extend(process(suite, &[&test, "--exact"], LIMIT / 4)?);
            }
            let outcome = outcomes.get(&test).unwrap_or(&Outcome::NotFinished);
            if *outcome != Outcome::Ignored {
                results.insert(format!("{}/{prefix}{test}", suite.package), *outcome);
            }
        }
    }
    Ok(results)
}

/// Runs the tests that `filter` selects in one process.
fn process(suite: &Suite, filter: &[&str], limit: Duration) -> Result<Results> {
    // Output goes to a file. A pipe would need a thread to read it, and a child process that a test
    // left behind would keep it open.
    let mut printed = tempfile::tempfile()?;
    let mut child = Command::new(&suite.executable)
        .args(filter)
        .args(["--format", "pretty", "--color", "never"])
        .current_dir(&suite.directory)
        .stdin(Stdio::null())
        .stdout(printed.try_clone()?)
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", suite.executable.display()))?;
    steps::wait(&mut child, limit)?;
    let mut text = Vec::new();
    printed.rewind()?;
    printed.read_to_end(&mut text)?;
    Ok(outcomes(&String::from_utf8_lossy(&text)))
}

/// Matches lines such as `test NAME ... ok`. Output of the test itself may come between the dots
/// and the word.
static OUTCOME: LazyLock<Regex> = LazyLock::new(|| {
    let head = r"^test (\S+)(?: - should panic)? \.\.\. ";
    let pattern = format!(r"(?ms){head}.*?(ok|FAILED|ignored[^\n]*)$");
    Regex::new(&pattern).expect("a valid pattern")
});

fn outcomes(text: &str) -> Results {
    let outcome = |found: Captures<'_>| {
        let outcome = match &found[2] {
            "ok" => Outcome::Passed,
            "FAILED" => Outcome::Failed,
            _ => Outcome::Ignored,
        };
        (found[1].to_owned(), outcome)
    };
    OUTCOME.captures_iter(text).map(outcome).collect()
}
