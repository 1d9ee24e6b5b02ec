//! Checks `docs/regressions.md`: each listed bug must have tests, which exist and name the bug.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use regex::Regex;

/// The page, relative to the root.
const PAGE: &str = "docs/regressions.md";

/// Applies the rules to the page of the workspace at `root`.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    rows(&page, |path| {
        let in_xtask = path.starts_with("xtask/");
        let within = if in_xtask { "" } else { "crates" };
        fs::read_to_string(root.join(within).join(path)).ok()
    })
}

/// Checks the rows of all tables. `file` returns the content of a file from its path in the page:
/// below `crates`, or in `xtask`.
fn rows(page: &str, file: impl Fn(&str) -> Option<String>) -> Result<Vec<String>> {
    // The number of an issue or a pull request, or the name of an advisory.
    let number = Regex::new(r"[\w-]*\d\b")?;
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
        let tests: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        for test in &tests {
            match documentation(test, &file)? {
                Some(text) => docs.push_str(&text),
                None => object(format!("there is no test {test}")),
            }
        }
        if tests.is_empty() {
            object(format!("no test is named for {reports}"));
            continue;
        }
        let is_named = |bug: &str| number.find_iter(&docs).any(|named| named.as_str() == bug);
        for bug in number.find_iter(reports).map(|bug| bug.as_str()) {
            if !is_named(bug) {
                object(format!("no doc comment of its tests names {bug}"));
            }
        }
    }
    Ok(findings)
}

/// Returns the doc comment and the attributes directly above a test. `None` if there is no such
/// test.
fn documentation(test: &str, file: impl Fn(&str) -> Option<String>) -> Result<Option<String>> {
    let (path, name) = test.split_once("::").unwrap_or((test, ""));
    let above = Regex::new(&format!(r"(?m)((?:^.*\S.*\n)*)^ *(?:async )?fn {name}\(\)"))?;
    let text = file(path).unwrap_or_default();
    let above = above.captures(&text).map(|found| found[1].to_owned());
    Ok(above.filter(|above| above.contains("#[test]\n")))
}
