//! Building and running one suite of models of the copy.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::steps::cargo;

/// A suite, and how long it takes when nothing is changed.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    pub(crate) package: String,
    pub(crate) name: String,
    /// With one switch, once it is known.
    pub(crate) time: Option<Duration>,
}

/// How far the models are explored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Depth {
    /// With one involuntary switch.
    Shallow,
    /// As each model bounds itself.
    Full,
}

/// How the models of a suite took a mutant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    AllPassed,
    /// The name of the first that failed.
    Failed(String),
    /// The name of the one that did not come to an end.
    TimedOut(String),
    DoesNotCompile,
}

/// Builds a suite and runs its models, one after the other until one fails;
/// without the canaries, which fail of their own.
pub(crate) fn run(
    root: &Path,
    target: &Path,
    suite: &Suite,
    depth: Depth,
    limit: Duration,
) -> Result<Outcome> {
    let Some(program) = build(root, target, suite)? else {
        return Ok(Outcome::DoesNotCompile);
    };
    let mut models = Command::new(program);
    match depth {
        Depth::Shallow => models.env("LOOM_MAX_PREEMPTIONS", "1"),
        Depth::Full => models.env_remove("LOOM_MAX_PREEMPTIONS"),
    };
    let mut child = models
        .args(["--skip", "canary", "--test-threads", "1"])
        .current_dir(root)
        .env_remove("RADDLE_LOOM_LONG")
        .env_remove("RADDLE_LOOM_COMPLETE")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start the models")?;
    let stdout = child.stdout.take().context("a child without output")?;
    let words = words_of(stdout);
    let verdict = follow(&words, Instant::now() + limit);
    end(&mut child)?;
    Ok(verdict)
}

/// The program of a suite; None if it does not compile.
fn build(root: &Path, target: &Path, suite: &Suite) -> Result<Option<PathBuf>> {
    let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    flags.push_str(" --cfg raddle_loom");
    let args = ["test", "--no-run", "--release", "--message-format", "json"];
    let output = cargo(root, &args)
        .args(["-p", &suite.package, "--test", &suite.name])
        .env("RUSTFLAGS", flags.trim_start())
        .env("CARGO_TARGET_DIR", target)
        // Nobody reads a backtrace of it, and it is built again and again.
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
        (message["target"]["name"] == *suite.name).then(|| program.into())
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
