//! Changes of what the code computes.
//!
//! cargo-mutants replaces bodies of functions, operators, match arms and match
//! guards: see [`listed`]. [`syntax`] adds what it lacks.

mod listed;
mod syntax;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::mutants::{self, Change, Mutant};
use crate::tidy::text::File;

/// The crates whose logic is changed if the user names none.
const CRATES: &[&str] = &[
    "raddle-queue",
    "raddle-task",
    "raddle-blocking",
    "raddle-timer",
    "raddle-reactor",
    "raddle-sync",
    "raddle-sched",
];

/// Whether the logic of this crate is changed if the user names no crate.
pub(super) fn is_default(package: &str) -> bool {
    CRATES.contains(&package)
}

/// The mutants of some files of a package.
pub(super) fn of(root: &Path, package: &str, files: &[(File, String)]) -> Result<Vec<Mutant>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut listed = listed::of(root, package)?;
    let mut found = Vec::new();
    for (file, text) in files {
        let mut changes = syntax::changes(text).with_context(|| file.path.display().to_string())?;
        for entry in listed.remove(&file.path).unwrap_or_default() {
            changes.push(entry.change(text).context("cargo-mutants names no place")?);
        }
        changes.sort_by_key(|change| change.range.start);
        number(file, &mut changes);
        found.extend(mutants::in_order(file, changes));
    }
    Ok(found)
}

/// Tells changes of one function apart that have the same words.
fn number(file: &File, changes: &mut [Change]) {
    let mut like = BTreeMap::new();
    for change in changes {
        let function = mutants::function(file, change.range.start);
        let count = like.entry((function, change.words.clone())).or_insert(0);
        *count += 1;
        if *count > 1 {
            change.words = format!("{} (no. {count})", change.words);
        }
    }
}

/// A piece of source on one line, quoted and cut to a length that a table holds.
fn quoted(source: &str) -> String {
    const LENGTH: usize = 90;
    let line = mutants::one_line(source).replace('`', "'");
    match line.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("`{}...`", &line[..end]),
        None => format!("`{line}`"),
    }
}

#[cfg(test)]
mod tests;
