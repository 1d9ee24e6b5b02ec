//! The table with which the redesign of Tokio's scheduler was announced in 2019, next to the same
//! benchmarks on this machine.

use crate::executors::{Executor, Raddle, TokioThreadpool};
use crate::record::{Better, Comparison, PEER, Parameter, Section};
use crate::servers::Contestant;
use crate::stats::Interval;
use crate::table::{short, times};

use super::Report;

/// A row of the announcement, and the benchmark that repeats it.
struct Announced {
    name: &'static str,
    before: f64,
    after: f64,
    unit: &'static str,
    section: Section,
    /// The beginning of the benchmark's title.
    title: &'static str,
    /// The name of the contestant that is the old version.
    old: &'static str,
}

const fn spawned(name: &'static str, title: &'static str, before: f64, after: f64) -> Announced {
    Announced {
        name,
        before,
        after,
        unit: "ns",
        section: Section::Scheduler,
        title,
        old: TokioThreadpool::NAME,
    }
}

const ANNOUNCED: [Announced; 6] = [
    spawned("chained_spawn", "chained_spawn", 2_019_796.0, 168_854.0),
    spawned("ping_pong", "ping_pong", 1_279_948.0, 562_659.0),
    spawned("spawn_many", "spawn_many_remote", 10_283_608.0, 7_320_737.0),
    spawned("yield_many", "yield_many", 21_450_748.0, 14_638_563.0),
    Announced {
        unit: "requests/s",
        section: Section::Http,
        old: Contestant::Old.name(),
        ..spawned("hyper", "hyper, ", 113_923.0, 152_258.0)
    },
    // Only the percentage was published.
    Announced {
        unit: "% of the calls",
        section: Section::Ecosystem,
        old: PEER,
        ..spawned("tonic", "tonic, unary calls", 100.0, 110.0)
    },
];

/// Returns the table, if one of its benchmarks was run.
pub(super) fn table(report: &Report) -> String {
    let rows = ANNOUNCED.iter().filter_map(|row| row.beside(report));
    match rows.collect::<String>() {
        rows if rows.is_empty() => rows,
        rows => format!(
            "\n### What was announced in 2019\n\nTimes as good as the old version, which was \
             tokio-threadpool 0.1, and for hyper its version 0.12 on Tokio 0.1. The old scheduler \
             runs the same tasks through an adapter to futures 0.1, which costs up to a third where \
             tasks are spawned. The current tonic does not run on the old scheduler: that row \
             compares Raddle with Tokio.\n\n| | announced | Tokio here | Raddle here | here \
             |\n|---|---|---|---|---|\n{rows}"
        ),
    }
}

impl Announced {
    fn beside(&self, report: &Report) -> Option<String> {
        let better = match self.unit {
            "ns" => Better::Less,
            _ => Better::More,
        };
        let all = report.comparisons().filter(|one| {
            one.section == self.section
                && one.better == better
                && one.title.starts_with(self.title)
                && !one.title.contains("on core")
        });
        // The announcement had 50 connections. For workers, the number of cores comes closest.
        let wanted = match self.section {
            Section::Http => 50,
            _ => report.records.last()?.machine.cores,
        };
        let one = all.min_by_key(|one| (one.value() as usize).abs_diff(wanted))?;
        let claimed = match better {
            Better::Less => self.before / self.after,
            _ => self.after / self.before,
        };
        let times = |lead: Option<Interval>| lead.map_or("-".to_owned(), times);
        Some(format!(
            "| {} | {} ({} to {} {}) | {} | {} | {} |\n",
            self.name,
            short(claimed),
            self.before,
            self.after,
            self.unit,
            times(one.lead_of(PEER, self.old).filter(|_| self.old != PEER)),
            times(one.lead_of(Raddle::NAME, self.old)),
            self.here(one)?
        ))
    }

    /// Returns the medians on this machine.
    fn here(&self, one: &Comparison) -> Option<String> {
        let median = |name| Some(one.contestant(name)?.median());
        let parameter = one.parameter.as_ref().map(Parameter::to_string);
        let place = parameter.unwrap_or_else(|| one.title.clone());
        Some(format!(
            "old {:.0}, Tokio {:.0}, Raddle {:.0} {}; {place}",
            median(self.old)?,
            median(PEER)?,
            median(Raddle::NAME)?,
            one.unit
        ))
    }
}
