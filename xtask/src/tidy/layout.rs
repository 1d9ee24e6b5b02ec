//! The layout: the top level, each crate's manifest and README, and the
//! Rust version.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use toml::Table;

use crate::workspace::Package;

/// What a reader sees at the root. Hidden files are free.
const TOP_LEVEL: &[&str] = &[
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "clippy.toml",
    "crates",
    "docs",
    "rust-toolchain.toml",
    "target",
    "xtask",
];

/// Applies the rules to the workspace at `root`.
pub(super) fn check(root: &Path, packages: &[Package]) -> Result<Vec<String>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(root)? {
        entries.push(entry?.file_name().to_string_lossy().into_owned());
    }
    entries.sort();
    let mut findings = top_level(&entries);

    let readme = fs::read_to_string(root.join("README.md")).context("README.md")?;
    for package in packages {
        let dir = &package.dir;
        findings.extend(lints(dir, &manifest(&root.join(dir))?));
        if dir.starts_with("crates") {
            findings.extend(described(dir, &readme));
            if !root.join(dir).join("README.md").is_file() {
                findings.push(format!("{}: has no README.md", dir.display()));
            }
        }
    }

    let toolchain: Table = fs::read_to_string(root.join("rust-toolchain.toml"))?.parse()?;
    findings.extend(rust_version(&manifest(&root.join("xtask"))?, &toolchain));
    Ok(findings)
}

fn manifest(dir: &Path) -> Result<Table> {
    let path = dir.join("Cargo.toml");
    let text = fs::read_to_string(&path)?;
    text.parse().with_context(|| path.display().to_string())
}

fn top_level(entries: &[String]) -> Vec<String> {
    entries
        .iter()
        .filter(|entry| !entry.starts_with('.') && !TOP_LEVEL.contains(&entry.as_str()))
        .map(|entry| format!("{entry}: does not belong at the top level"))
        .collect()
}

fn lints(dir: &Path, manifest: &Table) -> Option<String> {
    let inherits = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"))
        .and_then(toml::Value::as_bool);
    (inherits != Some(true))
        .then(|| format!("{}/Cargo.toml: lacks lints.workspace = true", dir.display()))
}

/// The table of layers links the README of each crate.
fn described(dir: &Path, readme: &str) -> Option<String> {
    let link = format!("({}/README.md)", dir.display());
    let listed = readme
        .lines()
        .any(|line| line.starts_with('|') && line.contains(&link));
    (!listed).then(|| format!("README.md: no row of a table links {link}"))
}

/// The pinned toolchain is the oldest that the development packages promise. What the crates
/// promise is older, and checked by `cargo xtask platforms`.
fn rust_version(xtask: &Table, toolchain: &Table) -> Option<String> {
    let promised = string(xtask, &["package", "rust-version"]);
    let used = string(toolchain, &["toolchain", "channel"]);
    let same = match (promised, used) {
        (Some(promised), Some(used)) => {
            used == promised || used.strip_prefix(promised).is_some_and(|rest| rest == ".0")
        }
        _ => false,
    };
    (!same)
        .then(|| format!("rust-toolchain.toml: channel {used:?} is not rust-version {promised:?}"))
}

fn string<'a>(table: &'a Table, path: &[&str]) -> Option<&'a str> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    rest.iter()
        .try_fold(value, |value, key| value.get(*key))?
        .as_str()
}

#[cfg(test)]
mod tests;
