//! Changes of what the code computes: see [`syntax`].

mod syntax;
mod values;

use std::collections::BTreeMap;

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

/// The mutants of a file.
pub(super) fn of(file: &File, text: &str) -> Result<Vec<Mutant>> {
    let mut changes = syntax::changes(text).with_context(|| file.path.display().to_string())?;
    changes.sort_by_key(|change| change.range.start);
    number(file, &mut changes);
    Ok(mutants::in_order(file, changes))
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
