//! The records from which the report is made: a file for each run of a program.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::fs;
use std::io::{Error, Result};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::stats::{Interval, interval, median};

/// The runtime to which ratios refer, wherever it took part.
pub const PEER: &str = "tokio";

/// The measurements of one run of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The command line.
    pub command: String,
    /// When it ended, in seconds since 1970.
    pub finished: u64,
    /// The machine, the versions and the commit.
    pub machine: String,
    /// The number of hardware threads.
    pub cores: usize,
    /// Notes for the reader: what was not measured, and why.
    pub notes: Vec<String>,
    /// The comparisons, in the order in which they ran.
    pub comparisons: Vec<Comparison>,
}

/// One figure of contestants that took turns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The section of the report.
    pub section: Section,
    /// The workload.
    pub case: Case,
    /// What was measured.
    pub figure: Figure,
    /// The contestants, Raddle first.
    pub contestants: Vec<Contestant>,
}

/// A part of the report, whose title and text are in `report/sections.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "sections.md describes them")]
pub enum Section {
    Scheduler,
    Latency,
    Blocked,
    Policies,
    Queue,
    Timers,
    Sync,
    Sockets,
    Http,
    Sharing,
    Ecosystem,
    Memory,
    AsyncCost,
    Simulation,
}

/// The workload of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The title.
    pub title: String,
    /// The name and the value of the parameter that varies between cases with the same title.
    pub parameter: Option<(String, usize)>,
}

/// A figure that is measured in each round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The name of the figure.
    pub name: Cow<'static, str>,
    /// The unit of the figure.
    pub unit: Cow<'static, str>,
    /// Whether less or more is better.
    pub better: Better,
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contestant {
    /// The name.
    pub name: String,
    /// The measured values; each contestant has the same number of rounds.
    pub rounds: Vec<f64>,
}

impl Record {
    /// Reads all records of a directory, the oldest first. Fails if there are none.
    pub fn read_all(directory: &Path) -> Result<Vec<Self>> {
        let none = |_| Error::other(format!("nothing is recorded in {}", directory.display()));
        let mut records = Vec::<Self>::new();
        for entry in fs::read_dir(directory).map_err(none)? {
            records.push(serde_json::from_slice(&fs::read(entry?.path())?)?);
        }
        records.sort_by_key(|record| record.finished);
        Ok(records)
    }
}

impl Case {
    /// Makes a single case.
    pub fn new(title: impl Display) -> Self {
        let title = title.to_string();
        Self {
            title,
            parameter: None,
        }
    }

    /// Makes one of several cases that differ in the number `value`.
    pub fn with(title: impl Display, name: &str, value: usize) -> Self {
        Self {
            parameter: Some((name.to_owned(), value)),
            ..Self::new(title)
        }
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            None => write!(f, "{}", self.title),
            Some((name, value)) => write!(f, "{}, {name} {}", self.title, round(*value)),
        }
    }
}

/// Formats a number with a suffix if it is round.
fn round(value: usize) -> String {
    match value {
        1_000_000.. if value.is_multiple_of(1_000_000) => format!("{}M", value / 1_000_000),
        1_000.. if value.is_multiple_of(1_000) => format!("{}k", value / 1_000),
        _ => format!("{value}"),
    }
}

impl Figure {
    /// Makes a figure of which less is better.
    pub const fn less(name: &'static str, unit: &'static str) -> Self {
        Self::new(name, unit, Better::Less)
    }

    /// Makes a figure of which more is better.
    pub const fn more(name: &'static str, unit: &'static str) -> Self {
        Self::new(name, unit, Better::More)
    }

    /// Makes a figure that explains others and is neither better nor worse.
    pub const fn neutral(name: &'static str, unit: &'static str) -> Self {
        Self::new(name, unit, Better::Neither)
    }

    const fn new(name: &'static str, unit: &'static str, better: Better) -> Self {
        Self {
            name: Cow::Borrowed(name),
            unit: Cow::Borrowed(unit),
            better,
        }
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
        let pairs = first.rounds.iter().zip(&other.rounds);
        let ratios = pairs.filter_map(|(first, other)| match self.figure.better {
            Better::Less => Some(other / first),
            Better::More => Some(first / other),
            Better::Neither => None,
        });
        let ratios: Vec<_> = ratios.filter(|ratio| ratio.is_finite()).collect();
        (!ratios.is_empty()).then(|| interval(&ratios))
    }

    /// Returns the value of the varied parameter.
    pub(crate) fn value(&self) -> usize {
        self.case.parameter.as_ref().map_or(0, |(_, value)| *value)
    }

    /// Whether both are the same except for their rounds and the value of the varied parameter.
    pub(crate) fn is_varied(&self, other: &Self) -> bool {
        let name = |one: &Self| Some(one.case.parameter.as_ref()?.0.clone());
        let is_same_case = self.case.title == other.case.title && name(self) == name(other);
        is_same_case && self.section == other.section && self.figure == other.figure
    }

    /// Whether both are the same except for their rounds, so that the later one replaces the
    /// earlier.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.is_varied(other) && self.value() == other.value()
    }
}

impl Contestant {
    /// Returns the median of the rounds.
    pub fn median(&self) -> f64 {
        median(&self.rounds)
    }
}
