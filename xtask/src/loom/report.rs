//! Reads the results that models print, and prints a table of them.

use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::steps;

/// What a suite is about.
#[rustfmt::skip]
pub(super) fn area(package: &str, suite: &str) -> &'static str {
    match (package, suite) {
        ("raddle-task", "loom_arrivals" | "loom_ready_list" | "loom_local_set") => "local sets and join sets",
        ("raddle-task", _) => "task cell",
        ("raddle-queue", "loom_injection") => "injection queue",
        ("raddle-queue", _) => "local queue and slot",
        ("raddle-idle", _) | ("raddle-sched", "loom_monitor") => "idle, park and monitor",
        ("raddle-sched", _) => "whole pool",
        ("raddle-blocking", _) => "blocking pool",
        ("raddle-timer", _) => "timers",
        ("raddle-reactor", _) => "reactor",
        ("raddle-recorder", _) => "flight recorder",
        ("raddle-watchdog", _) => "watchdog",
        ("raddle-sync", _) => "channels and locks",
        _ => "others",
    }
}

/// The output of one test.
#[derive(Default)]
pub(super) struct Output {
    models: Vec<Model>,
    lines: Vec<String>,
}

impl Output {
    /// Prints the verdict, with the suite's `label`, and keeps the counts and all lines.
    /// Most of these are what the planted races said when they were caught.
    pub(super) fn read(&mut self, label: &str, line: &str) {
        if let Some(model) = Model::parse(line) {
            self.add(model);
        } else if line.starts_with("test ") && !line.starts_with("test result") {
            println!("{label}: {line}");
        }
        self.lines.push(line.to_owned());
    }

    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// A test that runs several models is one in the table.
    fn add(&mut self, model: Model) {
        let mut models = self.models.iter_mut();
        match models.find(|other| other.name == model.name) {
            Some(first) => {
                first.executions += model.executions;
                first.time += model.time;
                // None, which is complete, is the least of all.
                first.bound = match (first.bound, model.bound) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
            None => self.models.push(model),
        }
    }

    pub(super) fn print(&self) {
        for line in &self.lines {
            println!("{line}");
        }
    }
}

/// One model, when it has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Model {
    name: String,
    executions: u64,
    /// The number of involuntary switches in an execution, if it is bounded.
    bound: Option<usize>,
    time: Duration,
}

/// What `raddle_primitives::model` prints.
static MODEL: LazyLock<Regex> = LazyLock::new(|| {
    let extent = r"(?:complete|bounded at (\d+) preemptions)";
    let line = format!(r"^model (.+): (\d+) executions, {extent}, ([\d.]+) s$");
    Regex::new(&line).expect("a valid pattern")
});

impl Model {
    fn parse(line: &str) -> Option<Self> {
        let cells = MODEL.captures(line)?;
        Some(Self {
            name: cells[1].to_owned(),
            executions: cells[2].parse().ok()?,
            bound: cells.get(3).and_then(|bound| bound.as_str().parse().ok()),
            time: Duration::try_from_secs_f64(cells[4].parse().ok()?).ok()?,
        })
    }
}

/// All models that have run.
#[derive(Default)]
pub(super) struct Report {
    rows: Vec<Row>,
}

struct Row {
    area: &'static str,
    suite: String,
    model: Model,
}

impl Report {
    pub(super) fn add(&mut self, area: &'static str, suite: &str, output: &Output) {
        let rows = output.models.iter().map(|model| Row {
            area,
            suite: suite.to_owned(),
            model: model.clone(),
        });
        self.rows.extend(rows);
    }

    /// The areas, in the order in which they ran.
    fn areas(&self) -> Vec<&'static str> {
        let mut areas = Vec::new();
        for row in &self.rows {
            if !areas.contains(&row.area) {
                areas.push(row.area);
            }
        }
        areas
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: Duration| format!("{:.2}", time.as_secs_f64());
        let mut areas = vec![
            [
                "area",
                "models",
                "complete",
                "bounded",
                "executions",
                "seconds",
            ]
            .map(str::to_owned),
        ];
        for area in self.areas() {
            let rows = || self.rows.iter().filter(|row| row.area == area);
            let mut models = vec![[area, "executions", "", "seconds"].map(str::to_owned)];
            for Row { suite, model, .. } in rows() {
                let extent = match model.bound {
                    None => "complete".to_owned(),
                    Some(bound) => format!("bounded at {bound}"),
                };
                let name = format!("{suite}::{}", model.name);
                models.push([
                    name,
                    model.executions.to_string(),
                    extent,
                    seconds(model.time),
                ]);
            }
            f.write_str(&steps::table(&models))?;
            let all = rows().count();
            let complete = rows().filter(|row| row.model.bound.is_none()).count();
            let executions: u64 = rows().map(|row| row.model.executions).sum();
            let counts = [all, complete, all - complete].map(|count| count.to_string());
            let [all, complete, bounded] = counts;
            let time = seconds(rows().map(|row| row.model.time).sum());
            areas.push([
                area.to_owned(),
                all,
                complete,
                bounded,
                executions.to_string(),
                time,
            ]);
        }
        f.write_str(&steps::table(&areas))
    }
}

#[cfg(test)]
mod tests;
