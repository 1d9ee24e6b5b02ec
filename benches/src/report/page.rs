//! The page: one file that needs no other, no network and no script.

use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::record::Record;
use crate::stats::Interval;
use crate::table::{bounds, short};

use super::compare::Change;
use super::{Group, Part, Report, Standing, Tally, announced, compare, leads, plot, words};

const STYLE: &str = include_str!("page/style.css");

/// How many changes against a saved report the page lists.
const CHANGES: usize = 40;

pub(super) fn page(report: &Report) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Raddle side by side" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Raddle side by side" }
                (opening(report))
                (overview(report))
                (announced_table(report))
                (changes_table(report))
                @for part in &report.parts { (section(part)) }
                (how_to_read())
                (machine(report))
            }
        }
    }
}

fn opening(report: &Report) -> Markup {
    let tally = Tally::of(report.comparisons());
    html! {
        @if let Some(middle) = tally.middle() {
            p.lead {
                "On this machine Raddle is ahead of Tokio at " b { (tally.ahead) } " of " (tally.count())
                " figures, level at " b { (tally.level) } " and behind at " b { (tally.behind) }
                ". In the middle it is " b { (short(middle)) " times" } " as good."
            }
        }
        p {
            "Made by " code { (report.command) } ". All runtimes took turns, round by round, in one run: a noisy \
             machine disturbs them alike. What counts is the ratio; the times are this machine's."
        }
        @let notes: Vec<_> = report.records.iter().flat_map(|record| &record.notes).collect();
        @if !notes.is_empty() {
            ul.notes { @for note in notes { li { (note) } } }
        }
    }
}

fn overview(report: &Report) -> Markup {
    html! {
        h2 { "At a glance" }
        p { "How many figures there are in each part at which Raddle is ahead of Tokio, level, or behind, and the lead \
             in the middle of them: above 1 Raddle is ahead, whatever is measured." }
        table {
            thead { tr { th { "" } th { "ahead" } th { "level" } th { "behind" } th { "times" } } }
            tbody {
                @for part in &report.parts {
                    @let tally = Tally::of(part.comparisons());
                    @let (title, _) = words::about(part.section);
                    tr {
                        td { a href={ "#" (anchor(part)) } { (title) } }
                        @if let Some(middle) = tally.middle() {
                            td { (tally.ahead) } td { (tally.level) } td { (tally.behind) }
                            td { b { (short(middle)) } }
                        } @else {
                            td colspan="4" { "no Tokio in it" }
                        }
                    }
                }
            }
        }
    }
}

fn announced_table(report: &Report) -> Markup {
    let rows = announced::rows(report);
    html! {
        @if !rows.is_empty() {
            h2 { "What was announced in 2019" }
            p {
                "Tokio's redesigned scheduler was announced with this table, old against new. Here are the same \
                 benchmarks on this machine: the old scheduler (tokio-threadpool 0.1; for hyper its version 0.12 on Tokio \
                 0.1), Tokio today, and Raddle. Each number says how many times as good as the old one. "
                (announced::BRIDGE)
            }
            table {
                thead { tr { th { "" } th { "announced" } th { "Tokio" } th { "Raddle" } } }
                tbody {
                    @for row in &rows {
                        tr {
                            td { b { (row.name) } }
                            td { (short(row.claimed)) }
                            (times(row.tokio))
                            (times(row.raddle))
                        }
                        tr.fine { td colspan="4" { "announced " (row.announced) "; here " (row.here) } }
                    }
                }
            }
        }
    }
}

fn times(lead: Option<Interval>) -> Markup {
    html! {
        td {
            @match lead {
                None => "-",
                Some(lead) => { b { (short(lead.median)) } br; span.fine { (bounds(lead)) } },
            }
        }
    }
}

fn changes_table(report: &Report) -> Markup {
    let changes = compare::changes(report);
    let name = report.saved.as_ref().map(|saved| saved.name.as_str());
    html! {
        @if let Some(name) = name {
            h2 { "Against " (name) }
            p {
                "How many times as good as Tokio, or as who ran beside it, Raddle was then and is now. Only where the intervals \
                 are apart, in bold, is it more than chance. Times of two runs are not compared."
            }
            @if changes.is_empty() { p { "Nothing was measured both times." } }
            table {
                thead { tr { th { "" } th { "then" } th { "now" } th { "change" } } }
                tbody { @for change in changes.iter().take(CHANGES) { (changed(change)) } }
            }
        }
    }
}

fn changed(change: &Change) -> Markup {
    let factor = format!("{:+.0} %", (change.factor() - 1.0) * 100.0);
    html! {
        tr {
            td { (change.name) span.fine { " / " (change.rival) } }
            (times(Some(change.then)))
            (times(Some(change.now)))
            td { @if change.is_sure() { b { (factor) } } @else { (factor) } }
        }
    }
}

fn anchor(part: &Part) -> String {
    format!("{:?}", part.section).to_lowercase()
}

fn section(part: &Part) -> Markup {
    let (title, about) = words::about(part.section);
    let curves: Vec<&Group> = part
        .groups
        .iter()
        .filter(|group| group.0.len() > 1)
        .collect();
    let leads = leads::leads(part.groups.iter().map(Group::usual));
    html! {
        h2 id=(anchor(part)) { (title) }
        p { (about) }
        @if let Some(verdict) = words::verdict(part.comparisons()) { p.lead { (verdict) } }
        @if !leads.is_empty() {
            figure.wide {
                (PreEscaped(plot::forest(&format!("{title}: how many times as good Raddle is"), &leads)))
                figcaption {
                    "How many times as good as Tokio, or as the contestant that a row names first, " (first(part)) " is, with the \
                     95 % interval; of what was varied, one in the middle."
                }
            }
        }
        @if !curves.is_empty() {
            div.plots {
                @for group in curves { figure { (PreEscaped(plot::curve(group))) } }
            }
        }
        details { summary { "All figures" } div.scroll { (figures(part)) } }
    }
}

/// The contestant that is compared with the others.
fn first(part: &Part) -> &str {
    let first = part.comparisons().find_map(|one| one.contestants.first());
    match first.map(|one| one.name.as_str()) {
        None | Some("raddle") => "Raddle",
        Some(name) => name,
    }
}

fn figures(part: &Part) -> Markup {
    html! {
        table {
            thead { tr { th { "figure" } th { "" } th { "median" } th { "times" } } }
            tbody {
                @for comparison in part.comparisons() {
                    @for (place, contestant) in comparison.contestants.iter().enumerate() {
                        @let lead = comparison.lead(&contestant.name);
                        tr.first[place == 0] {
                            @if place == 0 {
                                td rowspan=(comparison.contestants.len()) {
                                    (comparison.name()) ": " (comparison.figure) ", " (comparison.unit)
                                }
                            }
                            td { (contestant.name) }
                            td { (short(contestant.median())) }
                            @match lead {
                                Some(lead) if place > 0 => {
                                    td class=(class(lead)) { (short(lead.median)) span.fine { " (" (bounds(lead)) ")" } }
                                },
                                _ => td {},
                            }
                        }
                    }
                }
            }
        }
    }
}

fn class(lead: Interval) -> &'static str {
    match Standing::of(lead) {
        Standing::Ahead => "ahead",
        Standing::Level => "level",
        Standing::Behind => "behind",
    }
}

fn how_to_read() -> Markup {
    html! {
        h2 { "How to read this" }
        ul {
            li { "Contestants take turns within each round, in an order that changes. A ratio is taken within each round; \
                  \u{201c}times\u{201d} is the median of these ratios, turned so that above 1 Raddle is ahead, \
                  whether less or more is better." }
            li { "The interval has the true median in it 95 times in a hundred (that of the sign test, which assumes \
                  nothing about the spread). Where 1 is inside, the run shows no difference. A lead \
                  of less than half a percent counts as level. With fewer than 6 rounds it is the whole range, \
                  and nothing is called ahead or behind." }
            li { "Differences below a few percent depend on where memory happens to lie and what else runs. Believe what two \
                  runs say alike; run without --quick, on a machine that does nothing else." }
            li { "The line at each point of a curve reaches from the 10th to the 90th percentile of its rounds." }
        }
    }
}

fn machine(report: &Report) -> Markup {
    html! {
        h2 { "The machine, and what ran" }
        @if let Some(record) = report.records.last() {
            @let machine = &record.machine;
            @let same = report.records.iter().all(|record| record.machine.commit == machine.commit);
            p {
                (machine.processor) ", " (machine.cores) " cores, " (format!("{:.0}", machine.memory)) " GiB; "
                (machine.system) "; " (machine.compiler) "; commit " (machine.commit) "."
            }
            @if !same { p.notes { "Not all parts were measured at this commit: see below." } }
            p.fine {
                @for (place, (name, version)) in machine.versions.iter().enumerate() {
                    @if place > 0 { ", " } (name) " " (version)
                }
            }
        }
        div.scroll {
            table {
                thead { tr { th { "program" } th { "ended" } th { "commit" } th { "load" } } }
                tbody { @for record in &report.records { (ran(record)) } }
            }
        }
    }
}

fn ran(record: &Record) -> Markup {
    let ended = Timestamp::from_second(record.finished).map_or_else(
        |_| String::new(),
        |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    );
    html! {
        tr {
            td { code { (record.command) } }
            td { (ended) }
            td { (record.machine.commit) }
            td { (short(record.machine.load)) }
        }
    }
}
