//! Runs commands one after the other: shows and times them, and stops at the first failure.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::workspace;

thread_local! {
    /// The steps: names, durations, and a word for each that has not passed.
    static FINISHED: RefCell<Vec<(String, Duration, &str)>> = const { RefCell::new(Vec::new()) };
}

/// Runs a command as a step. Its output goes to the terminal.
pub(crate) fn run(name: &str, command: &mut Command) -> Result<()> {
    step(name, &line_of(command), || succeed(command))
}

/// Runs `body` as a step. `shown` is the command line that would repeat it.
pub(crate) fn step(name: &str, shown: &str, body: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n== {name}\n$ {shown}");
    let start = Instant::now();
    let result = body();
    finish(
        name,
        start.elapsed(),
        if result.is_ok() { "" } else { "failed" },
    );
    result.with_context(|| format!("step \"{name}\" failed"))
}

/// Lists a step that has not run.
pub(crate) fn skipped(name: &str) {
    finish(name, Duration::ZERO, "skipped");
}

fn finish(name: &str, duration: Duration, word: &'static str) {
    FINISHED.with_borrow_mut(|steps| steps.push((name.to_owned(), duration, word)));
}

/// Returns the table of the steps that have run; empty if none has run.
pub(crate) fn summary() -> String {
    let steps = FINISHED.take();
    let total: Duration = steps.iter().map(|(_, duration, _)| *duration).sum();
    let row = |(name, duration, word): &(String, Duration, &str)| {
        format!("{name}\t{:.1}\t{word}", duration.as_secs_f64())
    };
    let mut rows = vec!["step\tseconds\t".to_owned()];
    rows.extend(steps.iter().map(row));
    rows.push(format!("total\t{:.1}\t", total.as_secs_f64()));
    match steps.is_empty() {
        true => String::new(),
        false => table(&rows),
    }
}

/// Aligns rows in columns: the first to the left and the others to the right. Tabs separate the
/// cells of a row. An empty line comes first.
pub(crate) fn table(rows: &[String]) -> String {
    let mut widths = Vec::<usize>::new();
    for row in rows {
        for (column, cell) in row.split('\t').enumerate() {
            widths.resize(widths.len().max(column + 1), 0);
            widths[column] = widths[column].max(cell.chars().count());
        }
    }
    let mut table = String::from("\n");
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.split('\t').zip(widths.iter().copied()).enumerate() {
            line += &match column {
                0 => format!("{cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            };
        }
        table += line.trim_end();
        table.push('\n');
    }
    table
}

/// Makes a cargo command that runs at the root of the workspace. Spaces separate its arguments.
pub(crate) fn cargo(line: impl AsRef<str>) -> Command {
    cargo_in(workspace::root(), line)
}

/// Makes a cargo command that runs in a directory. Spaces separate its arguments.
pub(crate) fn cargo_in(directory: &Path, line: impl AsRef<str>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory);
    command.args(line.as_ref().split_whitespace());
    command
}

/// Makes a cargo command compile with a cfg, in addition to the flags of the environment.
pub(crate) fn set_cfg(command: &mut Command, cfg: &str) {
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    command.env("RUSTFLAGS", format!("{flags} --cfg {cfg}").trim_start());
}

/// Runs a command outside the list of steps, and returns its output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = line_of(command);
    let output = command.output();
    let output = output.with_context(|| format!("cannot start {shown}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let status = output.status;
    ensure!(status.success(), "{shown}: {status}\n{errors}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command outside the list of steps. Its output goes to the terminal.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let shown = line_of(command);
    let status = command.status();
    let status = status.with_context(|| format!("cannot start {shown}"))?;
    ensure!(status.success(), "{shown}: {status}");
    Ok(())
}

/// Checks, as a step, that no normal dependency, direct or indirect, that `cargo tree` lists for
/// `args` is one that `is_forbidden`.
pub(crate) fn tree(name: &str, args: &str, is_forbidden: impl Fn(&str) -> bool) -> Result<()> {
    let mut tree = cargo(format!("tree {args} -e normal --prefix none"));
    step(name, &line_of(&tree), || {
        let listing = output(&mut tree)?;
        let names = listing.lines().filter_map(|line| line.split(' ').next());
        let forbidden: Vec<_> = names.filter(|name| is_forbidden(name)).collect();
        let names = forbidden.join(", ");
        ensure!(forbidden.is_empty(), "{args} pulls in {names}");
        Ok(())
    })
}

/// Fails with the findings, if there are any; `cure` says how to correct them.
pub(crate) fn report(findings: &[String], cure: &str) -> Result<()> {
    let count = findings.len();
    ensure!(
        count == 0,
        "{count} findings; {cure}\n{}",
        findings.join("\n")
    );
    Ok(())
}

/// The time between two checks whether a process has ended.
const INTERVAL: Duration = Duration::from_millis(5);

/// Waits for a process, and kills it at the limit: then it has no status. Counts intervals, so that
/// time in which this process was stopped does not count.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> Result<(Option<ExitStatus>, Duration)> {
    let mut time = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), time));
        }
        if time > limit {
            // It may have ended since the last check.
            let _ = child.kill();
            child.wait()?;
            return Ok((None, time));
        }
        thread::sleep(INTERVAL);
        time += INTERVAL;
    }
}

/// Returns the command as one would type it, with the variables that it sets.
pub(crate) fn line_of(command: &Command) -> String {
    let quoted = |word: &OsStr| match word.to_string_lossy() {
        word if word.contains([' ', '*']) => format!("'{word}'"),
        word => word.into_owned(),
    };
    let set = command.get_envs().filter_map(|(name, value)| {
        let value = quoted(value?);
        Some(format!("{}={value}", name.to_string_lossy()))
    });
    let program = Path::new(command.get_program());
    let shown = match program.file_name() {
        Some(name) if program.is_absolute() => name,
        _ => program.as_os_str(),
    };
    let words = [shown].into_iter().chain(command.get_args()).map(quoted);
    set.chain(words).collect::<Vec<_>>().join(" ")
}
