//! Each crate's manifest and README.

use std::path::Path;

use anyhow::Result;

use super::text;
use crate::workspace::Package;

/// Applies the rules to the workspace at `root`.
pub(super) fn check(root: &Path, packages: &[Package]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let readme = text::read(&root.join("README.md"))?;
    for Package { dir, .. } in packages {
        let manifest = text::read(&root.join(dir).join("Cargo.toml"))?;
        let dir = dir.display();
        let mut inherited = ["[lints]\nworkspace = true\n", "\nlints.workspace = true\n"].iter();
        if !inherited.any(|lints| manifest.contains(lints)) {
            findings.push(format!("{dir}/Cargo.toml: add lints.workspace = true"));
        }
        let page = format!("{dir}/README.md");
        if !page.starts_with("crates") {
            continue;
        }
        let mut rows = readme.lines().filter(|line| line.starts_with('|'));
        if !rows.any(|row| row.contains(&format!("({page})"))) {
            findings.push(format!("README.md: no row of a table links {page}"));
        }
        if !root.join(&page).is_file() {
            findings.push(format!("{dir}: has no README.md"));
        }
    }
    Ok(findings)
}
