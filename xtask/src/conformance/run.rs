//! Runs the tests of a program, each in its own process and with a time limit.

use std::fmt;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rayon::prelude::*;

use super::project::Suite;
use super::{Results, file_of};
use crate::{programs, steps};

/// The time after which a test counts as hanging.
const LIMIT: Duration = Duration::from_secs(120);

/// The status with which a program of tests ends if a test has failed.
const FAILED: i32 = 101;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Or it is ignored.
    Passed,
    Failed,
    /// It was still running at the limit, or its process died during it.
    NotFinished,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Passed => "passes",
            Outcome::Failed => "fails",
            Outcome::NotFinished => "hangs or aborts",
        })
    }
}

/// Runs the tests of a program in files whose name contains `only`. Returns the outcome of each, by
/// `package/file::test`.
pub(super) fn suite(suite: &Suite, only: &str) -> Result<Results> {
    let prefix = &suite.prefix;
    let mut tests = programs::tests(&suite.executable)?;
    tests.retain(|test| file_of(&format!("{prefix}{test}")).contains(only));
    let run = |test: &String| Ok((format!("{prefix}{test}"), outcome(suite, test)?));
    tests.par_iter().with_max_len(1).map(run).collect()
}

fn outcome(suite: &Suite, test: &str) -> Result<Outcome> {
    let mut child = Command::new(&suite.executable)
        .args([test, "--exact"])
        .current_dir(&suite.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", suite.executable.display()))?;
    let (status, _) = steps::wait(&mut child, LIMIT)?;
    Ok(match status {
        Some(status) if status.success() => Outcome::Passed,
        Some(status) if status.code() == Some(FAILED) => Outcome::Failed,
        _ => Outcome::NotFinished,
    })
}
