//! Checks that each measured comparison on a page is one of the record, `docs/benchmarks.md`.
//!
//! `report --docs` writes tables between two marks of some pages, from the records of one run.
//! Figures of a comparison stand there and nowhere else.

use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use super::text;
use crate::pages;

/// The page with all figures of the run.
const RECORD: &str = "docs/benchmarks.md";

/// The page whose figures are chosen from those of the record.
const FIRST: &str = "README.md";

const BEGIN: &str = "<!-- figures -->";
const END: &str = "<!-- end of figures -->";

/// A ratio with its interval, or in words.
static COMPARISON: LazyLock<Regex> = LazyLock::new(|| {
    let interval = r"\d+\.\d+\*{0,2} \(\d+\.\d+ to \d+\.\d+\)";
    let words = r"\b\d+(\.\d+)? times (as|less|lower|more|faster|slower|its|the) ";
    Regex::new(&format!("{interval}|{words}")).expect("a valid pattern")
});

static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d+(\.\d+)?").expect("a valid pattern"));

pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let record = text::read(&root.join(RECORD))?;
    let mut findings = Vec::new();
    for page in pages::files(root)? {
        if page.extension().is_none_or(|it| it != "md") {
            continue;
        }
        let text = text::read(&root.join(&page))?;
        let shown = page.display();
        let found = compared(&text).into_iter();
        findings.extend(found.map(|line| {
            format!("{shown}:{line}: a figure outside of what `report --docs` writes")
        }));
        if page.as_path() == Path::new(FIRST) {
            let found = unknown(&text, &record).into_iter();
            findings.extend(found.map(|line| format!("{shown}:{line}: not in {RECORD}")));
        }
    }
    Ok(findings)
}

/// Returns the lines with comparisons outside of the marks.
fn compared(text: &str) -> Vec<usize> {
    let mut is_written = false;
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        is_written = line == BEGIN || is_written && line != END;
        if !is_written && COMPARISON.is_match(line) {
            found.push(number);
        }
    }
    found
}

/// Returns the rows between the marks whose figures no line of the record has.
fn unknown(text: &str, record: &str) -> Vec<usize> {
    let record: Vec<Vec<&str>> = record.lines().map(numbers).collect();
    let mut is_written = false;
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        is_written = line == BEGIN || is_written && line != END;
        // The label may have numbers of its own.
        let figures = line.splitn(3, '|').nth(2).map(numbers).unwrap_or_default();
        let is_known = |of: &Vec<&str>| figures.iter().all(|figure| of.contains(figure));
        if is_written
            && !figures.is_empty()
            && !line.contains("95 %")
            && !record.iter().any(is_known)
        {
            found.push(number);
        }
    }
    found
}

fn numbers(text: &str) -> Vec<&str> {
    NUMBER
        .find_iter(text)
        .map(|number| number.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{compared, unknown};

    #[test]
    fn a_comparison_stands_between_the_marks() {
        for line in [
            "It is 2.3 times as fast.",
            "| axum | 1.13 (1.06 to 1.54) |",
            "takes **1.38** (1.35 to 1.43)",
            "uses 3 times less memory",
        ] {
            assert_eq!(compared(line), [1], "{line}");
            let marked = format!("<!-- figures -->\n{line}\n<!-- end of figures -->\n{line}");
            assert_eq!(compared(&marked), [4], "{line}");
        }
        assert_eq!(compared("It is polled 2 times in 10 (1 to 3) ms."), [0; 0]);
    }

    #[test]
    fn a_figure_of_the_first_page_is_in_the_record() {
        let record = "| spawn, workers 2: time | 135 | 1002 | 7.64 (4.96 to 8.44) | us |";
        let page = |lead: &str| {
            format!(
                "<!-- figures -->\n| 2 tasks | 135 | 1002 | {lead} | us |\n<!-- end of figures -->"
            )
        };
        assert_eq!(unknown(&page("7.64 (4.96 to 8.44)"), record), [0; 0]);
        assert_eq!(unknown(&page("7.65 (4.96 to 8.44)"), record), [2]);
        assert_eq!(unknown(&page("7.64 (4.96 to 18.44)"), record), [2]);
    }
}
