//! `cargo xtask tidy`: checks the rules of layout, dependencies and comments.

mod figures;
pub(crate) mod layers;
mod layout;
mod regressions;
mod source;
pub(crate) mod text;

use anyhow::Result;

use crate::{pages, steps, workspace};

/// Applies every rule and prints the violations.
pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let packages = workspace::packages()?;
    let mut findings = layout::check(root, &packages)?;
    findings.extend(regressions::check(root)?);
    findings.extend(figures::check(root)?);
    findings.extend(pages::check(root, &packages)?);
    for package in &packages {
        findings.extend(layers::check(package));
        let files = text::files(root, package)?;
        findings.extend(files.iter().flat_map(source::check));
    }
    steps::report(&findings, "each breaks a rule of xtask/src/tidy")?;
    println!("tidy: no rule is broken");
    Ok(())
}
