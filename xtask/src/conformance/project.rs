//! The package that compiles the test files of the suites.

use std::collections::BTreeMap;
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

/// The version of Tokio whose tests run, as in the manifest.
const TOKIO: &str = "1.54.1";

/// The library on which the test files run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    StandIn,
    Tokio,
}

/// One compiled program of tests.
pub(super) struct Suite {
    /// What comes before the names of its tests: the package, and the file if there is only one.
    /// With several, the names begin with their files.
    pub(super) prefix: String,
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
        manifest = manifest.replace(&format!("\"={TOKIO}\""), "\"1\"");
        manifest += &format!("\n[patch.crates-io]\ntokio = {{ path = {path:?} }}\n");
    }
    fs::write(directory.join("Cargo.toml"), &manifest)?;
    let mut sources = published(&directory)?;
    ensure!(
        sources.contains_key("tokio") == (side == Side::Tokio),
        "the wrong package tokio is in {}; see cargo tree -i tokio there",
        directory.display()
    );
    if side == Side::StandIn {
        let of_workspace = published(root)?;
        sources.extend(of_workspace.into_iter().filter(|(name, _)| name == "tokio"));
    }
    for (package, source) in &sources {
        manifest += &targets(&directory, package, source)?;
    }
    fs::write(directory.join("Cargo.toml"), manifest)?;

    let mut build = cargo_in(&directory, "test --no-run --tests");
    build.env("RUSTFLAGS", "--cap-lints allow");
    let built = programs::build(&mut build).context("test files do not compile")?;
    let suite = |program: Program| {
        let (package, file) = program.target.split_once("__")?;
        Some(Suite {
            prefix: match file {
                "all" => format!("{package}/"),
                _ => format!("{package}/{file}::"),
            },
            executable: program.executable,
            directory: sources.get(package)?.clone(),
        })
    };
    Ok(built.into_iter().filter_map(suite).collect())
}

/// Returns the directories, in cargo's cache, of the packages whose tests run, as far as the
/// project in `place` depends on them. The manifest pins the versions; the workspace has an old
/// version of `tokio` too.
fn published(place: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let metadata = MetadataCommand::new().current_dir(place).exec()?;
    let is_tested = |package: &Package| {
        let is_old = package.name == "tokio" && package.version.to_string() != TOKIO;
        package.source.is_some() && SUITES.contains(&package.name.as_str()) && !is_old
    };
    let packages = metadata.packages.into_iter().filter(is_tested);
    let directory = |it: Package| Some((it.name.to_string(), it.manifest_path.parent()?.into()));
    Ok(packages.filter_map(directory).collect())
}

/// Writes the root of a program of all files that can be modules. Returns the targets for the
/// manifest: this program, and each other file.
fn targets(directory: &Path, package: &str, source: &Path) -> Result<String> {
    let mut targets = String::new();
    let mut target = |name: &str, path: &Path| {
        let name = format!("{package}__{name}");
        targets += &format!("\n[[test]]\nname = {name:?}\npath = {path:?}\n");
    };
    let mut all = String::from("#![allow(warnings)]\n");
    for path in text::walk(&source.join("tests"), &["rs"], |_| false)? {
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
