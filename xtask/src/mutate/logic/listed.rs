//! The mutants that cargo-mutants finds.
//!
//! It only lists them: [`super::super::judge`] runs the models too, and keeps the
//! verdicts. `.cargo/mutants.toml` says what it leaves out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::quoted;
use crate::mutate::mutants::Change;
use crate::steps::cargo;

const INSTALL: &str = "cargo install --locked cargo-mutants";

/// A mutant as cargo-mutants lists it. Lines and columns begin at 1.
#[derive(Debug)]
pub(super) struct Entry {
    /// `replace < with <=`, or of a body `replace len -> usize with 0`.
    description: String,
    is_body: bool,
    start: (usize, usize),
    end: (usize, usize),
    replacement: String,
}

/// The mutants of a package, by file.
pub(super) fn of(root: &Path, package: &str) -> Result<BTreeMap<PathBuf, Vec<Entry>>> {
    let args = ["mutants", "--list", "--json", "--package", package];
    let output = cargo(root, &args)
        .arg("--dir")
        .arg(root)
        .output()
        .context("cannot start cargo")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("no such command") {
        bail!("--logic needs cargo-mutants, which is not installed: {INSTALL}");
    }
    if !output.status.success() {
        bail!("cargo mutants --list: {}: {}", output.status, errors.trim());
    }
    parse(&serde_json::from_slice(&output.stdout)?).with_context(|| {
        format!("cargo mutants --list --json has an unexpected shape; a newer one: {INSTALL}")
    })
}

fn parse(listing: &Value) -> Option<BTreeMap<PathBuf, Vec<Entry>>> {
    let mut files = BTreeMap::<_, Vec<_>>::new();
    for mutant in listing.as_array()? {
        let position = |name| {
            let position = &mutant["span"][name];
            let number = |name| usize::try_from(position[name].as_u64()?).ok();
            Some((number("line")?, number("column")?))
        };
        let file = mutant["file"].as_str()?;
        let name = mutant["name"].as_str()?;
        // `FILE:LINE:COLUMN: DESCRIPTION in FUNCTION`
        let description = name.strip_prefix(file)?.splitn(4, ':').nth(3)?.trim();
        let function = mutant["function"]["function_name"].as_str();
        let suffix = function.map(|function| format!(" in {function}"));
        let short = suffix.and_then(|suffix| description.strip_suffix(&suffix));
        files.entry(file.into()).or_default().push(Entry {
            description: short.unwrap_or(description).to_owned(),
            is_body: mutant["genre"] == "FnValue",
            start: position("start")?,
            end: position("end")?,
            replacement: mutant["replacement"].as_str()?.to_owned(),
        });
    }
    Some(files)
}

impl Entry {
    /// The change of a file with this text.
    pub(super) fn change(self, text: &str) -> Option<Change> {
        let line = self.start.0.checked_sub(1)?;
        let mut words = quoted(&self.description);
        if !self.is_body {
            let source = text.lines().nth(line)?;
            words = format!("{words} in {}", quoted(source));
        }
        Some(Change {
            words,
            line,
            range: offset(text, self.start)?..offset(text, self.end)?,
            replacement: self.replacement,
        })
    }
}

/// Where a line and a column stand in a text.
fn offset(text: &str, (line, column): (usize, usize)) -> Option<usize> {
    let start: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let mut places = text[start..].char_indices().map(|(place, _)| place);
    let within = places.nth(column - 1).unwrap_or(text.len() - start);
    Some(start + within)
}

#[cfg(test)]
mod tests;
