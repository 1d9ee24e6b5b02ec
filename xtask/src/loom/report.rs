//! Reads the results that models print, and prints a table of them.

use std::fmt;
use std::time::Duration;

/// What a suite is about.
pub(super) fn area(package: &str, suite: &str) -> &'static str {
    match (package, suite) {
        ("raddle-task", "loom_arrivals" | "loom_ready_list" | "loom_local_set") => {
            "local sets and join sets"
        }
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
        match self
            .models
            .iter_mut()
            .find(|other| other.name == model.name)
        {
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

impl Model {
    /// Reads what `raddle_primitives::model` prints.
    fn parse(line: &str) -> Option<Self> {
        let (name, counts) = line.strip_prefix("model ")?.split_once(": ")?;
        let mut counts = counts.split(", ");
        let executions = counts.next()?.strip_suffix(" executions")?;
        let extent = counts.next()?;
        let seconds = counts.next()?.strip_suffix(" s")?;
        let bound = match extent {
            "complete" => None,
            _ => {
                let bound = extent.strip_prefix("bounded at ")?;
                Some(bound.strip_suffix(" preemptions")?.parse().ok()?)
            }
        };
        Some(Self {
            name: name.to_owned(),
            executions: executions.parse().ok()?,
            bound,
            time: Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?,
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
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut area = "";
        for row in &self.rows {
            if row.area != area {
                area = row.area;
                let head = format!("\n{area}");
                writeln!(
                    f,
                    "{head:<90} {:>10} {:<12} {:>8}",
                    "executions", "", "seconds"
                )?;
            }
            let name = format!("{}::{}", row.suite, row.model.name);
            let extent = match row.model.bound {
                None => "complete".to_owned(),
                Some(bound) => format!("bounded at {bound}"),
            };
            writeln!(
                f,
                "{name:<89} {:>10} {extent:<12} {:>8.2}",
                row.model.executions,
                row.model.time.as_secs_f64()
            )?;
        }
        writeln!(
            f,
            "\n{:<24} {:>6} {:>8} {:>7} {:>12} {:>8}",
            "area", "models", "complete", "bounded", "executions", "seconds"
        )?;
        for area in self.areas() {
            let rows = || self.rows.iter().filter(|row| row.area == area);
            let models = rows().count();
            let complete = rows().filter(|row| row.model.bound.is_none()).count();
            let executions: u64 = rows().map(|row| row.model.executions).sum();
            let time: Duration = rows().map(|row| row.model.time).sum();
            writeln!(
                f,
                "{area:<24} {models:>6} {complete:>8} {:>7} {executions:>12} {:>8.1}",
                models - complete,
                time.as_secs_f64()
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
