//! What was measured, as the programs hand it to the report: a file for each run
//! of a program.

use std::fs;
use std::io::{Error, Result};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::stats::{Interval, interval, median, ratios};

/// The runtime that ratios are against, wherever it took part.
pub const PEER: &str = "tokio";

/// Everything that one run of a program measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What it ran as.
    pub command: String,
    /// When it ended, in seconds since 1970.
    pub finished: i64,
    /// On what it ran.
    pub machine: Machine,
    /// What a reader has to know: what was left out, and why.
    pub notes: Vec<String>,
    /// What was compared, in the order in which it ran.
    pub comparisons: Vec<Comparison>,
}

/// One figure of contestants that took turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Where the report shows it.
    pub section: Section,
    /// What ran.
    pub title: String,
    /// What was varied, if that was one of several runs that differ in it.
    pub parameter: Option<Parameter>,
    /// What was looked at.
    pub figure: String,
    /// In what it is measured.
    pub unit: String,
    /// What one would wish for.
    pub better: Better,
    /// The contestants, Raddle first.
    pub contestants: Vec<Contestant>,
}

/// A part of the report, whose title and text are in `report/sections.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Section {
    /// Tasks spawned, woken and joined.
    Scheduler,
    /// How late what came at its own times was done.
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
    /// What is resident for a task, a timer, a connection.
    Memory,
    /// Async against a loop written by hand.
    AsyncCost,
}

/// A number that was varied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// What it counts.
    pub name: String,
    /// What it was.
    pub value: f64,
}

/// What one would wish a figure to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Better {
    /// Such as a time.
    Less,
    /// Such as a rate.
    More,
    /// Such as a count that explains another figure.
    Neither,
}

/// A figure of one contestant, round by round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contestant {
    /// Its name.
    pub name: String,
    /// What was measured; the same number of rounds for each contestant.
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

    /// Reads all records of a directory, the oldest first. None if there is no such
    /// directory.
    pub fn read_all(directory: &Path) -> Result<Vec<Self>> {
        let mut records = Vec::new();
        if !directory.exists() {
            return Ok(records);
        }
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
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
    /// The contestant of this name.
    pub fn contestant(&self, name: &str) -> Option<&Contestant> {
        self.contestants.iter().find(|one| one.name == name)
    }

    /// How many times as good the first contestant, usually Raddle, is as the contestant of this
    /// name: above 1 it is ahead, whether less or more is better. None if there is no such
    /// contestant, or its values cannot be compared.
    pub fn lead(&self, over: &str) -> Option<Interval> {
        self.lead_of(&self.contestants.first()?.name, over)
    }

    /// How many times as good the contestant `name` is as the contestant `over`.
    pub fn lead_of(&self, name: &str, over: &str) -> Option<Interval> {
        let (first, other) = (self.contestant(name)?, self.contestant(over)?);
        // What is shown as zero is no measure.
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

    /// What ran, with what was varied.
    pub fn name(&self) -> String {
        match &self.parameter {
            None => self.title.clone(),
            Some(parameter) => format!("{}, {parameter}", self.title),
        }
    }

    /// Whether both are the same but for their rounds, so that the later one
    /// stands for both.
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_varied(other) && self.parameter == other.parameter
    }

    /// Whether both are the same but for what was varied and their rounds.
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
    /// The median of the rounds.
    pub fn median(&self) -> f64 {
        median(&self.rounds)
    }
}

impl Parameter {
    /// A number of something.
    pub fn new(name: &str, value: f64) -> Self {
        let name = name.to_owned();
        Self { name, value }
    }

    /// The value with few digits and a suffix.
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

/// What a percentile is called; the last is the worst.
pub fn percentile(value: f64) -> String {
    match value {
        100.0 => "worst".to_owned(),
        _ => format!("p{value}"),
    }
}

#[cfg(test)]
impl Comparison {
    /// A comparison of the scheduler's times, in microseconds: each contestant has one value in
    /// six rounds.
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

    /// The same with a number that was varied.
    pub(crate) fn with(self, name: &str, value: f64) -> Self {
        let parameter = Some(Parameter::new(name, value));
        Self { parameter, ..self }
    }
}

#[cfg(test)]
mod tests;
