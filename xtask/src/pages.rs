//! What the pages tell a reader to type: commands, dependencies and environment variables; and
//! where their links lead.
//!
//! `cargo xtask tidy` checks that everything exists which they name. `cargo xtask pages` runs the
//! programs: the examples, a new program as in the guide, and the stand-in with a lock file.

mod cargo;
mod commands;
mod links;
mod sources;
mod try_out;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use crate::tidy::text;
use crate::workspace::{self, Package};
use cargo::Checker;
use commands::Shown;
pub(crate) use commands::pages as files;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write into all pages where Raddle is got from (`xtask/src/pages/sources.rs`); run nothing
    #[arg(long)]
    write: bool,
}

/// Programs of blocks of commands that are not Raddle's.
const FOREIGN: [&str; 5] = ["./service", "curl", "gdb", "git", "nc"];

/// The names of Raddle's environment variables.
static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bRADDLE_[A-Z_]*[A-Z]\b").expect("a valid pattern"));

pub(crate) fn run(args: &Args) -> Result<()> {
    let packages = workspace::packages()?;
    if !args.write {
        return run_all(&packages);
    }
    let root = workspace::root();
    for page in commands::pages(root)? {
        let text = text::read(&root.join(&page))?;
        let written = sources::written(&page, &text, &packages);
        if written != text {
            println!("{}", page.display());
            fs::write(root.join(&page), written)?;
        }
    }
    Ok(())
}

/// Runs everything that needs a build.
pub(crate) fn run_all(packages: &[Package]) -> Result<()> {
    let root = workspace::root();
    let mut shown = Vec::new();
    for page in commands::pages(root)? {
        shown.extend(commands::find(&page, &text::read(&root.join(&page))?));
    }
    try_out::lock_file(root, packages)?;
    try_out::new_program(root)?;
    try_out::examples(root, packages, &shown)
}

/// Returns what the pages tell a reader to type and does not exist.
pub(crate) fn check(root: &Path, packages: &[Package]) -> Result<Vec<String>> {
    let mut findings = cargo::ambiguous_examples(packages);
    let checker = Checker { root, packages };
    let mut texts = Vec::new();
    for page in commands::pages(root)? {
        let text = text::read(&root.join(&page))?;
        texts.push((page, text));
    }
    let sources = texts.iter().filter(|(page, _)| is_source(page));
    let known: BTreeSet<_> = sources
        .flat_map(|(_, text)| VARIABLE.find_iter(text))
        .map(|found| found.as_str())
        .collect();
    for (page, text) in &texts {
        let at = |line: usize, what: String| format!("{}:{line}: {what}", page.display());
        if !is_source(page) {
            for (line, text) in (1..).zip(text.lines()) {
                let named = VARIABLE.find_iter(text).map(|found| found.as_str());
                let unknown = named.filter(|name| !known.contains(name));
                findings.extend(unknown.map(|name| at(line, format!("no source reads {name}"))));
            }
        }
        if !is_source(page) {
            let broken = links::check(root, page, text)?;
            findings.extend(broken.into_iter().map(|(line, what)| at(line, what)));
        }
        for (line, what) in sources::check(root, page, text, packages) {
            findings.push(at(line, what));
        }
        for shown in commands::find(page, text) {
            for what in of_command(&checker, &shown)? {
                findings.push(at(shown.line, format!("`{}`: {what}", shown.text())));
            }
        }
    }
    Ok(findings)
}

fn is_source(page: &Path) -> bool {
    page.extension().is_some_and(|it| it == "rs")
}

/// Returns what is wrong with a command.
fn of_command(checker: &Checker<'_>, shown: &Shown) -> Result<Vec<String>> {
    match own_program(checker.packages, &shown.words) {
        Some(words) => checker.check(&words),
        None if shown
            .words
            .first()
            .is_some_and(|it| FOREIGN.contains(&it.as_str())) =>
        {
            Ok(Vec::new())
        }
        None => Ok(vec!["an unknown program".to_owned()]),
    }
}

/// Returns the command of cargo for a command of cargo or of one of Raddle's programs.
fn own_program(packages: &[Package], words: &[String]) -> Option<Vec<String>> {
    let (program, arguments) = words.split_first()?;
    if program == "cargo" {
        return Some(words.to_vec());
    }
    let has = |package: &&Package| {
        let mut bins = package.targets.iter().filter(|it| it.is_bin());
        bins.any(|it| it.name == *program)
    };
    let package = packages.iter().find(has)?;
    let run = ["cargo", "run", "-p", &package.name, "--bin", program, "--"];
    let run = run.into_iter().map(str::to_owned);
    Some(run.chain(arguments.iter().cloned()).collect())
}

#[cfg(test)]
mod tests;
