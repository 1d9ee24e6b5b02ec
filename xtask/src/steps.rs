//! Running commands one after the other: shown, timed, stopped at the first failure.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::workspace;

thread_local! {
    /// The steps that have run: names, durations, and whether they passed.
    static FINISHED: RefCell<Vec<(String, Duration, bool)>> = const { RefCell::new(Vec::new()) };
}

/// Runs a command as a step, with its output left on the terminal.
pub(crate) fn run(name: &str, command: &mut Command) -> Result<()> {
    step(name, &line_of(command), || succeed(command))
}

/// Runs `body` as a step, which the command line `shown` would repeat.
pub(crate) fn step(name: &str, shown: &str, body: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n== {name}\n$ {shown}");
    let start = Instant::now();
    let result = body();
    let step = (name.to_owned(), start.elapsed(), result.is_ok());
    FINISHED.with_borrow_mut(|steps| steps.push(step));
    result.with_context(|| format!("step \"{name}\" failed"))
}

/// The table of the steps that have run; nothing if none has.
pub(crate) fn summary() -> String {
    let steps = FINISHED.take();
    let total: Duration = steps.iter().map(|(_, duration, _)| *duration).sum();
    let row = |(name, duration, passed): &(String, Duration, bool)| {
        let mark = if *passed { "" } else { "failed" };
        format!("{name}\t{:.1}\t{mark}", duration.as_secs_f64())
    };
    let mut rows = vec!["step\tseconds\t".to_owned()];
    rows.extend(steps.iter().map(row));
    rows.push(format!("total\t{:.1}\t", total.as_secs_f64()));
    match steps.is_empty() {
        true => String::new(),
        false => table(&rows),
    }
}

/// Aligns rows, whose cells tabs separate, in columns: the first to the left and the others to the
/// right. An empty line comes first.
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

/// A cargo command at the root of the workspace; blanks separate its arguments.
pub(crate) fn cargo(line: impl AsRef<str>) -> Command {
    cargo_in(workspace::root(), line)
}

/// A cargo command in a directory; blanks separate its arguments.
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

/// Runs a command, not as a step of its own, and returns what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = line_of(command);
    let output = command.output();
    let output = output.with_context(|| format!("cannot start {shown}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let status = output.status;
    ensure!(status.success(), "{shown}: {status}\n{errors}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command, not as a step of its own, with its output left on the terminal.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let shown = line_of(command);
    let status = command.status();
    let status = status.with_context(|| format!("cannot start {shown}"))?;
    ensure!(status.success(), "{shown}: {status}");
    Ok(())
}

/// Checks, as a step, that none of the normal dependencies that `cargo tree` lists for `args`, and
/// theirs, `is_forbidden`.
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

/// Prints findings, and fails if there are any; `cure` says what to do.
pub(crate) fn report(findings: &[String], cure: &str) -> Result<()> {
    for finding in findings {
        println!("{finding}");
    }
    ensure!(findings.is_empty(), "{} findings; {cure}", findings.len());
    Ok(())
}

/// How often [`wait`] asks whether a process has ended.
const INTERVAL: Duration = Duration::from_millis(5);

/// Waits for a process, and kills it at the limit: it has no status then. Counts intervals, since
/// the time in which this process was stopped does not count.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> Result<(Option<ExitStatus>, Duration)> {
    let mut time = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), time));
        }
        if time > limit {
            // It may have ended just now.
            let _ = child.kill();
            child.wait()?;
            return Ok((None, time));
        }
        thread::sleep(INTERVAL);
        time += INTERVAL;
    }
}

/// The command as one would type it, with the variables it sets.
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

#[cfg(test)]
mod tests;
