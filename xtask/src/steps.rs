//! Running commands one after the other: shown, timed, stopped at the first
//! failure.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// The steps of one command that have run so far.
#[derive(Default)]
pub(crate) struct Steps {
    finished: Vec<Step>,
}

struct Step {
    name: String,
    duration: Duration,
    passed: bool,
}

/// Runs `body`, then prints how long each of its steps took, also when one failed.
pub(crate) fn summarized(body: impl FnOnce(&mut Steps) -> Result<()>) -> Result<()> {
    let mut steps = Steps::default();
    let result = body(&mut steps);
    print!("{}", steps.table());
    result
}

impl Steps {
    /// Runs a command with its output left on the terminal.
    pub(crate) fn run(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let shown = line_of(command);
        self.step(name, &shown, || succeed(command))
    }

    /// Runs `body`, which the command line `shown` would repeat.
    pub(crate) fn step(
        &mut self,
        name: &str,
        shown: &str,
        body: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        println!("\n== {name}\n$ {shown}");
        let start = Instant::now();
        let result = body();
        self.finished.push(Step {
            name: name.to_owned(),
            duration: start.elapsed(),
            passed: result.is_ok(),
        });
        result.with_context(|| format!("step \"{name}\" failed"))
    }

    fn table(&self) -> String {
        let seconds = |time: Duration| format!("{:.1}", time.as_secs_f64());
        let mut rows = vec![["step", "seconds", ""].map(str::to_owned)];
        for Step {
            name,
            duration,
            passed,
        } in &self.finished
        {
            let mark = if *passed { "" } else { "failed" };
            rows.push([name.clone(), seconds(*duration), mark.to_owned()]);
        }
        let total = self.finished.iter().map(|step| step.duration).sum();
        rows.push(["total".to_owned(), seconds(total), String::new()]);
        table(&rows)
    }
}

/// Aligns rows in columns, the first to the left and the others to the right, with an empty line
/// before them.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let length = |cell: &String| cell.chars().count();
    let widths: [_; N] = std::array::from_fn(|column| {
        let lengths = rows.iter().map(|row| length(&row[column]));
        lengths.max().unwrap_or(0)
    });
    let mut table = String::from("\n");
    for row in rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            line += &format!("  {cell:>width$}");
        }
        table += line.trim_end();
        table.push('\n');
    }
    table
}

/// A cargo command that runs at the root of the workspace.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(args);
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
    ensure!(
        output.status.success(),
        "{shown}: {}\n{errors}",
        output.status
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command, not as a step of its own, with its output left on the terminal.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let shown = line_of(command);
    let status = command.status();
    passed(
        status.with_context(|| format!("cannot start {shown}"))?,
        &shown,
    )
}

/// Fails if the normal dependencies of a package, and theirs, have one that `is_forbidden`.
pub(crate) fn tree(root: &Path, args: &[&str], is_forbidden: impl Fn(&str) -> bool) -> Result<()> {
    let mut tree = cargo(root, &["tree"]);
    tree.args(args);
    tree.args(["-e", "normal", "--prefix", "none", "--format", "{p}"]);
    let listing = output(&mut tree)?;
    let names = listing.lines().filter_map(|line| line.split(' ').next());
    let forbidden: Vec<_> = names.filter(|name| is_forbidden(name)).collect();
    ensure!(
        forbidden.is_empty(),
        "{} pulls in {}",
        args.join(" "),
        forbidden.join(", ")
    );
    Ok(())
}

/// Runs a command, not as a step of its own, and gives each line of its
/// standard output to `each_line`, which prints what a reader wants.
pub(crate) fn filter(command: &mut Command, mut each_line: impl FnMut(&str)) -> Result<()> {
    let shown = line_of(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {shown}"))?;
    let stdout = child.stdout.take().context("a child without output")?;
    for line in BufReader::new(stdout).lines() {
        each_line(&line?);
    }
    passed(child.wait()?, &shown)
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

fn passed(status: ExitStatus, shown: &str) -> Result<()> {
    ensure!(status.success(), "{shown}: {status}");
    Ok(())
}

#[cfg(test)]
mod tests;
