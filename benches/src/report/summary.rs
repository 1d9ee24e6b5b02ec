//! The summary for a terminal.

use crate::record::PEER;
use crate::table::{lead, short};

use super::{Group, Part, Report, Tally, announced, compare, words};

/// How many changes are listed.
const CHANGES: usize = 20;
/// As wide as what runs may be.
const NAME: usize = 46;

pub(super) fn summary(report: &Report) -> String {
    let mut text = format!(
        "\n{:<NAME$} {:>10} {:>10} {:>8}  {}\n",
        "raddle beside tokio, medians", "raddle", "tokio", "times", "95 %"
    );
    for part in &report.parts {
        text += &rows(part);
    }
    text += &announced(report);
    text += &changes(report);
    let tally = Tally::of(report.comparisons());
    if let Some(middle) = tally.middle() {
        text += &format!(
            "\nahead of tokio at {} of {} figures, level at {}, behind at {}; in the middle {} times as good\n",
            tally.ahead,
            tally.count(),
            tally.level,
            tally.behind,
            short(middle)
        );
    }
    text
}

/// What ran, and under it a row for each figure; of what was varied, one in the
/// middle.
fn rows(part: &Part) -> String {
    let mut text = String::new();
    let mut title = String::new();
    for one in part.groups.iter().map(Group::usual) {
        let (Some((interval, _)), true) = (one.standing(), one.rival() == Some(PEER)) else {
            continue;
        };
        let [Some(ours), Some(theirs)] = [one.contestants.first(), one.contestant(PEER)] else {
            continue;
        };
        if title.is_empty() {
            text += &format!("\n{}\n", words::about(part.section).0);
        }
        let name = one.name();
        if name != title {
            text += &format!("  {name:.98}\n");
            title = name;
        }
        text += &format!(
            "{:<NAME$} {:>10} {:>10} {}\n",
            shortened(&format!("    {}, {}", one.figure, one.unit)),
            short(ours.median()),
            short(theirs.median()),
            lead(Some(interval))
        );
    }
    text
}

fn announced(report: &Report) -> String {
    let rows = announced::rows(report);
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n{:<NAME$} {:>10} {:>10} {:>8}\n",
        "times as good as the old scheduler of 2018", "announced", "tokio", "raddle"
    );
    for row in rows {
        let times = |lead: Option<crate::stats::Interval>| {
            lead.map_or("-".to_owned(), |lead| short(lead.median))
        };
        text += &format!(
            "{:<NAME$} {:>10} {:>10} {:>8}\n",
            row.name,
            short(row.claimed),
            times(row.tokio),
            times(row.raddle)
        );
    }
    text
}

fn changes(report: &Report) -> String {
    let Some(saved) = &report.saved else {
        return String::new();
    };
    let title = format!("against {}, times as good as its rival", saved.name);
    let mut text = format!(
        "\n{:<NAME$} {:>10} {:>10} {:>8}\n",
        shortened(&title),
        "then",
        "now",
        "change"
    );
    for change in compare::changes(report).iter().take(CHANGES) {
        let mark = if change.is_sure() {
            ""
        } else {
            "  (may be chance)"
        };
        text += &format!(
            "{:<NAME$} {:>10} {:>10} {:>+6.0} %{mark}\n",
            shortened(&change.name),
            short(change.then.median),
            short(change.now.median),
            (change.factor() - 1.0) * 100.0
        );
    }
    text
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    let start: String = name.chars().take(NAME - 2).collect();
    start + ".."
}
