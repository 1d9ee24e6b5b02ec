//! `cargo xtask tidy`: the rules of layout, dependencies and comments, as code.

mod code_map;
mod imports;
pub(crate) mod layers;
mod layout;
mod prose;
mod regressions;
mod source;
pub(crate) mod text;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::workspace::{self, Package};

pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let packages = workspace::packages(&root)?;
    check(&root, &packages)?;
    println!("tidy: no rule is broken");
    Ok(())
}

/// Applies every rule and prints what breaks one.
pub(crate) fn check(root: &Path, packages: &[Package]) -> Result<()> {
    let mut findings = layout::check(root, packages)?;
    findings.extend(layers::check(packages));
    findings.extend(regressions::check(root)?);
    findings.extend(prose::check(root)?);
    let map = fs::read_to_string(root.join(code_map::PAGE)).context(code_map::PAGE)?;
    for package in packages {
        let files = text::files(root, package)?;
        findings.extend(files.iter().flat_map(source::check));
        findings.extend(code_map::check(&map, &files));
        findings.extend(imports::check(&package.name, &files));
    }
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => bail!("tidy: 1 rule is broken, see above"),
        count => bail!("tidy: {count} rules are broken, see above"),
    }
}
