//! Checks the links of the pages to files and headings of the repository.

use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use super::commands;
use crate::tidy::text;

/// A link, whose text may be wrapped, as is its target.
static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\]\(\s*([^\s()]+)\s*\)").expect("a valid pattern"));

/// Returns the numbers of lines with a link to what does not exist, and what that is.
pub(super) fn check(root: &Path, page: &Path, text: &str) -> Result<Vec<(usize, String)>> {
    let dir = root.join(page.parent().unwrap_or(page));
    let prose = without_code(text);
    let mut findings = Vec::new();
    for link in LINK.captures_iter(&prose) {
        let start = link.get(0).map_or(0, |it| it.start());
        let line = prose[..start].matches('\n').count() + 1;
        let (file, heading) = link[1].split_once('#').unwrap_or((&link[1], ""));
        // An address, or an item of rustdoc.
        if file.contains("://") || file.contains("::") {
            continue;
        }
        let path = match file {
            "" => root.join(page),
            file => dir.join(file),
        };
        let is_page = path.extension().is_some_and(|it| it == "md");
        if !path.exists() {
            findings.push((line, format!("there is no {file}")));
        } else if is_page && !heading.is_empty() && !has_heading(&text::read(&path)?, heading) {
            findings.push((
                line,
                format!("no heading of {} is {heading}", path.display()),
            ));
        }
    }
    Ok(findings)
}

/// Returns the text with empty lines in place of the blocks of code.
fn without_code(text: &str) -> String {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let blocks = commands::blocks(&lines);
    let within: Vec<_> = blocks
        .iter()
        .map(|(_, at, it)| at - 1..at - 1 + it.len())
        .collect();
    for index in within.into_iter().flatten() {
        lines[index].clear();
    }
    lines.join("\n")
}

/// Whether a page has a heading with this anchor: its letters and digits, and `-` for each space.
fn has_heading(text: &str, anchor: &str) -> bool {
    let anchor_of = |heading: &str| -> String {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = |it: &char| it.is_alphanumeric() || " -_".contains(*it);
        heading
            .chars()
            .filter(kept)
            .map(|it| if it == ' ' { '-' } else { it })
            .collect()
    };
    let text = without_code(text);
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    headings.any(|heading| anchor_of(heading) == anchor)
}
