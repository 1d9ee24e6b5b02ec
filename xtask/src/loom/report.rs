//! Reads how far models were explored, and makes tables of the results.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::steps;

/// Returns the subject of a suite.
#[rustfmt::skip]
fn area(package: &str, suite: &str) -> &'static str {
    match (package, suite) {
        ("raddle-task", "arrivals" | "ready_list" | "local_set") => "local sets and join sets",
        ("raddle-task", _) => "task cell",
        ("raddle-queue", "injection") => "injection queue",
        ("raddle-queue", _) => "local queue and slot",
        ("raddle-sched", "idle" | "monitor" | "parker" | "stealable") => "idle, park and monitor",
        ("raddle-sched", _) => "whole pool",
        ("raddle-blocking", _) => "blocking pool",
        ("raddle-timer", _) => "timers",
        ("raddle-reactor", _) => "reactor",
        ("raddle-recording", _) => "flight recorder",
        ("raddle-watchdog", _) => "watchdog",
        ("raddle-sync", _) => "channels and locks",
        _ => "others",
    }
}

/// The line that `raddle_primitives::model` prints.
static MODEL: LazyLock<Regex> = LazyLock::new(|| {
    let extent = r"(?:complete|bounded at (\d+) preemptions)";
    let line = format!(r"(?m)^model (.+): (\d+) executions, {extent}, ([\d.]+) s$");
    Regex::new(&line).expect("a valid pattern")
});

/// All models that have run, by area, suite and name.
#[derive(Default)]
pub(super) struct Report(BTreeMap<(&'static str, String), Model>);

#[derive(Debug, Default, PartialEq)]
struct Model {
    executions: u64,
    /// The bound on involuntary switches in an execution, if there is one.
    bound: Option<usize>,
    seconds: f64,
}

impl Report {
    /// Adds the models in the output of a suite. A test that runs several models is one row of the
    /// table.
    pub(super) fn add(&mut self, package: &str, suite: &str, output: &str) {
        for cells in MODEL.captures_iter(output) {
            let name = (area(package, suite), cells[1].to_owned());
            let model = self.0.entry(name).or_default();
            let bound = cells.get(3).and_then(|bound| bound.as_str().parse().ok());
            model.executions += cells[2].parse().unwrap_or(0);
            model.seconds += cells[4].parse().unwrap_or(0.0);
            model.bound = [model.bound, bound].into_iter().flatten().min();
        }
    }

    pub(super) fn tables(&self) -> String {
        let head = "area\tmodels\tcomplete\tbounded\texecutions\tseconds";
        let mut areas = vec![head.to_owned()];
        let mut tables = String::new();
        let rows = Vec::from_iter(&self.0);
        for rows in rows.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
            let (area, _) = rows[0].0;
            let mut models = vec![format!("{area}\texecutions\t\tseconds")];
            let mut total = Model::default();
            let mut complete = 0;
            for ((_, name), model) in rows {
                let (executions, seconds) = (model.executions, model.seconds);
                total.executions += executions;
                total.seconds += seconds;
                complete += usize::from(model.bound.is_none());
                let extent = match model.bound {
                    Some(bound) => format!("bounded at {bound}"),
                    None => "complete".to_owned(),
                };
                models.push(format!("{name}\t{executions}\t{extent}\t{seconds:.2}"));
            }
            tables += &steps::table(&models);
            let (all, executions) = (rows.len(), total.executions);
            let counts = format!("{all}\t{complete}\t{}\t{executions}", all - complete);
            areas.push(format!("{area}\t{counts}\t{:.2}", total.seconds));
        }
        tables + &steps::table(&areas)
    }
}
