//! `cargo xtask tidy`: checks the rules of layout, dependencies and comments.

mod code_map;
mod imports;
pub(crate) mod layers;
mod layout;
mod prose;
mod regressions;
mod source;
pub(crate) mod text;

use std::fs;

use anyhow::{Context as _, Result};

use crate::{steps, workspace};

/// Applies every rule and prints the violations.
pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let packages = workspace::packages()?;
    let mut findings = layout::check(root, &packages)?;
    findings.extend(regressions::check(root)?);
    findings.extend(prose::check(root)?);
    let map = fs::read_to_string(root.join(code_map::PAGE)).context(code_map::PAGE)?;
    for package in &packages {
        findings.extend(layers::check(package));
        let files = text::files(root, package)?;
        findings.extend(files.iter().flat_map(source::check));
        findings.extend(code_map::check(&map, &files));
        findings.extend(imports::check(&package.name, &files));
    }
    steps::report(&findings, "each breaks a rule of xtask/src/tidy")?;
    println!("tidy: no rule is broken");
    Ok(())
}
