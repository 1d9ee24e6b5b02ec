//! The counts of the stepped scheduler's operations: figures for a sheet, and the page of the
//! documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use raddle_scaling::{Counts, Figure, Phase, Run, Scope};

use crate::record::Better;
use crate::sheet;
use crate::stats::median;

/// Words with fewer operations per task than this are omitted.
const SELDOM: f64 = 0.1;

/// The figures that have a table.
const TABLES: [Figure; 5] = [
    Figure::CommonLoads,
    Figure::CommonWrites,
    Figure::Transfers,
    Figure::Attempts,
    Figure::OfAPark,
];

/// The numbers of workers that have a column.
const COLUMNS: [usize; 4] = [2, 16, 64, 256];

/// The title of all comparisons.
pub const TITLE: &str = "stepped workers";

/// Converts a figure for a sheet.
pub fn figure(figure: Figure) -> sheet::Figure {
    sheet::Figure {
        name: figure.name(),
        unit: figure.unit(),
        better: Better::Neither,
        percentile: None,
    }
}

/// Returns the tables of the page.
pub fn tables(counts: &Counts) -> String {
    let mut text = String::new();
    for figure in TABLES {
        text += &table(counts, figure);
    }
    text += &words(counts, "Common words, operations per task", |run| {
        operations(run, |word| {
            let sum = word.of(&Phase::ALL);
            (word.scope == Scope::Common).then_some(sum.loads + sum.writes)
        })
    });
    text
}

/// Returns a table with a row for each load and a column for each number of workers.
fn table(counts: &Counts, figure: Figure) -> String {
    let title = format!("{}, {}", capital(figure.name()), figure.unit());
    let mut workers = counts.workers();
    workers.retain(|count| COLUMNS.contains(count));
    grid(&title, &workers, &counts.loads(), |load, place| {
        let runs = counts.of(load, workers[place]);
        let figures: Vec<_> = runs.filter_map(|run| run.figure(figure)).collect();
        match figures.is_empty() {
            true => "-".to_owned(),
            false => plain(median(&figures)),
        }
    })
}

/// Returns a table with a row for each word and a column for each load, with the largest number of
/// workers.
fn words(counts: &Counts, title: &str, of: impl Fn(&Run) -> BTreeMap<String, f64>) -> String {
    let loads = counts.loads();
    let Some(most) = counts.workers().last().copied() else {
        return String::new();
    };
    let columns = loads.iter();
    let columns = columns.filter_map(|load| counts.of(load, most).next().map(&of));
    let columns: Vec<_> = columns.collect();
    let words = columns.iter().flatten();
    let names = words.filter(|(_, count)| **count >= SELDOM);
    let names: BTreeSet<_> = names.map(|(name, _)| name.as_str()).collect();
    let title = format!("{title}, {most} workers");
    grid(&title, &loads, &Vec::from_iter(names), |name, place| {
        let count = columns.get(place).and_then(|column| column.get(name));
        plain(count.copied().unwrap_or(0.0))
    })
}

/// Returns a table under a title. `cell` gets the name of a row and the place of a column.
fn grid(
    title: &str,
    columns: &[impl Display],
    rows: &[&str],
    cell: impl Fn(&str, usize) -> String,
) -> String {
    let mut text = format!("\n### {title}\n\n|");
    for column in columns {
        text += &format!(" | {column}");
    }
    text += &format!(" |\n|---{}|\n", "|---:".repeat(columns.len()));
    for row in rows {
        text += &format!("| {row}");
        for place in 0..columns.len() {
            text += &format!(" | {}", cell(row, place));
        }
        text += " |\n";
    }
    text
}

fn operations(
    run: &Run,
    of: impl Fn(&raddle_scaling::Word) -> Option<u64>,
) -> BTreeMap<String, f64> {
    let polls = run.polls.max(1) as f64;
    let words = run.words.iter();
    words
        .filter_map(|word| Some((word.name.clone(), of(word)? as f64 / polls)))
        .collect()
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

/// Formats a number with as many decimals as are significant.
fn plain(value: f64) -> String {
    let decimals = match value {
        0.0 | 100.0.. => 0,
        10.0.. => 1,
        0.1.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests;
