//! `cargo xtask mutate`: checks whether the models and tests find deliberate faults.
//!
//! A mutant weakens one ordering, or removes one fence or one check before sleeping: see
//! [`mutants`]. The models run on each until one fails: see [`lab`].
#![allow(clippy::disallowed_types, reason = "never modelled")]

mod lab;
mod mutants;

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};

use crate::loom::Bound;
use crate::steps;
use crate::tidy::text;
use crate::workspace::{self, Package};
use lab::Lab;
use mutants::Mutant;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, lines of files or crates: crates/queue/src/slot.rs, crates/queue/src/slot.rs:40,
    /// raddle-queue, or queue [default: all files with atomic operations]
    #[arg(value_name = "FILE[:LINE]|CRATE")]
    only: Vec<String>,

    /// List the mutants, and run nothing
    #[arg(long)]
    list: bool,

    /// Run only the models of the mutant's own crate
    #[arg(long)]
    own: bool,

    /// Skip the mutants that an earlier run has caught
    #[arg(long)]
    resume: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let packages = workspace::packages()?;
    let mutants = find(&packages, args)?;
    if args.list {
        for mutant in &mutants {
            println!("{mutant}");
        }
        println!("{} mutants", mutants.len());
        return Ok(());
    }
    let directory = workspace::target().join("mutate");
    let known = match args.resume {
        true => lab::caught(&directory),
        false => BTreeSet::new(),
    };
    let mut open: Vec<_> = (1..).zip(&mutants).collect();
    open.retain(|(_, mutant)| !known.contains(&mutant.key));
    if !open.is_empty() {
        let mut lab = Lab::new(&directory, &packages, &mutants, args)?;
        for bound in [Bound::Preemptions(1), Bound::Own] {
            open = lab.judge(&open, bound)?;
        }
    }
    let mut table = vec!["file\tmutants\tcaught\tsurvived".to_owned()];
    for of_file in mutants.chunk_by(|one, other| one.path == other.path) {
        let (path, all) = (&of_file[0].path, of_file.len());
        let survived = open.iter().filter(|(_, mutant)| mutant.path == *path);
        let survived = survived.count();
        table.push(format!(
            "{}\t{all}\t{}\t{survived}",
            path.display(),
            all - survived
        ));
    }
    print!("{}", steps::table(&table));
    println!("\nsurvived; the ORDERING: comment of each must say what no model can show:");
    for (_, mutant) in &open {
        println!("{mutant}");
    }
    Ok(())
}

/// Returns the mutants in the files, lines and crates that a user names, or in all files.
fn find(packages: &[Package], args: &Args) -> Result<Vec<Mutant>> {
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    for package in packages {
        for file in text::files(workspace::root(), package)? {
            let mut mutants = mutants::of(&file);
            let names =
                |name: &&String| file.path.ends_with(file_of(name).0) || package.is_named(name);
            let named_here: Vec<_> = args.only.iter().filter(names).collect();
            let lines = named_here.iter().map(|name| file_of(name).1);
            let lines = lines.collect::<Option<Vec<usize>>>().unwrap_or_default();
            mutants.retain(|mutant| lines.is_empty() || lines.contains(&mutant.line));
            if !named_here.is_empty() || args.only.is_empty() {
                found.extend(mutants);
            }
            named.extend(named_here);
        }
    }
    if let Some(stranger) = args.only.iter().find(|name| !named.contains(name)) {
        bail!("{stranger} is neither a file nor a crate of the workspace");
    }
    ensure!(
        !found.is_empty(),
        "no mutants there; cargo xtask mutate --list shows all"
    );
    Ok(found)
}

/// Returns the file of a name, and the line if the name has one.
fn file_of(name: &str) -> (&str, Option<usize>) {
    let split = name.rsplit_once(':');
    let split = split.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    split.map_or((name, None), |(file, line)| (file, Some(line)))
}
