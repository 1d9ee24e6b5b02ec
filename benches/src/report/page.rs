//! The page: one file that needs no other, no network and no script. Its text and tables are
//! Markdown, and its curves SVG.

use jiff::Timestamp;
use pulldown_cmark::{Options, Parser};

use crate::record::Record;
use crate::table;

use super::plot::{self, escaped};
use super::{Group, Part, Report, leads, markdown, words};

const STYLE: &str = include_str!("page/style.css");
const READING: &str = include_str!("page/reading.md");

pub(super) fn page(report: &Report) -> String {
    let notes = report.records.iter().flat_map(|record| &record.notes);
    let notes: String = notes.map(|note| format!("- {}\n", escaped(note))).collect();
    let opening = format!(
        "# Raddle side by side\n\n{}\nMade by `{}`. All runtimes took turns, round by round, in \
         one run: a noisy machine disturbs them alike. What counts is the ratio; the times are \
         this machine's.\n\n{notes}\n## At a glance\n\nHow many figures of each part have Raddle \
         ahead of Tokio, level, or behind, and the lead in the middle of them.\n{}{}{}",
        markdown::total(report),
        report.command,
        markdown::overview(report),
        markdown::announced(report),
        markdown::changes(report)
    );
    let parts: String = report.parts.iter().map(section).collect();
    let programs: String = report.records.iter().map(ran).collect();
    let end = format!(
        "{READING}\n## The machine, and what ran\n\n{}\n| program | ended | commit | load \
         |\n|---|---|---|--:|\n{programs}",
        markdown::machine(report)
    );
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>Raddle side by \
         side</title><style>{STYLE}</style></head>\
         <body>{}{parts}{}</body></html>",
        html(&opening),
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

fn section(part: &Part) -> String {
    let (title, about) = words::about(part.section);
    let mut text = html(&format!("## {title} {{#{}}}\n\n{about}\n", part.anchor()));
    let leads = leads::leads(part.groups.iter().map(Group::usual));
    if !leads.is_empty() {
        let label = format!("{title}: how many times as good Raddle is");
        text += &format!(
            "<figure class=\"wide\">{}<figcaption>How many times as good as Tokio, or as the \
             contestant that a row names first, {} is, with the 95 % interval; of what was \
             varied, one in the middle.</figcaption></figure>",
            plot::forest(&label, &leads),
            first(part)
        );
    }
    let curves = part.groups.iter().filter(|group| group.0.len() > 1);
    let curves = curves.map(|group| format!("<figure>{}</figure>", plot::curve(group)));
    text += &format!("<div class=\"plots\">{}</div>", curves.collect::<String>());
    text += &html(&markdown::rows(part));
    let all: Vec<_> = part.comparisons().cloned().collect();
    text + &format!(
        "<details><summary>All figures</summary><div \
         class=\"scroll\"><pre>{}\n{}</pre></div></details>",
        table::columns(),
        escaped(&table::rows(&all))
    )
}

/// The contestant that is compared with the others.
fn first(part: &Part) -> &str {
    let first = part.comparisons().find_map(|one| one.contestants.first());
    match first.map(|one| one.name.as_str()) {
        None | Some("raddle") => "Raddle",
        Some(name) => name,
    }
}

fn ran(record: &Record) -> String {
    let ended = Timestamp::from_second(record.finished).map_or_else(
        |_| String::new(),
        |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    );
    format!(
        "| `{}` | {ended} | {} | {} |\n",
        record.command,
        record.machine.commit,
        table::short(record.machine.load)
    )
}
