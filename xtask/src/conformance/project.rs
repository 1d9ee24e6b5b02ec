//! The package that compiles the test files of the suites.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{MetadataCommand, Package};

use super::SUITES;
use crate::programs;
use crate::steps::cargo;
use crate::workspace;

/// The folder of the manifest and the lock files, relative to the root.
const FOLDER: &str = "xtask/conformance";

/// Features of the packages that need `tokio_unstable`, or are not for users.
const LEFT_OUT: [&str; 4] = ["io-uring", "taskdump", "schedule-latency", "__docs_rs"];

/// The version of Tokio whose tests are run, as the manifest asks for it.
const TOKIO: &str = "\"=1.54.1\"";

/// Whether a package is of the version whose tests are run. The manifest says so
/// of all but `tokio`, of which the workspace may have an old one, too.
fn is_tested(package: &Package) -> bool {
    let version = package.version.to_string();
    package.name != "tokio" || TOKIO.trim_matches(['"', '=']) == version
}

/// What the test files run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    StandIn,
    Tokio,
}

/// A package below `target/conformance`.
pub(super) struct Project {
    directory: PathBuf,
    sources: Vec<Source>,
}

/// A package whose tests are compiled.
struct Source {
    name: String,
    directory: PathBuf,
    features: Vec<String>,
    /// Whether the project depends on it, and not only the workspace.
    used_here: bool,
}

/// One compiled program of tests.
#[derive(Debug)]
pub(super) struct Suite {
    /// The package that the tests are of.
    pub(super) package: String,
    /// The file, if the program is of one only.
    pub(super) file: Option<String>,
    pub(super) executable: PathBuf,
    /// Where the tests expect to run.
    pub(super) directory: PathBuf,
}

impl Project {
    /// Writes the manifest and the roots of the test programs.
    pub(super) fn create(root: &Path, side: Side) -> Result<Self> {
        let name = match side {
            Side::StandIn => "stand-in",
            Side::Tokio => "tokio",
        };
        let directory = workspace::target(root).join("conformance").join(name);
        fs::create_dir_all(directory.join("src"))?;
        fs::create_dir_all(directory.join("tests"))?;
        fs::write(directory.join("src/lib.rs"), "//! Empty.\n")?;
        let lock = root.join(FOLDER).join(format!("{name}.lock"));
        if lock.is_file() && !directory.join("Cargo.lock").exists() {
            fs::copy(&lock, directory.join("Cargo.lock"))?;
        }
        let mut manifest = fs::read_to_string(root.join(FOLDER).join("manifest.toml"))?;
        if side == Side::StandIn {
            let stand_in = root.join("crates/tokio");
            manifest = manifest.replace(TOKIO, "\"1\"");
            write!(
                manifest,
                "\n[patch.crates-io]\ntokio = {{ path = {stand_in:?} }}\n"
            )?;
        }
        fs::write(directory.join("Cargo.toml"), &manifest)?;

        let sources = sources(root, &directory)?;
        let published = sources.iter().any(|s| s.name == "tokio" && s.used_here);
        ensure!(
            published == (side == Side::Tokio),
            "the wrong package tokio is in {}; see cargo tree -i tokio there",
            directory.display()
        );
        let mut features: Vec<_> = sources.iter().flat_map(|source| &source.features).collect();
        features.sort();
        features.dedup();
        writeln!(manifest, "\n[features]\ndefault = {features:?}")?;
        for feature in features {
            writeln!(manifest, "{feature} = []")?;
        }
        for source in &sources {
            manifest.push_str(&source.targets(&directory)?);
        }
        fs::write(directory.join("Cargo.toml"), manifest)?;
        Ok(Self { directory, sources })
    }

    /// Compiles everything.
    pub(super) fn build(&self) -> Result<Vec<Suite>> {
        let mut build = cargo(&self.directory, &["test", "--no-run", "--tests"]);
        build.env("RUSTFLAGS", "--cap-lints allow");
        let place = self.directory.display();
        let built = programs::build(&mut build)
            .with_context(|| format!("test files do not compile (in {place})"))?;
        let mut suites = Vec::new();
        for program in built {
            let Some((package, file)) = program.target.split_once("__") else {
                continue;
            };
            let source = self.sources.iter().find(|source| source.name == package);
            let source = source.with_context(|| format!("no package of the name {package}"))?;
            suites.push(Suite {
                package: package.to_owned(),
                file: (file != "all").then(|| file.to_owned()),
                executable: program.executable,
                directory: source.directory.clone(),
            });
        }
        suites.sort_by(|a, b| (&a.package, &a.file).cmp(&(&b.package, &b.file)));
        Ok(suites)
    }
}

/// Where cargo has the sources of the packages, and which features they have.
/// In both projects the features of `tokio` are the real crate's.
fn sources(root: &Path, directory: &Path) -> Result<Vec<Source>> {
    let mut found: Vec<Source> = Vec::new();
    for place in [directory, root] {
        for package in MetadataCommand::new().current_dir(place).exec()?.packages {
            let name = package.name.to_string();
            let is_known = found.iter().any(|source| source.name == name);
            let is_tested = SUITES.contains(&name.as_str()) && is_tested(&package);
            if package.source.is_none() || is_known || !is_tested {
                continue;
            }
            let is_for_users =
                |feature: &String| feature != "default" && !LEFT_OUT.contains(&feature.as_str());
            found.push(Source {
                name,
                directory: package.manifest_path.parent().context("no parent")?.into(),
                used_here: place == directory,
                features: package.features.into_keys().filter(is_for_users).collect(),
            });
        }
    }
    for name in SUITES {
        ensure!(
            found.iter().any(|source| source.name == name),
            "cargo metadata has no published package {name}"
        );
    }
    Ok(found)
}

impl Source {
    /// Writes the root of a program of all files that can be modules, and gives
    /// the manifest's targets: that one, and each other file.
    fn targets(&self, directory: &Path) -> Result<String> {
        let mut targets = String::new();
        let mut all = String::from("#![allow(warnings)]\n");
        let mut files: Vec<_> = fs::read_dir(self.directory.join("tests"))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
        files.sort();
        for path in files {
            let name = path.file_stem().context("no name")?.to_string_lossy();
            if may_be_module(&fs::read_to_string(&path)?) {
                writeln!(all, "#[path = {path:?}]\nmod {name};")?;
            } else {
                let target = format!("{}__{name}", self.name);
                writeln!(targets, "\n[[test]]\nname = {target:?}\npath = {path:?}")?;
            }
        }
        let target = format!("{}__all", self.name);
        let path = directory.join("tests").join(format!("{target}.rs"));
        fs::write(&path, all)?;
        writeln!(targets, "\n[[test]]\nname = {target:?}\npath = {path:?}")?;
        Ok(targets)
    }
}

/// Whether a test file means the same as a module of a program: it does not
/// name the root of its crate.
fn may_be_module(text: &str) -> bool {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    !code.into_iter().any(|line| {
        line.match_indices("crate::")
            .any(|(at, _)| !line[..at].ends_with('$'))
            || line.contains("#[macro_use]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_paths_into_its_crate_is_no_module() {
        assert!(may_be_module(
            "use tokio::sync;\n// crate::x\nmacro_rules! m { () => { $crate::x } }"
        ));
        assert!(!may_be_module("use crate::support;"));
        assert!(!may_be_module("#[macro_use]\nextern crate x;"));
    }
}
