//! The records from which the report is made: a file for each run of a program.

use std::fs;
use std::io::{Error, Result};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::stats::{Interval, interval, median, ratios};

/// The runtime to which ratios refer, wherever it took part.
pub const PEER: &str = "tokio";

/// The measurements of one run of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The command line.
    pub command: String,
    /// When it ended, in seconds since 1970.
    pub finished: i64,
    /// The machine.
    pub machine: Machine,
    /// Notes for the reader: what was not measured, and why.
    pub notes: Vec<String>,
    /// The comparisons, in the order in which they ran.
    pub comparisons: Vec<Comparison>,
}

/// One figure of contestants that took turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The section of the report.
    pub section: Section,
    /// The workload.
    pub title: String,
    /// The varied parameter, if this is one of several runs that differ in it.
    pub parameter: Option<Parameter>,
    /// The name of the figure.
    pub figure: String,
    /// The unit of the figure.
    pub unit: String,
    /// Whether less or more is better.
    pub better: Better,
    /// The contestants, Raddle first.
    pub contestants: Vec<Contestant>,
}

/// A part of the report, whose title and text are in `report/sections.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Section {
    /// Tasks spawned, woken and joined.
    Scheduler,
    /// The latency of requests that come at fixed times.
    Latency,
    /// The policies of Raddle's scheduler.
    Policies,
    /// Operations that the scheduler counts with many stepped workers.
    Scaling,
    /// The run queue alone.
    Queue,
    /// Timers.
    Timers,
    /// Channels and locks.
    Sync,
    /// Servers on sockets.
    Sockets,
    /// Hyper.
    Http,
    /// Hyper on cores that other processes use too.
    Sharing,
    /// Servers and clients of the ecosystem on the stand-in.
    Ecosystem,
    /// The memory of a task, a timer and a connection.
    Memory,
    /// Async compared with a hand-written loop.
    AsyncCost,
}

/// A parameter that was varied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name of the parameter.
    pub name: String,
    /// The value of the parameter.
    pub value: f64,
}

/// Whether less or more of a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Better {
    /// Less is better, for example a time.
    Less,
    /// More is better, for example a rate.
    More,
    /// Neither, for example a count that explains another figure.
    Neither,
}

/// The values of one contestant, round by round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contestant {
    /// The name.
    pub name: String,
    /// The measured values; each contestant has the same number of rounds.
    pub rounds: Vec<f64>,
}

impl Record {
    /// Writes the file, and the directories above it.
    pub fn write(&self, file: &Path) -> Result<()> {
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(file, serde_json::to_vec(self)?)
    }

    /// Reads all records of a directory, the oldest first. `None` if there is no such directory.
    pub fn read_all(directory: &Path) -> Result<Vec<Self>> {
        let mut records = Vec::new();
        if !directory.exists() {
            return Ok(records);
        }
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == "json") {
                let record: Self = serde_json::from_slice(&fs::read(&path)?)
                    .map_err(|error| Error::other(format!("{}: {error}", path.display())))?;
                records.push(record);
            }
        }
        records.sort_by_key(|record| record.finished);
        Ok(records)
    }
}

impl Comparison {
    /// Returns the contestant with this name.
    pub fn contestant(&self, name: &str) -> Option<&Contestant> {
        self.contestants.iter().find(|one| one.name == name)
    }

    /// Returns how many times as good the first contestant, usually Raddle, is as the contestant
    /// `over`. Above 1 it is ahead, whether less or more is better. `None` if there is no such
    /// contestant, or if its values cannot be compared.
    pub fn lead(&self, over: &str) -> Option<Interval> {
        self.lead_of(&self.contestants.first()?.name, over)
    }

    /// Returns how many times as good the contestant `name` is as the contestant `over`.
    pub fn lead_of(&self, name: &str, over: &str) -> Option<Interval> {
        let (first, other) = (self.contestant(name)?, self.contestant(over)?);
        // A value that is shown as zero cannot be compared.
        if first.median() < 0.005 || other.median() < 0.005 {
            return None;
        }
        let mut ratios = match self.better {
            Better::Less => ratios(&other.rounds, &first.rounds),
            Better::More => ratios(&first.rounds, &other.rounds),
            Better::Neither => return None,
        };
        ratios.retain(|ratio| ratio.is_finite());
        (!ratios.is_empty()).then(|| interval(&ratios))
    }

    /// Returns the workload with the varied parameter.
    pub fn name(&self) -> String {
        named(&self.title, self.parameter.as_ref())
    }

    /// Whether both are the same except for their rounds, so that the later one replaces the
    /// earlier.
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_varied(other) && self.parameter == other.parameter
    }

    /// Whether both are the same except for their rounds and the varied parameter.
    pub fn is_varied(&self, other: &Self) -> bool {
        let varied = |one: &Self| one.parameter.as_ref().map(|one| one.name.clone());
        self.section == other.section
            && self.title == other.title
            && self.figure == other.figure
            && self.unit == other.unit
            && varied(self) == varied(other)
    }
}

impl Contestant {
    /// Returns the median of the rounds.
    pub fn median(&self) -> f64 {
        median(&self.rounds)
    }
}

impl Parameter {
    /// Makes a parameter.
    pub fn new(name: &str, value: f64) -> Self {
        let name = name.to_owned();
        Self { name, value }
    }

    /// Returns the value with few digits and a suffix.
    pub fn short(&self) -> String {
        let bytes = self.name == "bytes";
        let (kilo, mega, k, m) = match bytes {
            true => (1024.0, 1_048_576.0, " KiB", " MiB"),
            false => (1000.0, 1_000_000.0, "k", "M"),
        };
        match self.value {
            value if value >= mega && value % mega == 0.0 => format!("{}{m}", value / mega),
            value if value >= kilo && value % kilo == 0.0 => format!("{}{k}", value / kilo),
            value if bytes => format!("{value} B"),
            value => format!("{value}"),
        }
    }
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name.as_str() {
            "bytes" => write!(f, "{}", self.short()),
            "percentile" => write!(f, "{}", percentile(self.value)),
            name => write!(f, "{name} {}", self.short()),
        }
    }
}

/// Returns a title with the varied parameter, if there is one.
pub(crate) fn named(title: &str, parameter: Option<&Parameter>) -> String {
    match parameter {
        None => title.to_owned(),
        Some(parameter) => format!("{title}, {parameter}"),
    }
}

/// Returns the name of a percentile; the last is the worst.
pub fn percentile(value: f64) -> String {
    match value {
        100.0 => "worst".to_owned(),
        _ => format!("p{value}"),
    }
}

#[cfg(test)]
impl Comparison {
    /// Makes a comparison of the scheduler's times in microseconds. Each contestant has the same
    /// value in six rounds.
    pub(crate) fn sample(title: &str, contestants: &[(&str, f64)]) -> Self {
        let contestants = contestants.iter().map(|(name, value)| Contestant {
            name: (*name).to_owned(),
            rounds: vec![*value; 6],
        });
        Self {
            section: Section::Scheduler,
            title: title.to_owned(),
            parameter: None,
            figure: "time".to_owned(),
            unit: "us".to_owned(),
            better: Better::Less,
            contestants: contestants.collect(),
        }
    }

    /// Returns the comparison with a varied parameter.
    pub(crate) fn with(self, name: &str, value: f64) -> Self {
        let parameter = Some(Parameter::new(name, value));
        Self { parameter, ..self }
    }
}

#[cfg(test)]
mod tests;
