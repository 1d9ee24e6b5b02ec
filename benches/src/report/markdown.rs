//! The tables of `docs/benchmarks.md`, which stand between two marks there.

use crate::executors::{Executor, Raddle};
use crate::record::{Contestant, PEER};
use crate::table::{bounds, short};

use super::{Group, Part, Report, announced, words};

/// What comes before the tables, and what after.
const BEGIN: &str = "<!-- figures -->";
const END: &str = "<!-- end of figures -->";

/// The `document` with the tables of `report` in place of those that it has. None
/// if it has no marks.
pub(super) fn renewed(report: &Report, document: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{}{END}{after}", tables(report)))
}

fn tables(report: &Report) -> String {
    let mut text = String::new();
    if let Some(record) = report.records.last() {
        let machine = &record.machine;
        let version = |name: &str| {
            let versions = machine
                .versions
                .iter()
                .filter(|(package, _)| package == name);
            versions
                .map(|(_, version)| version.as_str())
                .max()
                .unwrap_or("?")
                .to_owned()
        };
        text += &format!(
            "\nMeasured on {} ({} cores, {:.0} GiB), {}, {}, tokio {}, async-executor {}, commit {}.\n",
            machine.processor,
            machine.cores,
            machine.memory,
            machine.system,
            machine.compiler,
            version("tokio"),
            version("async-executor"),
            machine.commit
        );
    }
    text += &announced_table(report);
    for part in &report.parts {
        text += &table(part);
    }
    text + "\n"
}

fn announced_table(report: &Report) -> String {
    let rows = announced::rows(report);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n### What was announced in 2019\n\nTimes as good as the old version, which was tokio-threadpool 0.1, and for \
        hyper its version 0.12 on Tokio 0.1. {}\n\n| | announced | Tokio here | Raddle here | here |\n|---|---|---|---|---|\n",
        announced::BRIDGE
    );
    for row in rows {
        let times = |lead: Option<crate::stats::Interval>| {
            lead.map_or("-".to_owned(), |lead| {
                format!("{} ({})", short(lead.median), bounds(lead))
            })
        };
        text += &format!(
            "| {} | {} | {} | {} | {} |\n",
            row.name,
            short(row.claimed),
            times(row.tokio),
            times(row.raddle),
            row.here
        );
    }
    text
}

/// Raddle and Tokio, where both took part, and how many times as good Raddle is; of
/// what was varied, one in the middle.
fn table(part: &Part) -> String {
    let rows = part.groups.iter().map(Group::usual).filter_map(|one| {
        let (lead, _) = one.standing()?;
        Some(format!(
            "| {}: {} | {} | {} | {} ({}) | {} |\n",
            one.name(),
            one.figure,
            median_of(one.contestants.first()?, Raddle::NAME),
            median_of(one.contestant(one.rival()?)?, PEER),
            short(lead.median),
            bounds(lead),
            one.unit
        ))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    let title = words::about(part.section).0;
    let mut text = format!("\n### {title}\n\n");
    if let Some(verdict) = words::verdict(part.comparisons()) {
        text += &format!("{verdict}\n\n");
    }
    text + "| | Raddle, or the named one | Tokio, or the named one | times as good (95 %) | in |\n|---|---|---|---|---|\n"
        + &rows
}

/// The median, and the contestant's name unless it is `expected`.
fn median_of(one: &Contestant, expected: &str) -> String {
    let median = short(one.median());
    match one.name.as_str() {
        name if name == expected => median,
        name => format!("{median} ({name})"),
    }
}
