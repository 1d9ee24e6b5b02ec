//! The tables of the report as Markdown: for a terminal, for the page, and for
//! `docs/benchmarks.md`, where they stand between two marks.

use crate::executors::{Executor, Raddle};
use crate::record::{Contestant, PEER};
use crate::stats::Interval;
use crate::table::{bounds, short};

use super::{Group, Part, Report, Tally, announced, compare, words};

/// What comes before the tables, and what after.
const BEGIN: &str = "<!-- figures -->";
const END: &str = "<!-- end of figures -->";

/// How many changes against a saved report are listed.
const CHANGES: usize = 40;

/// The `document` with the tables of `report` in place of those that it has. None
/// if it has no marks.
pub(super) fn renewed(report: &Report, document: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let tables = format!("\n{}{}", machine(report), tables(report));
    Some(format!("{before}{BEGIN}\n{tables}\n{END}{after}"))
}

/// What a terminal shows.
pub(super) fn summary(report: &Report) -> String {
    let (tables, changes) = (tables(report), changes(report));
    format!("{tables}{changes}\n{}", total(report))
}

fn tables(report: &Report) -> String {
    let parts = report.parts.iter().map(|part| {
        let rows = rows(part);
        let title = words::about(part.section).0;
        match rows.is_empty() {
            true => rows,
            false => format!("\n### {title}\n{rows}"),
        }
    });
    announced(report) + &parts.collect::<String>()
}

/// What ran where, in one paragraph.
pub(super) fn machine(report: &Report) -> String {
    let Some(record) = report.records.last() else {
        return String::new();
    };
    let machine = &record.machine;
    let version = |name: &str| {
        let versions = machine.versions.iter();
        let versions = versions.filter(|(package, _)| package == name);
        let latest = versions.map(|(_, version)| version.as_str()).max();
        latest.unwrap_or("?").to_owned()
    };
    format!(
        "Measured on {} ({} cores, {:.0} GiB), {}, {}, tokio {}, async-executor {}, commit {}.\n",
        machine.processor,
        machine.cores,
        machine.memory,
        machine.system,
        machine.compiler,
        version("tokio"),
        version("async-executor"),
        machine.commit
    )
}

/// All figures in one sentence.
pub(super) fn total(report: &Report) -> String {
    let tally = Tally::of(report.comparisons());
    let Some(middle) = tally.middle() else {
        return String::new();
    };
    format!(
        "On this machine Raddle is ahead of Tokio at **{}** of {} figures, level at {} and behind \
         at {}. In the middle it is **{} times** as good.\n",
        tally.ahead,
        tally.count(),
        tally.level,
        tally.behind,
        short(middle)
    )
}

/// How each part turned out, with a link to it.
pub(super) fn overview(report: &Report) -> String {
    let mut text = "\n| | ahead | level | behind | times |\n|---|--:|--:|--:|--:|\n".to_owned();
    for part in &report.parts {
        let tally = Tally::of(part.comparisons());
        let link = format!("[{}](#{})", words::about(part.section).0, part.anchor());
        text += &match tally.middle() {
            Some(middle) => format!(
                "| {link} | {} | {} | {} | **{}** |\n",
                tally.ahead,
                tally.level,
                tally.behind,
                short(middle)
            ),
            None => format!("| {link} | | | | no Tokio in it |\n"),
        };
    }
    text
}

/// What was announced in 2019, if it was measured.
pub(super) fn announced(report: &Report) -> String {
    let rows = announced::rows(report);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n### What was announced in 2019\n\nTimes as good as the old version, which was \
         tokio-threadpool 0.1, and for hyper its version 0.12 on Tokio 0.1. {}\n\n| | announced | \
         Tokio here | Raddle here | here |\n|---|---|---|---|---|\n",
        announced::BRIDGE
    );
    for row in rows {
        let times = |lead: Option<Interval>| lead.map_or("-".to_owned(), times);
        text += &format!(
            "| {} | {} ({}) | {} | {} | {} |\n",
            row.name,
            short(row.claimed),
            row.announced,
            times(row.tokio),
            times(row.raddle),
            row.here
        );
    }
    text
}

/// What has changed since the report that was saved.
pub(super) fn changes(report: &Report) -> String {
    let Some(saved) = &report.saved else {
        return String::new();
    };
    let mut text = format!(
        "\n### Against {}\n\nHow many times as good as Tokio, or as the contestant that ran \
         beside it, Raddle was then and is now. Only where the intervals are apart, in bold, is \
         it more than chance. Times of two runs are not compared.\n\n| | then | now | change \
         |\n|---|---|---|---|\n",
        saved.name
    );
    for change in compare::changes(report).iter().take(CHANGES) {
        let bold = if change.is_sure() { "**" } else { "" };
        text += &format!(
            "| {} / {} | {} | {} | {bold}{:+.0} %{bold} |\n",
            change.name,
            change.rival,
            times(change.then),
            times(change.now),
            (change.factor() - 1.0) * 100.0
        );
    }
    text
}

fn times(lead: Interval) -> String {
    format!("{} ({})", short(lead.median), bounds(lead))
}

/// How a part turned out, and a row for each figure that has a rival; of what was varied, one in
/// the middle.
pub(super) fn rows(part: &Part) -> String {
    let rows = part.groups.iter().map(Group::usual).filter_map(|one| {
        let (lead, _) = one.standing()?;
        Some(format!(
            "| {}: {} | {} | {} | {} | {} |\n",
            one.name(),
            one.figure,
            median_of(one.contestants.first()?, Raddle::NAME),
            median_of(one.contestant(one.rival()?)?, PEER),
            times(lead),
            one.unit
        ))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    let verdict = words::verdict(part.comparisons());
    let verdict = verdict.map_or_else(String::new, |verdict| format!("\n{verdict}\n"));
    format!(
        "{verdict}\n| | Raddle, or the named one | Tokio, or the named one | times as good (95 %) \
         | in |\n\
         |---|---|---|---|---|\n{rows}"
    )
}

/// The median, and the contestant's name unless it is `expected`.
fn median_of(one: &Contestant, expected: &str) -> String {
    let median = short(one.median());
    match one.name.as_str() {
        name if name == expected => median,
        name => format!("{median} ({name})"),
    }
}
