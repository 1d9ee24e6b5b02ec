//! The measurements of a program, printed at once and recorded for the report.

use std::fmt::Display;
use std::io::Result;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::executors::Ready;
use crate::machine::Machine;
use crate::record::{Better, Comparison, Contestant, Parameter, Record, Section, named};
use crate::rounds::in_turn;
use crate::table;

/// The number of rounds of `--quick`.
const QUICK: usize = 8;

/// The options of every program that measures.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The number of rounds
    #[arg(long, value_name = "N", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// Measure 8 rounds
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,

    /// Also write the measurements to this file, for the report
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Options {
    /// Returns the requested number of rounds.
    pub fn rounds(&self) -> usize {
        match self.quick {
            true => QUICK,
            false => self.rounds.into(),
        }
    }
}

/// A figure that is measured in each round.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The name of the figure.
    pub name: &'static str,
    /// The unit of the figure.
    pub unit: &'static str,
    /// Whether less or more is better.
    pub better: Better,
    /// The percentile, if the figure is one of a latency.
    pub percentile: Option<f64>,
}

/// The workload of a comparison.
#[derive(Clone, Debug)]
pub struct Case {
    /// The title.
    pub title: String,
    /// The parameter that varies between cases with the same title.
    pub parameter: Option<Parameter>,
}

/// The comparisons of one run of a program.
#[derive(Debug)]
pub struct Sheet {
    section: Section,
    rounds: usize,
    file: Option<PathBuf>,
    notes: Vec<String>,
    comparisons: Vec<Comparison>,
}

impl Figure {
    /// Makes a figure of which less is better.
    pub const fn less(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            better: Better::Less,
            percentile: None,
        }
    }

    /// Makes a figure of which more is better.
    pub const fn more(name: &'static str, unit: &'static str) -> Self {
        Self {
            better: Better::More,
            ..Self::less(name, unit)
        }
    }

    /// Makes a figure that explains others and is neither better nor worse.
    pub const fn neutral(name: &'static str, unit: &'static str) -> Self {
        Self {
            better: Better::Neither,
            ..Self::less(name, unit)
        }
    }

    /// Makes a percentile of a latency, 100 for the worst.
    pub const fn percentile(value: f64, unit: &'static str) -> Self {
        Self {
            percentile: Some(value),
            ..Self::less("latency", unit)
        }
    }
}

impl Case {
    /// Makes a single case.
    pub fn new(title: impl Display) -> Self {
        Self {
            title: title.to_string(),
            parameter: None,
        }
    }

    /// Makes one of several cases that differ in the number `value`.
    pub fn with(title: impl Display, name: &str, value: usize) -> Self {
        Self {
            parameter: Some(Parameter::new(name, value as f64)),
            ..Self::new(title)
        }
    }
}

impl Sheet {
    /// Makes an empty sheet, and prints how to read it.
    pub fn new(section: Section, options: &Options) -> Self {
        let rounds = options.rounds();
        println!("{}", table::header(rounds));
        Self {
            section,
            rounds,
            file: options.json.clone(),
            notes: Vec::new(),
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
    /// gets the index of a contestant and returns its `figures`.
    pub fn measure<R: AsRef<[f64]>>(
        &mut self,
        case: &Case,
        figures: &[Figure],
        names: &[&str],
        measure: impl FnMut(usize) -> Result<R>,
    ) -> Result<()> {
        let measured = in_turn(names.len(), self.rounds, measure)?;
        let first = self.comparisons.len();
        for (place, figure) in figures.iter().enumerate() {
            let contestants = names.iter().zip(&measured);
            let contestants = contestants.map(|(name, rounds)| Contestant {
                name: (*name).to_owned(),
                rounds: rounds.iter().map(|round| round.as_ref()[place]).collect(),
            });
            let parameter = case.parameter.as_ref();
            let (title, parameter) = match figure.percentile {
                // The percentile is what varies.
                Some(one) => (
                    named(&case.title, parameter),
                    Some(Parameter::new("percentile", one)),
                ),
                None => (case.title.clone(), parameter.cloned()),
            };
            self.comparisons.push(Comparison {
                section: self.section,
                title,
                parameter,
                figure: figure.name.to_owned(),
                unit: figure.unit.to_owned(),
                better: figure.better,
                contestants: contestants.collect(),
            });
        }
        print!("{}", table::rows(&self.comparisons[first..]));
        Ok(())
    }

    /// Like [`measure`](Self::measure), with contestants that have been started: `measure` gets a
    /// function that runs one of them.
    pub fn compare<I, O, R: AsRef<[f64]>>(
        &mut self,
        case: &Case,
        figures: &[Figure],
        contestants: &[Ready<I, O>],
        mut measure: impl FnMut(&dyn Fn(I) -> O) -> Result<R>,
    ) -> Result<()> {
        let names: Vec<_> = contestants.iter().map(|one| one.name).collect();
        self.measure(case, figures, &names, |index| {
            measure(&*contestants[index].run)
        })
    }

    /// Like [`measure`](Self::measure), but a failure becomes a note, and the program continues.
    pub fn attempt<R: AsRef<[f64]>>(
        &mut self,
        case: &Case,
        figures: &[Figure],
        names: &[&str],
        measure: impl FnMut(usize) -> Result<R>,
    ) {
        if let Err(error) = self.measure(case, figures, names, measure) {
            let error = error.to_string();
            let first = error.lines().next().unwrap_or_default();
            let name = named(&case.title, case.parameter.as_ref());
            self.note(format!("{name}: not measured, {first}"));
        }
    }

    /// Returns the comparisons so far.
    pub fn comparisons(&self) -> &[Comparison] {
        &self.comparisons
    }

    /// Returns the record of the comparisons so far.
    pub fn record(&self) -> Record {
        Record {
            command: command(std::env::args()),
            finished: Timestamp::now().as_second(),
            machine: Machine::this(),
            notes: self.notes.clone(),
            comparisons: self.comparisons.clone(),
        }
    }

    /// Writes the record, if requested.
    pub fn finish(self) -> Result<()> {
        match &self.file {
            None => Ok(()),
            Some(file) => self.record().write(file),
        }
    }
}

/// Returns the command line that repeats the run, without the file of its record.
fn command(mut args: impl Iterator<Item = String>) -> String {
    let program = args.next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let mut words = vec![name.to_owned()];
    while let Some(word) = args.next() {
        match word.as_str() {
            "--json" => drop(args.next()),
            _ => words.push(word),
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests;
