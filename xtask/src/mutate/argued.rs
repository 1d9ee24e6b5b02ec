//! The list of the mutants that no test can see, with the reason for each.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::mutants::Mutant;

/// The page that holds the list.
pub(super) const PAGE: &str = "docs/mutants.md";

/// The heading of the part that lists the mutants of `--logic`. The part before
/// it lists orderings, fences and checks.
const LOGIC: &str = "\n## Logic\n";

/// The rows of one part of the list: file, function and change.
pub(super) struct Argued {
    rows: Vec<String>,
}

impl Argued {
    pub(super) fn read(root: &Path, logic: bool) -> Result<Self> {
        let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
        Ok(Self::parse(&page, logic))
    }

    fn parse(page: &str, logic: bool) -> Self {
        let (orderings, of_logic) = page.split_once(LOGIC).unwrap_or((page, ""));
        let part = if logic { of_logic } else { orderings };
        let is_row = |line: &&str| line.starts_with("| `crates/");
        let rows = part.lines().filter(is_row).map(str::to_owned).collect();
        Self { rows }
    }

    /// Whether a row names the file, the function and the change.
    pub(super) fn contains(&self, mutant: &Mutant) -> bool {
        let row = mutant.row();
        self.rows.iter().any(|line| line.starts_with(&row))
    }

    /// The rows about these files that name no mutant: the source has changed.
    pub(super) fn stale(&self, files: &BTreeSet<PathBuf>, mutants: &[Mutant]) -> Vec<&str> {
        let known: Vec<String> = mutants.iter().map(Mutant::row).collect();
        let is_about = |row: &&str| {
            let path = row.split('`').nth(1).unwrap_or_default();
            files.contains(Path::new(path))
        };
        let is_stale = |row: &&str| !known.iter().any(|name| row.starts_with(name));
        let rows = self.rows.iter().map(String::as_str);
        rows.filter(is_about).filter(is_stale).collect()
    }
}

#[cfg(test)]
mod tests;
