//! Building and running one suite of tests or models of the copy.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::loom;
use crate::steps::cargo;
use crate::tidy::text;
use crate::workspace::Package;

/// The address space that a suite may have, in KiB: a mutant may allocate
/// without end.
const ADDRESS_SPACE: u64 = 16 << 20;

/// The name of the suite of a crate's unit tests.
const UNIT_TESTS: &str = "unit tests";

/// A suite, and how long it takes when nothing is changed.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    pub(crate) package: String,
    /// The directory of the package.
    pub(crate) dir: PathBuf,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Of models with one switch, once it is known.
    pub(crate) time: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Tests,
    Models,
}

/// One round of suites, and how far models are explored in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    Tests,
    /// Models with one involuntary switch.
    Shallow,
    /// Models as each bounds itself.
    Full,
}

impl Stage {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Tests => Kind::Tests,
            Self::Shallow | Self::Full => Kind::Models,
        }
    }
}

/// The suites of one kind that a package has.
pub(crate) fn of(root: &Path, package: &Package, kind: Kind) -> Vec<Suite> {
    let names = match kind {
        Kind::Models => loom::suites(&root.join(&package.dir)).into_iter().collect(),
        Kind::Tests => tests(root, package),
    };
    let suite = |name| Suite {
        package: package.name.clone(),
        dir: root.join(&package.dir),
        name,
        kind,
        time: None,
    };
    names.into_iter().map(suite).collect()
}

/// The names of a package's suites of tests.
fn tests(root: &Path, package: &Package) -> Vec<String> {
    let mut names = Vec::new();
    let sources = text::sources(root, package).unwrap_or_default();
    let has_tests = |text: &str| text.contains("#[cfg(test)]") || text.contains("#[cfg(all(test,");
    if sources.iter().any(|(_, text)| has_tests(text)) {
        names.push(UNIT_TESTS.to_owned());
    }
    let entries = fs::read_dir(root.join(&package.dir).join("tests"));
    for entry in entries.into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if let Some(name) = file.strip_suffix(".rs")
            && !name.starts_with("loom_")
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// How a suite took a mutant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    AllPassed,
    /// The name of the first that failed.
    Failed(String),
    /// The name of the one that did not come to an end.
    TimedOut(String),
    DoesNotCompile,
}

/// Builds a suite and runs it until a test or model fails; models one after the
/// other, and without the canaries, which fail of their own.
pub(crate) fn run(
    root: &Path,
    target: &Path,
    suite: &Suite,
    stage: Stage,
    limit: Duration,
) -> Result<Outcome> {
    let Some(program) = build(root, target, suite)? else {
        return Ok(Outcome::DoesNotCompile);
    };
    let mut tests = Command::new("sh");
    tests.args([
        "-c",
        &format!("ulimit -v {ADDRESS_SPACE}; exec \"$0\" \"$@\""),
    ]);
    tests.arg(program);
    if suite.kind == Kind::Models {
        tests.args(["--skip", "canary", "--test-threads", "1"]);
    }
    match stage {
        Stage::Shallow => tests.env("LOOM_MAX_PREEMPTIONS", "1"),
        Stage::Tests | Stage::Full => tests.env_remove("LOOM_MAX_PREEMPTIONS"),
    };
    let mut child = tests
        // As under cargo.
        .current_dir(&suite.dir)
        .env_remove("RADDLE_LOOM_LONG")
        .env_remove("RADDLE_LOOM_COMPLETE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start the tests")?;
    let stdout = child.stdout.take().context("a child without output")?;
    let words = words_of(stdout);
    let verdict = follow(&words, Instant::now() + limit);
    end(&mut child)?;
    Ok(verdict)
}

/// The program of a suite; None if it does not compile.
pub(crate) fn build(root: &Path, target: &Path, suite: &Suite) -> Result<Option<PathBuf>> {
    let args = ["test", "--no-run", "--message-format", "json"];
    let mut command = cargo(root, &args);
    command.args(["-p", &suite.package]);
    match suite.name.as_str() {
        UNIT_TESTS => command.arg("--lib"),
        name => command.args(["--test", name]),
    };
    if suite.kind == Kind::Models {
        let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        flags.push_str(" --cfg raddle_loom");
        command
            .arg("--release")
            .env("RUSTFLAGS", flags.trim_start());
    }
    let output = command
        .env("CARGO_TARGET_DIR", target)
        // Nobody reads a backtrace of it, and it is built again and again.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_INCREMENTAL", "1")
        .stderr(Stdio::null())
        .output()
        .context("cannot start cargo")?;
    let messages = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        return Ok(None);
    }
    let program = messages.lines().rev().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let program = message["executable"].as_str()?;
        (message["profile"]["test"] == true).then(|| program.into())
    });
    program.context("cargo names no program").map(Some)
}

/// Each word that a child prints, as soon as it is there: a model that does not
/// return, or that ends the process, leaves its line unfinished.
fn words_of(stdout: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, words) = mpsc::channel();
    thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut word = Vec::new();
        while let Ok(1..) = stdout.read_until(b' ', &mut word) {
            let text = String::from_utf8_lossy(&word).into_owned();
            word.clear();
            for part in text.split_inclusive('\n') {
                if sender.send(part.to_owned()).is_err() {
                    // Nobody listens any more; the child must not block.
                    let _ = stdout.read_to_end(&mut Vec::new());
                    return;
                }
            }
        }
    });
    words
}

/// Reads the verdicts of a suite: `test NAME ... ok`, one line each.
fn follow(words: &Receiver<String>, deadline: Instant) -> Outcome {
    let mut name = String::from("no model");
    // The words of the present line; what a model prints is none of a verdict.
    let mut line: Vec<String> = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match words.recv_timeout(left) {
            Ok(word) => {
                line.push(word.trim_end().to_owned());
                let so_far: Vec<_> = line.iter().map(String::as_str).collect();
                match so_far[..] {
                    ["test", "result:"] => return Outcome::AllPassed,
                    ["test", .., "FAILED"] => return Outcome::Failed(name),
                    ["test", started] => started.clone_into(&mut name),
                    _ => {}
                }
                if word.ends_with('\n') {
                    line.clear();
                }
            }
            Err(RecvTimeoutError::Timeout) => return Outcome::TimedOut(name),
            // The process has ended without a verdict: a panic while another
            // unwound, or a fault.
            Err(RecvTimeoutError::Disconnected) => return Outcome::Failed(name),
        }
    }
}

fn end(child: &mut Child) -> Result<()> {
    // It may have ended by itself.
    let _ = child.kill();
    child.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests;
