//! The width of prose in pages and comments, and the paths that `CONTRIBUTING.md` names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::text;

/// How many columns a line of prose has at most.
const WIDTH: usize = 100;

/// The page whose paths must exist.
const PATHS_OF: &str = "CONTRIBUTING.md";

/// The directories that a path in [`PATHS_OF`] may begin with.
const DIRECTORIES: [&str; 4] = ["benches/", "crates/", "docs/", "xtask/"];

/// Applies the rules to every page and source file under `root`.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for path in text::walk(root, &["md", "rs"], |dir| !is_skipped(dir))? {
        let text = fs::read_to_string(&path)?;
        let path = path.strip_prefix(root)?;
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        let lines = too_wide(&text, is_page);
        let found = |line| format!("{}:{line}: prose is wider than {WIDTH}", path.display());
        findings.extend(lines.into_iter().map(found));
    }
    let page = fs::read_to_string(root.join(PATHS_OF))?;
    let missing = paths_in(&page).filter(|path| !root.join(path).exists());
    findings.extend(missing.map(|path| format!("{PATHS_OF}: there is no {}", path.display())));
    Ok(findings)
}

/// Whether a directory contains no text of the project: build output, or hidden files.
fn is_skipped(dir: &Path) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name == "target" || name.starts_with('.'))
}

/// Returns the numbers of lines of prose that are too wide. Tables, code, and a single word or
/// link, which cannot be broken, may be wide.
fn too_wide(text: &str, is_page: bool) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line.trim_start().strip_prefix("//");
        let Some(prose) = is_page.then_some(line).or(comment) else {
            is_code = false;
            continue;
        };
        let prose = prose.trim_start_matches(['/', '!']).trim();
        if prose.starts_with("```") {
            is_code = !is_code;
        }
        let can_break = prose.trim_start_matches(['-', '*', ' ']).contains(' ');
        if !is_code && !prose.starts_with('|') && can_break && line.chars().count() > WIDTH {
            lines.push(number);
        }
    }
    lines
}

/// Returns the paths in backticks that begin with one of [`DIRECTORIES`] and have no placeholder.
fn paths_in(page: &str) -> impl Iterator<Item = PathBuf> + '_ {
    let spans = page.split('`').skip(1).step_by(2);
    let paths = spans.filter(|span| DIRECTORIES.iter().any(|start| span.starts_with(start)));
    paths
        .filter(|path| !path.contains(['<', ' ']))
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests;
