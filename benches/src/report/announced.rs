//! The table with which the redesign of Tokio's scheduler was announced in 2019, next to the same
//! benchmarks on this machine.

use crate::executors::{Executor, Raddle, TokioThreadpool};
use crate::record::{Comparison, PEER, Section};
use crate::stats::Interval;
use crate::table::{short, times};

use super::Report;

const SCHEDULER: (Section, &str) = (Section::Scheduler, TokioThreadpool::NAME);

/// A row of the announcement, and how many times as good the new version was; the section of the
/// benchmark and the contestant that is the old version; its title and its figure.
struct Announced(
    &'static str,
    f64,
    (Section, &'static str),
    &'static str,
    &'static str,
);

#[rustfmt::skip]
const ANNOUNCED: [Announced; 6] = [
    Announced("chained_spawn", 2_019_796.0 / 168_854.0, SCHEDULER, "chained_spawn", "time"),
    Announced("ping_pong", 1_279_948.0 / 562_659.0, SCHEDULER, "ping_pong", "time"),
    Announced("spawn_many", 10_283_608.0 / 7_320_737.0, SCHEDULER, "spawn_many_remote", "time"),
    Announced("yield_many", 21_450_748.0 / 14_638_563.0, SCHEDULER, "yield_many", "time"),
    Announced("hyper", 152_258.0 / 113_923.0, (Section::Http, "tokio 0.1"), "hyper, ", "requests"),
    Announced("tonic", 1.1, (Section::Ecosystem, PEER), "tonic, unary calls", "requests"),
];

/// Returns the table, if one of its benchmarks was run.
pub(super) fn table(report: &Report) -> String {
    let mut rows = String::new();
    for Announced(name, announced, (section, old), title, figure) in ANNOUNCED {
        let all = report.groups.iter().flatten().filter(|one| {
            one.section == section
                && one.figure.name == figure
                && one.case.title.starts_with(title)
                && !one.case.title.contains("on core")
        });
        // The announcement had 50 connections. For workers, the number of cores comes closest.
        let wanted = match section {
            Section::Http => 50,
            _ => report.records.last().map_or(0, |record| record.cores),
        };
        let one = all.min_by_key(|one| one.value().abs_diff(wanted));
        if let Some(here) = one.and_then(|one| row(one, old)) {
            rows += &format!("| {name} | {} | {here} |\n", short(announced));
        }
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\n### What was announced in 2019\n\nTimes as good as the old version, which was \
         tokio-threadpool 0.1, and for hyper its version 0.12 on Tokio 0.1. The old scheduler runs \
         the same tasks through an adapter to futures 0.1, which costs up to a third where tasks \
         are spawned. tonic does not run on the old scheduler: that row compares Raddle with \
         Tokio.\n\n| | announced | Tokio here | Raddle here | here |\n|---|---|---|---|---|\n{rows}"
    )
}

/// Returns the leads over the old version and the medians on this machine.
fn row(one: &Comparison, old: &str) -> Option<String> {
    let times = |lead: Option<Interval>| lead.map_or("-".to_owned(), times);
    let median = |name| Some(one.contestant(name)?.median());
    Some(format!(
        "{} | {} | old {:.0}, Tokio {:.0}, Raddle {:.0} {}; {}",
        times(one.lead_of(PEER, old).filter(|_| old != PEER)),
        times(one.lead_of(Raddle::NAME, old)),
        median(old)?,
        median(PEER)?,
        median(Raddle::NAME)?,
        one.figure.unit,
        one.case
    ))
}
