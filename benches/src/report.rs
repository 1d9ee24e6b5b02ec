//! The report: the tables and changes of all records, as Markdown.

mod announced;
mod plot;

use std::cmp::Ordering;
use std::fs;
use std::io::{ErrorKind, Result};
use std::path::Path;

use crate::executors::{Executor, Raddle};
use crate::record::{Comparison, Contestant, PEER, Record, Section};
use crate::stats::{Interval, median};
use crate::table::{self, short, times};

/// A title and a text for each [`Section`], in order.
const SECTIONS: &str = include_str!("report/sections.md");

/// The largest number of changes since a saved report that are listed.
const CHANGES: usize = 40;

/// The largest number of listed figures in which Raddle is behind.
const LISTED: usize = 8;

/// Texts in the titles of figures that the documentation omits: pinned servers and system calls,
/// which explain other figures, and cases that repeat another case.
const OMITTED: [&str; 8] = [
    "1 workers",
    "4 workers, all",
    "4 workers, on",
    "on core",
    "system calls",
    ", on tokio,",
    "TCP, 1 connection,",
    "UDP, 1 socket, datagrams of 64 bytes sent back",
];

/// The names of percentiles, which share a row in the documentation.
const PERCENTILES: [&str; 4] = ["p50", "p90", "p99", "p99.9"];

/// The rows of the first page: the label, the beginning of the case, and the figure.
const FIRST: [(&str, &str, &str); 15] = [
    ("tasks that each spawn the next", "chained_spawn", "time"),
    ("many tasks spawned by one", "spawn_many_local", "time"),
    ("tasks that are joined", "spawn_join", "time"),
    ("pairs that wake each other", "ping_pong", "time"),
    ("fork and join", "fork_join", "time"),
    ("a request through four tasks", "request_chain", "time"),
    (
        "p99 of requests, one in 50 of which blocks for 10 ms",
        "a slow poll of 10 ms",
        "p99",
    ),
    (
        "memory of a task that waits",
        "a task that waits",
        "resident",
    ),
    (
        "a message through a channel of 100, 8 senders",
        "8 to 1, bound 100, on raddle",
        "time an operation",
    ),
    (
        "a timer that is armed and cancelled",
        "timers that do not fire",
        "arm and cancel, alone",
    ),
    ("axum, text", "axum, text", "requests"),
    (
        "axum, 32 tasks for each request",
        "axum, fan-out",
        "requests",
    ),
    ("tonic, unary calls", "tonic, unary", "requests"),
    ("hyper, 50 connections", "hyper, 2 workers", "requests"),
    (
        "TCP, 64 connections",
        "TCP, 64 connections, messages of 64 bytes sent back, 2 workers",
        "messages",
    ),
];

/// Records by section, with the values of a varied parameter side by side.
pub struct Report {
    records: Vec<Record>,
    groups: Vec<Group>,
    /// The name of saved records to compare with, and their comparisons.
    saved: Option<(String, Vec<Group>)>,
}

/// Comparisons that differ only in the varied parameter, in its order; or a single comparison.
type Group = Vec<Comparison>;

impl Report {
    /// Arranges `records`, the oldest first. Of two records of the same measurement, the later one
    /// is used.
    pub fn new(records: Vec<Record>, saved: Option<(String, Vec<Record>)>) -> Self {
        let groups = groups(&records);
        let saved = saved.map(|(name, records)| (name, self::groups(&records)));
        Self {
            records,
            groups,
            saved,
        }
    }

    /// Returns the whole report.
    pub fn page(&self) -> String {
        let mut text = format!("# Raddle side by side\n\n{}", self.summary());
        for part in self.parts() {
            let (title, about) = about(part);
            let rows: String = part.iter().map(|group| table::rows(group)).collect();
            text += &format!("\n## {title}: all figures\n\n{about}\n\n```text\n{rows}```\n");
        }
        text += &format!("\n## What ran\n\n{}\n", self.machine());
        for record in &self.records {
            text += &format!("- `{}`\n", record.command);
            let notes = record.notes.iter().map(|note| format!("  - {note}\n"));
            text.extend(notes);
        }
        text
    }

    /// Returns the tables, the changes and the total.
    pub fn summary(&self) -> String {
        let all = self.groups.iter().flatten();
        let total = tally(all).unwrap_or_default();
        format!(
            "{}{}\nIn all: {total}\n",
            self.tables(|_| true),
            self.changes()
        )
    }

    /// Returns the machine and the tables for the documentation, which omits waits, the worst
    /// latency and `OMITTED` titles.
    pub fn documented(&self) -> String {
        let is_shown = |one: &Comparison| {
            let is_omitted = OMITTED.iter().any(|text| one.case.title.contains(*text));
            one.figure.name != "worst" && one.figure.unit != "times" && !is_omitted
        };
        self.machine() + &self.tables(is_shown)
    }

    /// Returns the rows of the first page: one for each `FIRST` that was measured.
    pub fn first(&self) -> String {
        let row = |(label, case, figure): &(&str, &str, &str)| {
            let mut usual = self.groups.iter().map(middle);
            let one = usual
                .find(|one| one.figure.name == *figure && one.case.to_string().starts_with(case))?;
            let [ours, theirs, lead] = cells(one)?;
            let unit = &one.figure.unit;
            Some(format!(
                "| {label} | {ours} | {theirs} | {lead} | {unit} |\n"
            ))
        };
        let rows: String = FIRST.iter().filter_map(row).collect();
        format!("| | Raddle | Tokio | times as good (95 %) | in |\n|---|---|---|---|---|\n{rows}")
    }

    /// Returns the table of what async costs: each version of the server beside the loop, with the
    /// largest number of requests. `None` if it was not measured.
    pub fn costs(&self) -> Option<String> {
        let of_async = |group: &&Group| group[0].section == Section::AsyncCost;
        let cases = self
            .groups
            .iter()
            .filter(of_async)
            .filter_map(|it| it.last());
        let cases: Vec<_> = cases.collect();
        let contestants = &cases.first()?.contestants;
        let heads = cases.iter().map(|one| format!(" {} | |", one.case));
        let lines = "---|".repeat(1 + 2 * cases.len());
        let mut text = format!("| |{}\n|{lines}\n", String::from_iter(heads));
        for Contestant { name, .. } in contestants {
            let cells = cases.iter().filter_map(|one| {
                let median = short(one.contestant(name)?.median());
                let unit = &one.figure.unit;
                Some(format!(" {median} {unit} | {} |", times(one.lead(name)?)))
            });
            text += &format!("| `{name}` |{}\n", String::from_iter(cells));
        }
        Some(text)
    }

    fn machine(&self) -> String {
        let machine = self.records.last().map(|record| &record.machine);
        machine.map_or_else(String::new, |machine| format!("Measured on {machine}.\n"))
    }

    /// Returns the tables, with the rows for which `is_shown` holds.
    fn tables(&self, is_shown: fn(&Comparison) -> bool) -> String {
        let mut text = announced::table(self);
        for part in self.parts() {
            let rows = rows(part, is_shown) + &percentiles(part, is_shown);
            if !rows.is_empty() {
                text += &format!("\n### {}\n{}{rows}", about(part).0, verdict(part));
            }
        }
        text
    }

    /// Returns the groups of each section.
    fn parts(&self) -> impl Iterator<Item = &[Group]> {
        self.groups.chunk_by(|a, b| a[0].section == b[0].section)
    }

    /// Lists the changes since the saved report: first those whose intervals do not overlap, the
    /// largest first.
    ///
    /// Times of two runs cannot be compared, because the state of the machine differed. The ratio
    /// to a contestant that ran beside Raddle both times can be.
    fn changes(&self) -> String {
        let Some((name, saved)) = &self.saved else {
            return String::new();
        };
        let changes = self.groups.iter().flatten().filter_map(|one| {
            let earlier = saved
                .iter()
                .flatten()
                .find(|earlier| earlier.is_same(one))?;
            let rival = one.rival()?;
            let (then, now) = (earlier.lead(rival)?, one.lead(rival)?);
            let apart = now.low > then.high || now.high < then.low;
            let is_sure = apart && now.is_sure && then.is_sure;
            let bold = if is_sure { "**" } else { "" };
            let factor = now.median / then.median;
            let row = format!(
                "| {}, {} / {rival} | {} | {} | {bold}{:+.0} %{bold} |\n",
                one.case,
                one.figure.name,
                times(then),
                times(now),
                (factor - 1.0) * 100.0
            );
            Some((is_sure, factor.ln().abs(), row))
        });
        let mut changes: Vec<_> = changes.collect();
        changes.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
        let rows = changes.into_iter().take(CHANGES).map(|(.., row)| row);
        format!(
            "\n### Against {name}\n\nHow many times as good as Tokio, or as the contestant that ran \
             beside it, Raddle was then and is now. Only where the intervals are apart, in bold, is \
             it more than chance. Times of two runs are not compared.\n\n| | then | now | change \
             |\n|---|---|---|---|\n{}",
            rows.collect::<String>()
        )
    }
}

/// Replaces the tables between the marks of the `page`, and wraps the text between them.
pub fn renew(page: &Path, tables: &str) -> Result<()> {
    let text = fs::read_to_string(page)?;
    let [begin, end] = ["<!-- figures -->", "<!-- end of figures -->"];
    let (before, rest) = text.split_once(begin).unwrap_or_default();
    let (_, after) = rest.split_once(end).ok_or(ErrorKind::InvalidData)?;
    fs::write(
        page,
        format!("{before}{begin}\n\n{}\n{end}{after}", wrap(tables)),
    )
}

/// Breaks the lines that are longer than 100 columns, except those of tables.
fn wrap(text: &str) -> String {
    let mut wrapped = String::new();
    for line in text.lines() {
        let mut width = 0;
        for word in line.split(' ') {
            if width > 0 {
                let is_full = !line.starts_with('|') && width + 1 + word.len() > 100;
                wrapped.push(if is_full { '\n' } else { ' ' });
                width = if is_full { 0 } else { width + 1 };
            }
            wrapped += word;
            width += word.len();
        }
        wrapped.push('\n');
    }
    wrapped
}

fn groups(records: &[Record]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for comparison in records.iter().flat_map(|record| &record.comparisons) {
        let group = groups
            .iter_mut()
            .find(|group| group[0].is_varied(comparison));
        let Some(group) = group else {
            groups.push(vec![comparison.clone()]);
            continue;
        };
        match group.iter_mut().find(|one| one.is_same(comparison)) {
            Some(earlier) => earlier.clone_from(comparison),
            None => group.push(comparison.clone()),
        }
    }
    groups.sort_by_key(|group| group[0].section);
    for group in &mut groups {
        group.sort_by_key(Comparison::value);
    }
    groups
}

/// Returns the title of a part, and a text that explains it.
fn about(part: &[Group]) -> (&'static str, &'static str) {
    let section = part[0][0].section as usize;
    let text = SECTIONS.split("\n## ").nth(1 + section);
    text.and_then(|text| text.trim_end().split_once("\n\n"))
        .unwrap_or_default()
}

/// Returns the comparison with the value in the middle of a varied parameter.
fn middle(group: &Group) -> &Comparison {
    &group[(group.len() - 1) / 2]
}

/// Returns the median of Raddle, that of its rival, and the lead. `None` without a rival.
fn cells(one: &Comparison) -> Option<[String; 3]> {
    let rival = one.rival()?;
    Some([
        median_of(one.contestants.first()?, Raddle::NAME),
        median_of(one.contestant(rival)?, PEER),
        times(one.lead(rival)?),
    ])
}

/// Returns a row for each shown figure that has a rival, except percentiles. Of a varied parameter,
/// it shows the value in the middle.
fn rows(part: &[Group], is_shown: fn(&Comparison) -> bool) -> String {
    let usual = part.iter().map(middle);
    let is_row = |one: &&Comparison| is_shown(one) && !PERCENTILES.contains(&&*one.figure.name);
    let rows = usual.filter(is_row).filter_map(|one| {
        let [ours, theirs, lead] = cells(one)?;
        let cells = format!("{ours} | {theirs} | {lead} | {}", one.figure.unit);
        Some((format!("{}: {}", one.case, one.figure.name), cells))
    });
    table_of(rows.collect())
}

/// Returns a row for each case with latencies: their percentiles.
fn percentiles(part: &[Group], is_shown: fn(&Comparison) -> bool) -> String {
    let shown = part.iter().map(middle).filter(|one| is_shown(one));
    let of_latency: Vec<_> = shown
        .filter(|one| PERCENTILES.contains(&&*one.figure.name))
        .collect();
    let mut rows = Vec::new();
    for of_case in of_latency.chunk_by(|a, b| a.case == b.case) {
        let columns = Vec::from_iter(of_case.iter().filter_map(|one| cells(one)));
        if columns.is_empty() {
            continue;
        }
        let names = of_case.iter().map(|one| &*one.figure.name);
        // A comma would make them the words with which several names end.
        let names = Vec::from_iter(names).join("/");
        let joined = [0, 1, 2].map(|row| {
            let cells = columns.iter().map(|column| column[row].as_str());
            Vec::from_iter(cells).join(", ")
        });
        let unit = &of_case[0].figure.unit;
        let cells = format!("{} | {unit}", joined.join(" | "));
        rows.push((format!("{}: {names}", of_case[0].case), cells));
    }
    table_of(rows)
}

/// Makes a table of names and cells; empty without rows. Its head has the words with which all
/// names end.
fn table_of(mut rows: Vec<(String, String)>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let end = remove_common_end(&mut rows);
    let rows = rows
        .iter()
        .map(|(name, cells)| format!("| {name} | {cells} |\n"));
    format!(
        "\n|{} | Raddle | Tokio | times as good (95 %) | in |\n|---|---|---|---|---|\n{}",
        end.trim_start_matches(','),
        rows.collect::<String>()
    )
}

/// Returns the median, and the contestant's name unless it is `expected`.
fn median_of(one: &Contestant, expected: &str) -> String {
    let median = short(one.median());
    match one.name.as_str() {
        name if name == expected => median,
        name => format!("{median} ({name})"),
    }
}

/// Removes the words, after a comma, with which the names of all rows end. Returns them, with the
/// comma.
fn remove_common_end(rows: &mut [(String, String)]) -> String {
    let mut common = String::new();
    while let [(first, _), _, ..] = rows
        && let Some(place) = first.rfind(", ")
    {
        let end = first[place..].to_owned();
        if !rows.iter().all(|(name, _)| name.ends_with(&end)) {
            break;
        }
        for (name, _) in &mut *rows {
            name.truncate(name.len() - end.len());
        }
        common.insert_str(0, &end);
    }
    common
}

/// Describes the outcome of a part in two sentences.
fn verdict(part: &[Group]) -> String {
    let Some(tally) = tally(part.iter().flatten()) else {
        return String::new();
    };
    let behind = part.iter().flatten().filter_map(|one| {
        let (lead, standing) = one.compared()?;
        let lead = short(lead.median);
        (standing == Ordering::Less).then(|| format!("{}, {} ({lead})", one.case, one.figure.name))
    });
    let mut behind: Vec<_> = behind.collect();
    let more = behind.len().saturating_sub(LISTED);
    behind.truncate(LISTED);
    let listed = match (behind.join("; "), more) {
        (listed, _) if listed.is_empty() => listed,
        (listed, 0) => format!(" Behind: {listed}."),
        (listed, more) => format!(" Behind: {listed}, and {more} more."),
    };
    format!("\n{tally}{listed}\n")
}

impl Comparison {
    /// Returns the main rival of Raddle: Tokio, or the next contestant.
    fn rival(&self) -> Option<&str> {
        let rival = self.contestant(PEER).or(self.contestants.get(1))?;
        Some(&rival.name)
    }

    /// Returns the lead over Tokio, and the [`standing`].
    fn compared(&self) -> Option<(Interval, Ordering)> {
        let lead = self.lead(PEER)?;
        Some((lead, standing(lead)))
    }
}

/// Whether Raddle is ahead, level or behind, as far as the interval and two decimals show.
fn standing(lead: Interval) -> Ordering {
    match lead {
        _ if !lead.is_sure => Ordering::Equal,
        Interval { low, .. } if low >= 1.005 => Ordering::Greater,
        Interval { high, .. } if high < 0.995 => Ordering::Less,
        _ => Ordering::Equal,
    }
}

/// Counts the standings of comparisons with Tokio. `None` if Tokio took part in none of them.
fn tally<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Option<String> {
    let compared: Vec<_> = comparisons.filter_map(Comparison::compared).collect();
    let leads: Vec<_> = compared.iter().map(|(lead, _)| lead.median).collect();
    let count = |wanted| compared.iter().filter(|(_, one)| *one == wanted).count();
    (!leads.is_empty()).then(|| {
        format!(
            "Of {} figures that Tokio has too, Raddle is ahead at {}, level at {} and behind at {}; \
             in the middle it is {} times as good.",
            leads.len(),
            count(Ordering::Greater),
            count(Ordering::Equal),
            count(Ordering::Less),
            short(median(&leads))
        )
    })
}

#[cfg(test)]
mod tests;
