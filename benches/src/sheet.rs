//! What a program measures, printed as it goes and recorded for the report.

use std::fmt::Display;
use std::io::Result;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::executors::Ready;
use crate::machine::Machine;
use crate::record::{Better, Comparison, Contestant, Parameter, Record, Section};
use crate::rounds::in_turn;
use crate::table;

/// How many rounds `--quick` asks for.
const QUICK: usize = 8;

/// The options of every program that measures.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// How many rounds
    #[arg(long, value_name = "N", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// 8 rounds
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,

    /// Also write what was measured to this file, for the report
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Options {
    /// How many rounds were asked for.
    pub fn rounds(&self) -> usize {
        match self.quick {
            true => QUICK,
            false => self.rounds.into(),
        }
    }
}

/// What is looked at in each round.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// In what it is measured.
    pub unit: &'static str,
    /// What one would wish for.
    pub better: Better,
    /// Which percentile it is of a latency, if it is one.
    pub percentile: Option<f64>,
}

/// What runs in a comparison.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is.
    pub title: String,
    /// What is varied, from case to case of the same title.
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
    /// A figure of which less is better.
    pub const fn less(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            better: Better::Less,
            percentile: None,
        }
    }

    /// A figure of which more is better.
    pub const fn more(name: &'static str, unit: &'static str) -> Self {
        Self {
            better: Better::More,
            ..Self::less(name, unit)
        }
    }

    /// A figure that explains others and is neither better nor worse.
    pub const fn neutral(name: &'static str, unit: &'static str) -> Self {
        Self {
            better: Better::Neither,
            ..Self::less(name, unit)
        }
    }

    /// A percentile of a latency, 100 for the worst.
    pub const fn percentile(value: f64, unit: &'static str) -> Self {
        Self {
            percentile: Some(value),
            ..Self::less("latency", unit)
        }
    }
}

impl Case {
    /// A case of its own.
    pub fn new(title: impl Display) -> Self {
        Self {
            title: title.to_string(),
            parameter: None,
        }
    }

    /// One of several that differ in the number `value`.
    pub fn with(title: impl Display, name: &str, value: usize) -> Self {
        Self {
            parameter: Some(Parameter::new(name, value as f64)),
            ..Self::new(title)
        }
    }

    fn name(&self) -> String {
        match &self.parameter {
            None => self.title.clone(),
            Some(parameter) => format!("{}, {parameter}", self.title),
        }
    }
}

impl Sheet {
    /// An empty one, which says how it will be measured.
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

    /// Changes the section of the report that takes what follows.
    pub fn section(&mut self, section: Section) {
        self.section = section;
    }

    /// Prints and records something that a reader has to know.
    pub fn note(&mut self, text: impl Display) {
        println!("\nnote: {text}");
        self.notes.push(text.to_string());
    }

    /// Measures the contestants of these `names` in turn, Raddle first: `measure` is
    /// given the number of one and returns its `figures`, for each round.
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
            let contestants = names
                .iter()
                .zip(&measured)
                .map(|(name, rounds)| Contestant {
                    name: (*name).to_owned(),
                    rounds: rounds.iter().map(|round| round.as_ref()[place]).collect(),
                });
            let percentile = figure
                .percentile
                .map(|one| Parameter::new("percentile", one));
            self.comparisons.push(Comparison {
                section: self.section,
                title: match figure.percentile.and(case.parameter.as_ref()) {
                    // The percentile is what varies.
                    Some(parameter) => format!("{}, {parameter}", case.title),
                    None => case.title.clone(),
                },
                parameter: percentile.or_else(|| case.parameter.clone()),
                figure: figure.name.to_owned(),
                unit: figure.unit.to_owned(),
                better: figure.better,
                contestants: contestants.collect(),
            });
        }
        print!("{}", table::rows(&self.comparisons[first..]));
        Ok(())
    }

    /// As [`measure`](Self::measure), with contestants that stand ready: `measure` is given what
    /// runs one of them.
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

    /// As [`measure`](Self::measure), but what fails becomes a note, and what follows
    /// is measured.
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
            self.note(format!("{}: not measured, {first}", case.name()));
        }
    }

    /// What was measured so far.
    pub fn comparisons(&self) -> &[Comparison] {
        &self.comparisons
    }

    /// The record of what was measured so far.
    pub fn record(&self) -> Record {
        Record {
            command: command(std::env::args()),
            finished: Timestamp::now().as_second(),
            machine: Machine::this(),
            notes: self.notes.clone(),
            comparisons: self.comparisons.clone(),
        }
    }

    /// Writes the record, if that was asked for.
    pub fn finish(self) -> Result<()> {
        match &self.file {
            None => Ok(()),
            Some(file) => self.record().write(file),
        }
    }
}

/// The command line as one would repeat it, without where its record goes.
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
