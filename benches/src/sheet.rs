//! The measurements of a program, printed at once and recorded for the report.

use std::fmt::Display;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use clap::value_parser;

use crate::executors::Ready;
use crate::record::{Case, Comparison, Contestant, Figure, Record, Section};
use crate::table;

/// The lock file of the workspace, which fixes the version of every package.
const LOCK: &str = include_str!("../../Cargo.lock");

/// The options of every program that measures.
#[derive(Clone, Debug, clap::Parser)]
pub struct Options {
    /// The number of rounds
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u16).range(1..))]
    rounds: u16,

    /// The numbers of worker threads, separated by commas; the programs have a default
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u16).range(1..=256))]
    workers: Vec<u16>,

    /// Measure only the cases whose titles contain one of these texts, separated by commas
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    only: Vec<String>,

    /// Also write the measurements to this file, for the report
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Options {
    /// Returns the requested numbers of workers, or the default.
    pub fn workers(&self, default: &[usize]) -> Vec<usize> {
        match self.workers.is_empty() {
            true => default.to_owned(),
            false => self.workers.iter().copied().map(usize::from).collect(),
        }
    }
}

/// The comparisons of one run of a program.
pub struct Sheet {
    section: Section,
    options: Options,
    /// The number of hardware threads, before the program keeps itself on one.
    cores: usize,
    notes: Vec<String>,
    failures: Vec<String>,
    comparisons: Vec<Comparison>,
}

impl Sheet {
    /// Makes an empty sheet, and prints how to read it.
    pub fn new(section: Section, options: &Options) -> Self {
        println!("{}", table::header(options.rounds));
        Self {
            section,
            options: options.clone(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            notes: Vec::new(),
            failures: Vec::new(),
            comparisons: Vec::new(),
        }
    }

    /// Changes the section of the report for the following comparisons.
    pub fn section(&mut self, section: Section) {
        self.section = section;
    }

    /// Prints and records a note for the reader.
    pub fn note(&mut self, text: impl Display) {
        println!("\nnote: {text}");
        self.notes.push(text.to_string());
    }

    /// Measures the contestants with these `names` in turn, Raddle first. In each round `measure`
    /// gets the index of a contestant and returns its `figures`. A failure becomes a note, and an
    /// error of [`finish`](Self::finish).
    pub fn measure<R: AsRef<[f64]>>(
        &mut self,
        case: &Case,
        figures: &[Figure],
        names: &[&str],
        mut measure: impl FnMut(usize) -> Result<R>,
    ) {
        let only = &self.options.only;
        if !only.is_empty() && !only.iter().any(|text| case.title.contains(text)) {
            return;
        }
        let named = |index: usize| {
            measure(index).map_err(|error| Error::other(format!("{}: {error}", names[index])))
        };
        let measured = match in_turn(names.len(), self.options.rounds, named) {
            Ok(measured) => measured,
            Err(error) => {
                let text = format!("{case}: not measured, {error}");
                self.note(text.lines().next().unwrap_or_default());
                return self.failures.push(text);
            }
        };
        let first = self.comparisons.len();
        for (place, figure) in figures.iter().enumerate() {
            let contestants = names.iter().zip(&measured);
            let contestants = contestants.map(|(name, rounds)| Contestant {
                name: (*name).to_owned(),
                rounds: rounds.iter().map(|round| round.as_ref()[place]).collect(),
            });
            self.comparisons.push(Comparison {
                section: self.section,
                case: case.clone(),
                figure: figure.clone(),
                contestants: contestants.collect(),
            });
        }
        print!("{}", table::rows(&self.comparisons[first..]));
    }

    /// Like [`measure`](Self::measure), with contestants that have been started, which get `input`.
    pub fn compare<I: Copy>(
        &mut self,
        case: &Case,
        figures: &[Figure],
        contestants: &[Ready<I>],
        input: I,
    ) {
        let names: Vec<_> = contestants.iter().map(|one| one.name).collect();
        self.measure(case, figures, &names, |index| {
            (contestants[index].run)(input)
        });
    }

    /// Writes the record, if requested. Fails if a case failed, or if there is none.
    pub fn finish(self) -> Result<()> {
        if self.comparisons.is_empty() && self.notes.is_empty() {
            return Err(Error::other("no case has a title with the text of --only"));
        }
        if let Some(file) = &self.options.json {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let record = Record {
                command: std::env::args().collect::<Vec<_>>().join(" "),
                finished: since.map_or(0, |since| since.as_secs()),
                machine: machine(self.cores),
                cores: self.cores,
                notes: self.notes,
                comparisons: self.comparisons,
            };
            fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
            fs::write(file, serde_json::to_vec(&record)?)?;
        }
        match self.failures.join("; ") {
            none if none.is_empty() => Ok(()),
            failures => Err(Error::other(failures)),
        }
    }
}

/// Measures each contestant in each round, and returns a list of results for each. `measure` gets
/// the index of the contestant. The first contestant changes, and every other round runs backwards,
/// so no contestant always follows the same one. The first round is not counted. An error ends the
/// rounds.
fn in_turn<T>(
    contestants: usize,
    rounds: u16,
    mut measure: impl FnMut(usize) -> Result<T>,
) -> Result<Vec<Vec<T>>> {
    for contestant in 0..contestants {
        measure(contestant)?;
    }
    let none = |_| Vec::with_capacity(rounds.into());
    let mut measured: Vec<Vec<T>> = (0..contestants).map(none).collect();
    for round in 0..usize::from(rounds) {
        for turn in 0..contestants {
            let place = match round % 2 {
                0 => turn,
                _ => contestants - 1 - turn,
            };
            let contestant = (round / 2 + place) % contestants;
            measured[contestant].push(measure(contestant)?);
        }
    }
    Ok(measured)
}

/// Describes this machine, the versions and the commit. What the system does not tell is "?".
fn machine(cores: usize) -> String {
    let processor = after("/proc/cpuinfo", "model name\t: ");
    let system = after("/etc/os-release", "PRETTY_NAME=");
    let kernel = after("/proc/sys/kernel/osrelease", "");
    let commit = output_of("git", &["rev-parse", "--short=10", "HEAD"]);
    let changed = output_of("git", &["status", "--porcelain", "--untracked-files=no"]);
    format!(
        "{processor} ({cores} cores), {}, Linux {kernel}, {}, tokio {}, async-executor {}, \
         commit {commit}{}",
        system.trim_matches('"'),
        output_of("rustc", &["--version"]),
        version("tokio"),
        version("async-executor"),
        if changed.is_empty() {
            ""
        } else {
            ", with changes"
        }
    )
}

/// Returns the latest version of a package that has a source, as the stand-in has not.
fn version(package: &str) -> &'static str {
    let label = format!("name = \"{package}\"\nversion = \"");
    let versions = LOCK.split(&label).skip(1);
    let versions = versions.filter_map(|rest| Some(rest.split_once("\"\nsource")?.0));
    let versions = versions.filter(|version| !version.contains('\n'));
    versions.max().unwrap_or("?")
}

/// Returns the rest of the line that begins with a label.
fn after(file: &str, label: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let rest = text.lines().find_map(|line| line.strip_prefix(label));
    rest.unwrap_or("?").to_owned()
}

fn output_of(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output.map_or("?".to_owned(), |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    })
}

/// Times `run` in microseconds.
pub fn micros(run: impl FnOnce()) -> f64 {
    let start = std::time::Instant::now();
    run();
    in_micros(start.elapsed())
}

/// Returns a time in microseconds.
pub fn in_micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests;
