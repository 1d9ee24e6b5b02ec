//! The tables of the report as Markdown: for a terminal, for `docs/benchmarks.md`, and for the
//! page, which is a single file without network access or scripts.

use jiff::Timestamp;
use pulldown_cmark::{Options, Parser};

use super::plot::{self, escaped};
use super::{Group, Report, Standing, Tally, announced, groups, leads, remove_common_end};
use crate::executors::{Executor, Raddle};
use crate::record::{Comparison, Contestant, PEER, Section};
use crate::table::{self, short, times};

const STYLE: &str = include_str!("page/style.css");
const READING: &str = include_str!("page/reading.md");

/// A title and a text for each [`Section`], in order.
const SECTIONS: &str = include_str!("sections.md");

/// The largest number of changes since a saved report that are listed.
const CHANGES: usize = 40;

/// The largest number of listed figures in which Raddle is behind.
const LISTED: usize = 8;

/// Texts in the titles of figures that the documentation omits: pinned servers and system calls,
/// which explain other figures, and cases that repeat another case.
const OMITTED: [&str; 5] = [
    "on core",
    "system calls",
    ", on tokio,",
    "TCP, 1 connection,",
    "UDP, 1 socket, datagrams of 64 bytes sent back",
];

/// The text for a terminal.
pub(super) fn summary(report: &Report) -> String {
    let tables = tables(report, |_| true);
    format!("{tables}{}\n{}", changes(report), total(report))
}

/// Returns the tables, with the rows for which `is_shown` holds.
pub(super) fn tables(report: &Report, is_shown: fn(&Comparison) -> bool) -> String {
    let mut text = announced::table(report);
    for part in report.parts() {
        let rows = rows(part, is_shown);
        if !rows.is_empty() {
            text += &format!("\n### {}\n{rows}", about(part).0);
        }
    }
    text
}

/// Whether the documentation shows a comparison. It omits waits and [`OMITTED`] titles.
pub(super) fn is_documented(one: &Comparison) -> bool {
    let is_omitted = OMITTED.iter().any(|text| one.title.contains(*text));
    !is_omitted && one.unit != "times"
}

/// Returns the title of a part, and a text that explains it.
pub(super) fn about(part: &[Group]) -> (&'static str, &'static str) {
    let section = part[0].first().section as usize;
    let text = SECTIONS.split("\n## ").nth(1 + section);
    text.and_then(|text| text.trim_end().split_once("\n\n"))
        .unwrap_or_default()
}

fn section(part: &[Group]) -> Section {
    part[0].first().section
}

fn comparisons(part: &[Group]) -> impl Iterator<Item = &Comparison> {
    part.iter().flat_map(|group| &group.0)
}

/// Describes the machine and the versions in one paragraph.
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

/// Summarizes all figures in one sentence.
fn total(report: &Report) -> String {
    Tally::of(report.comparisons()).map_or_else(String::new, |tally| {
        format!(
            "On this machine Raddle is ahead of Tokio at **{}** of {} figures, level at {} and \
             behind at {}. In the middle it is **{} times** as good.\n",
            tally.ahead,
            tally.count,
            tally.level,
            tally.behind,
            short(tally.median)
        )
    })
}

/// Lists the outcome of each part, with a link to it.
fn overview(report: &Report) -> String {
    let mut text = "\n| | ahead | level | behind | times |\n|---|--:|--:|--:|--:|\n".to_owned();
    for part in report.parts() {
        text += &format!("| [{}](#{:?}) ", about(part).0, section(part));
        text += &match Tally::of(comparisons(part)) {
            Some(tally) => format!(
                "| {} | {} | {} | **{}** |\n",
                tally.ahead,
                tally.level,
                tally.behind,
                short(tally.median)
            ),
            None => "| | | | no Tokio in it |\n".to_owned(),
        };
    }
    text
}

/// Lists the changes since the saved report: first those whose intervals do not overlap, the
/// largest first.
///
/// Times of two runs cannot be compared, because the state of the machine differed. The ratio to a
/// contestant that ran beside Raddle both times can be.
fn changes(report: &Report) -> String {
    let Some(saved) = &report.saved else {
        return String::new();
    };
    let saved_groups = groups(&saved.records);
    let mut changes: Vec<_> = report
        .comparisons()
        .filter_map(|one| {
            let mut earlier = saved_groups.iter().flat_map(|group| &group.0);
            let earlier = earlier.find(|earlier| earlier.is_same(one))?;
            let rival = one.rival()?;
            let (then, now) = (earlier.lead(rival)?, one.lead(rival)?);
            let apart = now.low > then.high || now.high < then.low;
            let is_sure = apart && now.is_sure() && then.is_sure();
            let bold = if is_sure { "**" } else { "" };
            let factor = now.median / then.median;
            let row = format!(
                "| {}, {} / {rival} | {} | {} | {bold}{:+.0} %{bold} |\n",
                one.name(),
                one.figure,
                times(then),
                times(now),
                (factor - 1.0) * 100.0
            );
            Some((is_sure, factor.ln().abs(), row))
        })
        .collect();
    changes.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let rows = changes.into_iter().take(CHANGES).map(|(.., row)| row);
    format!(
        "\n### Against {}\n\nHow many times as good as Tokio, or as the contestant that ran beside \
         it, Raddle was then and is now. Only where the intervals are apart, in bold, is it more \
         than chance. Times of two runs are not compared.\n\n| | then | now | change \
         |\n|---|---|---|---|\n{}",
        saved.name,
        rows.collect::<String>()
    )
}

/// Returns the outcome of a part, and a row for each shown figure that has a rival. Of a varied
/// parameter, it shows the value in the middle. The head of the table has the words with which the
/// names of all rows end.
fn rows(part: &[Group], is_shown: fn(&Comparison) -> bool) -> String {
    let shown = part.iter().map(Group::usual).filter(|one| is_shown(one));
    let rows = shown.filter_map(|one| {
        let (lead, _) = one.standing()?;
        let cells = format!(
            "{} | {} | {} | {}",
            median_of(one.contestants.first()?, Raddle::NAME),
            median_of(one.contestant(one.rival()?)?, PEER),
            times(lead),
            one.unit
        );
        Some((format!("{}: {}", one.name(), one.figure), cells))
    });
    let mut rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let end = remove_common_end(&mut rows);
    let row = |(name, cells): &(String, String)| format!("| {name} | {cells} |\n");
    format!(
        "{}\n|{} | Raddle | Tokio | times as good (95 %) | in |\n|---|---|---|---|---|\n{}",
        verdict(part),
        end.trim_start_matches(','),
        rows.iter().map(row).collect::<String>()
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

/// Describes the outcome of a part in two sentences.
fn verdict(part: &[Group]) -> String {
    let Some(tally) = Tally::of(comparisons(part)) else {
        return String::new();
    };
    let behind: Vec<_> = comparisons(part)
        .filter(|one| one.rival() == Some(PEER))
        .filter_map(|one| Some((one, one.standing()?)))
        .filter(|(_, (_, standing))| *standing == Standing::Behind)
        .map(|(one, (lead, _))| format!("{}, {} ({})", one.name(), one.figure, short(lead.median)))
        .collect();
    let listed = behind.len().min(LISTED);
    let more = match (listed, behind.len() - listed) {
        (0, _) => String::new(),
        (_, 0) => format!(" Behind: {}.", behind.join("; ")),
        (_, more) => format!(" Behind: {}, and {more} more.", behind[..listed].join("; ")),
    };
    format!(
        "\nOf {} figures that Tokio has too, Raddle is ahead at {}, level at {} and behind at {}; \
         in the middle it is {} times as good.{more}\n",
        tally.count,
        tally.ahead,
        tally.level,
        tally.behind,
        short(tally.median)
    )
}

pub(super) fn page(report: &Report) -> String {
    let notes = report.records.iter().flat_map(|record| &record.notes);
    let notes: String = notes.map(|note| format!("- {}\n", escaped(note))).collect();
    let opening = format!(
        "# Raddle side by side\n\n{}\nMade by `{}`. All runtimes took turns, round by round, in \
         one run: a noisy machine disturbs them alike. What counts is the ratio; the times are \
         this machine's.\n\n{notes}\n## At a glance\n\nHow many figures of each part have Raddle \
         ahead of Tokio, level, or behind, and the lead in the middle of them.\n{}{}{}",
        total(report),
        report.command,
        overview(report),
        announced::table(report),
        changes(report)
    );
    let programs = report.records.iter().map(|record| {
        let ended = Timestamp::from_second(record.finished).unwrap_or_default();
        format!(
            "| `{}` | {} | {} | {} |\n",
            record.command,
            ended.strftime("%Y-%m-%d %H:%M UTC"),
            record.machine.commit,
            short(record.machine.load)
        )
    });
    let end = format!(
        "{READING}\n## The machine, and what ran\n\n{}\n| program | ended | commit | load \
         |\n|---|---|---|--:|\n{}",
        machine(report),
        programs.collect::<String>()
    );
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>Raddle side by \
         side</title><style>{STYLE}</style></head><body>{}{}{}</body></html>",
        html(&opening),
        report.parts().map(part).collect::<String>(),
        html(&end)
    )
}

fn html(markdown: &str) -> String {
    let mut html = String::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
    pulldown_cmark::html::push_html(&mut html, Parser::new_ext(markdown, options));
    // On a phone a table scrolls by itself.
    html.replace("<table>", "<div class=\"scroll\"><table>")
        .replace("</table>", "</table></div>")
}

fn part(part: &[Group]) -> String {
    let (title, about) = about(part);
    let heading = format!("## {title} {{#{:?}}}\n\n{about}\n", section(part));
    let leads = leads(part.iter().map(Group::usual));
    let forest = match leads.is_empty() {
        true => String::new(),
        false => format!(
            "<figure class=\"wide\">{}<figcaption>How many times as good as Tokio, or as the \
             contestant that a row names first, {} is, with the 95 % interval; of a varied \
             parameter, the value in the middle.</figcaption></figure>",
            plot::forest(
                &format!("{title}: how many times as good Raddle is"),
                &leads
            ),
            match part[0].first().contestants.first() {
                Some(first) if first.name != Raddle::NAME => &first.name,
                _ => "Raddle",
            }
        ),
    };
    let curves = part.iter().filter(|group| group.is_curve());
    let curves = curves.map(|group| format!("<figure>{}</figure>", plot::curves(&[group])));
    let all: Vec<_> = comparisons(part).cloned().collect();
    format!(
        "{}{forest}<div class=\"plots\">{}</div>{}<details><summary>All figures</summary><div \
         class=\"scroll\"><pre>{}\n{}</pre></div></details>",
        html(&heading),
        curves.collect::<String>(),
        html(&rows(part, |_| true)),
        table::columns(),
        escaped(&table::rows(&all))
    )
}
