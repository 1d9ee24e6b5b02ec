//! The table with which the redesign of Tokio's scheduler was announced in 2019,
//! beside what this machine makes of it.

use crate::executors::{Executor, Raddle, TokioThreadpool};
use crate::record::{Better, Comparison, PEER, Section};
use crate::servers::Contestant;
use crate::stats::Interval;

use super::Report;

/// What was announced, and the benchmark that repeats it.
struct Announced {
    name: &'static str,
    /// Before and after, as they were printed, in `unit`.
    before: f64,
    after: f64,
    unit: &'static str,
    better: Better,
    /// The title here begins so.
    title: &'static str,
    section: Section,
    /// Who was before.
    old: &'static str,
}

const fn spawned(name: &'static str, title: &'static str, before: f64, after: f64) -> Announced {
    Announced {
        name,
        before,
        after,
        unit: "ns",
        better: Better::Less,
        title,
        section: Section::Scheduler,
        old: TokioThreadpool::NAME,
    }
}

const ANNOUNCED: [Announced; 6] = [
    spawned("chained_spawn", "chained_spawn", 2_019_796.0, 168_854.0),
    spawned("ping_pong", "ping_pong", 1_279_948.0, 562_659.0),
    spawned("spawn_many", "spawn_many_remote", 10_283_608.0, 7_320_737.0),
    spawned("yield_many", "yield_many", 21_450_748.0, 14_638_563.0),
    Announced {
        name: "hyper",
        before: 113_923.0,
        after: 152_258.0,
        unit: "requests/s",
        better: Better::More,
        title: "hyper, ",
        section: Section::Http,
        old: Contestant::Old.name(),
    },
    // No more than the percentage was published.
    Announced {
        name: "tonic",
        before: 100.0,
        after: 110.0,
        unit: "% of the calls",
        better: Better::More,
        title: "tonic, unary calls",
        section: Section::Ecosystem,
        old: PEER,
    },
];

/// What a reader has to know of the old scheduler here.
pub(super) const BRIDGE: &str = "The old scheduler is given the same bodies over a bridge from futures of today to those of its time, which \
    costs it up to a third where tasks are spawned, and nothing at yield_many. No tonic of today runs on it: what Raddle \
    has there is against Tokio of today.";

/// A row of the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) announced: String,
    /// How many times as good as the old version the new one was said to be.
    pub(super) claimed: f64,
    /// What was measured here: the old version, Tokio and Raddle, as text.
    pub(super) here: String,
    /// How many times as good as the old version Tokio is here.
    pub(super) tokio: Option<Interval>,
    /// And Raddle.
    pub(super) raddle: Option<Interval>,
}

/// The rows that were measured.
pub(super) fn rows(report: &Report) -> Vec<Row> {
    ANNOUNCED
        .iter()
        .filter_map(|row| row.beside(report))
        .collect()
}

impl Announced {
    fn beside(&self, report: &Report) -> Option<Row> {
        let all = report
            .comparisons()
            .filter(|comparison| self.is_repeated(comparison));
        let comparison = all.min_by_key(|comparison| distance(comparison, report))?;
        let mut here = String::new();
        for (label, name) in [("old", self.old), ("Tokio", PEER), ("Raddle", Raddle::NAME)] {
            let median = comparison.contestant(name)?.median();
            if label != "old" || name != PEER {
                here += &format!("{label} {}, ", thousands(median));
            }
        }
        let here = here.trim_end_matches(", ");
        let times = match self.better {
            Better::More => self.after / self.before,
            _ => self.before / self.after,
        };
        let against_old = |name: &str| {
            let mut pair = comparison.clone();
            pair.contestants
                .retain(|one| one.name == name || one.name == self.old);
            pair.contestants.sort_by_key(|one| one.name == self.old);
            pair.lead(self.old)
        };
        Some(Row {
            name: self.name,
            announced: format!(
                "{} to {} {}",
                thousands(self.before),
                thousands(self.after),
                self.unit
            ),
            claimed: times,
            here: format!("{here} {}; {}", comparison.unit, place(comparison)),
            tokio: (self.old != PEER).then(|| against_old(PEER)).flatten(),
            raddle: against_old(Raddle::NAME),
        })
    }

    fn is_repeated(&self, comparison: &Comparison) -> bool {
        comparison.section == self.section
            && comparison.title.starts_with(self.title)
            && comparison.better == self.better
            && !comparison.title.contains("on core")
            && comparison.contestant(self.old).is_some()
            && comparison.contestant(PEER).is_some()
    }
}

/// How far from what was announced: as many workers as this machine has cores, and
/// 50 connections.
fn distance(comparison: &Comparison, report: &Report) -> usize {
    let cores = report
        .records
        .last()
        .map_or(1, |record| record.machine.cores);
    let wanted = match comparison.section {
        Section::Http => 50,
        _ => cores,
    };
    let value = super::value(comparison) as usize;
    value.abs_diff(wanted)
}

fn place(comparison: &Comparison) -> String {
    match &comparison.parameter {
        Some(parameter) => parameter.to_string(),
        None => comparison.title.clone(),
    }
}

/// A number with commas, as it was announced.
fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
