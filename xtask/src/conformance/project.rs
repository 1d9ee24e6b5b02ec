//! The package that compiles the test files of the suites.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{MetadataCommand, Package};
use regex::Regex;

use super::SUITES;
use crate::programs::{self, Program};
use crate::steps::cargo_in;
use crate::tidy::text;
use crate::workspace;

/// The directory of the manifest and the lock files, relative to the root.
const FOLDER: &str = "xtask/conformance";

/// Features of the packages that need `tokio_unstable`, or are internal.
const LEFT_OUT: [&str; 5] = [
    "default",
    "io-uring",
    "taskdump",
    "schedule-latency",
    "__docs_rs",
];

/// The version of Tokio whose tests run, as the manifest requires it.
const TOKIO: &str = "\"=1.54.1\"";

/// Whether the tests of a package run, and the package has the version whose tests run. The
/// manifest pins the version of all but `tokio`, of which the workspace may also contain an old
/// version.
fn is_tested(package: &Package) -> bool {
    let version = package.version.to_string();
    SUITES.contains(&package.name.as_str())
        && (package.name != "tokio" || TOKIO.trim_matches(['"', '=']) == version)
}

/// The library on which the test files run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    StandIn,
    Tokio,
}

/// A package whose tests are compiled.
struct Source {
    directory: PathBuf,
    features: BTreeSet<String>,
    /// Whether the project depends on it, and not only the workspace.
    used_here: bool,
}

/// One compiled program of tests.
#[derive(Debug)]
pub(super) struct Suite {
    /// The package to which the tests belong.
    pub(super) package: String,
    /// The file, if the program contains only one.
    pub(super) file: Option<String>,
    pub(super) executable: PathBuf,
    /// The directory in which the tests expect to run.
    pub(super) directory: PathBuf,
}

/// Writes a package below `target/conformance`, and compiles all tests in it.
pub(super) fn build(side: Side) -> Result<Vec<Suite>> {
    let root = workspace::root();
    let name = match side {
        Side::StandIn => "stand-in",
        Side::Tokio => "tokio",
    };
    let directory = workspace::target().join("conformance").join(name);
    fs::create_dir_all(directory.join("src"))?;
    fs::create_dir_all(directory.join("tests"))?;
    fs::write(directory.join("src/lib.rs"), "//! Empty.\n")?;
    let lock = root.join(FOLDER).join(format!("{name}.lock"));
    if lock.is_file() && !directory.join("Cargo.lock").exists() {
        fs::copy(&lock, directory.join("Cargo.lock"))?;
    }
    let mut manifest = fs::read_to_string(root.join(FOLDER).join("manifest.toml"))?;
    if side == Side::StandIn {
        let path = root.join("crates/tokio");
        manifest = manifest.replace(TOKIO, "\"1\"");
        manifest += &format!("\n[patch.crates-io]\ntokio = {{ path = {path:?} }}\n");
    }
    fs::write(directory.join("Cargo.toml"), &manifest)?;

    let place = directory.display();
    let sources = sources(&directory)?;
    ensure!(
        sources["tokio"].used_here == (side == Side::Tokio),
        "the wrong package tokio is in {place}; see cargo tree -i tokio there"
    );
    let features = sources.values().flat_map(|source| &source.features);
    let features = Vec::from_iter(features.collect::<BTreeSet<_>>());
    writeln!(manifest, "\n[features]\ndefault = {features:?}")?;
    for feature in features {
        writeln!(manifest, "{feature} = []")?;
    }
    for (package, source) in &sources {
        manifest += &targets(&directory, package, source)?;
    }
    fs::write(directory.join("Cargo.toml"), manifest)?;

    let mut build = cargo_in(&directory, "test --no-run --tests");
    build.env("RUSTFLAGS", "--cap-lints allow");
    let built = programs::build(&mut build);
    let built = built.with_context(|| format!("test files do not compile (in {place})"))?;
    let suite = |program: Program| {
        let (package, file) = program.target.split_once("__")?;
        Some(Suite {
            package: package.to_owned(),
            file: (file != "all").then(|| file.to_owned()),
            executable: program.executable,
            directory: sources.get(package)?.directory.clone(),
        })
    };
    let mut suites: Vec<_> = built.into_iter().filter_map(suite).collect();
    suites.sort_by(|a, b| (&a.package, &a.file).cmp(&(&b.package, &b.file)));
    Ok(suites)
}

/// Finds the sources and features of the packages in cargo's cache. In both projects the features
/// of `tokio` are those of the real crate.
fn sources(directory: &Path) -> Result<BTreeMap<String, Source>> {
    let mut found = BTreeMap::new();
    for place in [directory, workspace::root()] {
        for package in MetadataCommand::new().current_dir(place).exec()?.packages {
            let name = package.name.to_string();
            if package.source.is_none() || !is_tested(&package) || found.contains_key(&name) {
                continue;
            }
            let features = package.features.into_keys();
            let features = features.filter(|it| !LEFT_OUT.contains(&it.as_str()));
            let source = Source {
                directory: package.manifest_path.parent().context("no parent")?.into(),
                used_here: place == directory,
                features: features.collect(),
            };
            found.insert(name, source);
        }
    }
    let mut missing = SUITES.to_vec();
    missing.retain(|name| !found.contains_key(*name));
    ensure!(
        missing.is_empty(),
        "cargo metadata has no published {missing:?}"
    );
    Ok(found)
}

/// Writes the root of a program of all files that can be modules. Returns the targets for the
/// manifest: this program, and each other file.
fn targets(directory: &Path, package: &str, source: &Source) -> Result<String> {
    let mut targets = String::new();
    let mut target = |name: &str, path: &Path| {
        let name = format!("{package}__{name}");
        targets += &format!("\n[[test]]\nname = {name:?}\npath = {path:?}\n");
    };
    let mut all = String::from("#![allow(warnings)]\n");
    for path in text::walk(&source.directory.join("tests"), &["rs"], |_| false)? {
        let name = path.file_stem().context("no name")?.to_string_lossy();
        if may_be_module(&fs::read_to_string(&path)?)? {
            writeln!(all, "#[path = {path:?}]\nmod {name};")?;
        } else {
            target(&name, &path);
        }
    }
    let path = directory.join("tests").join(format!("{package}__all.rs"));
    fs::write(&path, all)?;
    target("all", &path);
    Ok(targets)
}

/// Whether a test file has the same meaning as a module of a program: it does not name the root of
/// its crate.
fn may_be_module(text: &str) -> Result<bool> {
    let of_root = Regex::new(r"(^|[^$])crate::|#\[macro_use\]")?;
    let lines = text.lines().map(str::trim);
    let mut code = lines.filter(|line| !line.starts_with("//"));
    Ok(!code.any(|line| of_root.is_match(line)))
}
