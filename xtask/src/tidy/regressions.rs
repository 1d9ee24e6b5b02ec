//! Checks `docs/regressions.md`: each listed bug must have tests, which exist and name the bug.

use std::fs;
use std::path::Path;

use anyhow::Result;
use regex::Regex;

use super::text;

/// The page, relative to the root.
const PAGE: &str = "docs/regressions.md";

/// Checks the rows of all tables of the page.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let page = text::read(&root.join(PAGE))?;
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
            match documentation(root, test)? {
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
fn documentation(root: &Path, test: &str) -> Result<Option<String>> {
    let (path, name) = test.split_once("::").unwrap_or((test, ""));
    let within = if path.starts_with("xtask/") {
        ""
    } else {
        "crates"
    };
    let text = fs::read_to_string(root.join(within).join(path)).unwrap_or_default();
    let above = Regex::new(&format!(
        r"(?m)((?:^.*\S.*\n)*)^ *(?:async )?fn {name}\((?:sim: &mut Sim)?\)"
    ))?;
    let above = above.captures(&text).map(|found| found[1].to_owned());
    let is_test = |above: &String| above.contains("#[test]\n") || above.contains("::test(seeds");
    Ok(above.filter(is_test))
}
