//! What `docs/regressions.md` promises: each bug that it lists has tests, which
//! exist and say which bug they are for.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// The page, relative to the root.
const PAGE: &str = "docs/regressions.md";

/// Applies the rules to the page of the workspace at `root`.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    Ok(rows(&page, |path| {
        let within = if path.starts_with("xtask/") {
            ""
        } else {
            "crates"
        };
        fs::read_to_string(root.join(within).join(path)).ok()
    }))
}

/// Goes through the rows of all tables. `file` gives what is in a file, by its
/// path as the page has it: under `crates`, or in `xtask`.
fn rows(page: &str, file: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, line) in page.lines().enumerate() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let ["", reports, .., tests, ""] = cells[..] else {
            continue;
        };
        if reports == "seen in" || reports.starts_with("---") {
            continue;
        }
        let mut object = |what: String| findings.push(format!("{PAGE}:{}: {what}", index + 1));
        let mut docs = String::new();
        let mut count = 0;
        for test in tests.split('`').skip(1).step_by(2) {
            count += 1;
            match documentation(test, &file) {
                Some(text) => docs.push_str(&text),
                None => object(format!("there is no test {test}")),
            }
        }
        if count == 0 {
            object(format!("no test is named for {reports}"));
            continue;
        }
        let numbers = |text: &str| -> Vec<String> {
            let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
            let number = |word: &&str| word.ends_with(|last: char| last.is_ascii_digit());
            words.filter(number).map(str::to_owned).collect()
        };
        let known = numbers(&docs);
        for number in numbers(reports) {
            if !known.contains(&number) {
                object(format!("no doc comment of its tests names {number}"));
            }
        }
    }
    findings
}

/// The doc comment and attributes directly above a test. None if
/// there is no such test.
fn documentation(test: &str, file: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (path, name) = test.split_once("::")?;
    let text = file(path)?;
    let lines: Vec<_> = text.lines().collect();
    let head = format!("fn {name}()");
    let at = lines.iter().position(|line| {
        line.trim_start()
            .trim_start_matches("async ")
            .starts_with(&head)
    })?;
    let above = lines[..at].iter().rev();
    let block: Vec<_> = above.take_while(|line| !line.trim().is_empty()).collect();
    let is_test = block.iter().any(|line| line.trim() == "#[test]");
    is_test.then(|| block.iter().map(|line| format!("{line}\n")).collect())
}

#[cfg(test)]
mod tests;
