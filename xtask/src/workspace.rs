//! The packages of the workspace, from `cargo metadata`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, Target};

/// The name of the test program that contains the models of a package.
pub(crate) const MODELS: &str = "models";

/// A package of the workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The name and version, which `-p` accepts where another package has the same name.
    pub(crate) spec: String,
    /// The directory, relative to the root: `crates/queue`.
    pub(crate) dir: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    /// The features except `default`.
    pub(crate) features: Vec<String>,
    /// Whether crates.io serves it once it is released.
    pub(crate) is_published: bool,
    /// What each feature enables, `default` too.
    pub(crate) brings: BTreeMap<String, Vec<String>>,
    /// The library, the programs, examples, tests and benchmarks.
    pub(crate) targets: Vec<Target>,
    /// Whether it has a program of models: `tests/models/main.rs` or `tests/models.rs`.
    pub(crate) has_models: bool,
}

impl Package {
    /// Whether a user means this package: `raddle-queue`, or `queue`.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name || self.dir.ends_with(name)
    }
}

/// A package that is named in another's manifest.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only its tests, examples and benchmarks use it.
    pub(crate) dev: bool,
    /// Whether it belongs to this workspace.
    pub(crate) local: bool,
}

/// Returns the directory of the root manifest.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Returns the target directory of cargo.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target)
}

/// Returns every package of the workspace, sorted by directory.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let metadata = MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()?;
    let package = |package: cargo_metadata::Package| {
        let dir = package.manifest_path.parent().context("no directory")?;
        let dependency = |it: cargo_metadata::Dependency| Dependency {
            name: it.name,
            dev: it.kind == DependencyKind::Development,
            local: it.path.is_some(),
        };
        let features = package.features.keys().cloned();
        let is_models = |it: &cargo_metadata::Target| it.is_test() && it.name == MODELS;
        let has_models = package.targets.iter().any(is_models);
        Ok(Package {
            spec: format!("{}@{}", package.name, package.version),
            name: package.name.to_string(),
            dir: dir.strip_prefix(root())?.into(),
            dependencies: package.dependencies.into_iter().map(dependency).collect(),
            features: features.filter(|feature| feature != "default").collect(),
            is_published: package.publish.is_none(),
            brings: package.features,
            targets: package.targets,
            has_models,
        })
    };
    let packages = metadata.packages.into_iter().map(package);
    let mut packages = packages.collect::<Result<Vec<_>>>()?;
    packages.sort_by(|a, b| a.dir.cmp(&b.dir));
    Ok(packages)
}
