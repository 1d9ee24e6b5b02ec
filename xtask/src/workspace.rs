//! The packages of the workspace, from `cargo metadata`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::steps;

/// A package of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Name and version, which `-p` takes where another package has the same name.
    pub(crate) spec: String,
    /// Its directory, relative to the root: `crates/queue`.
    pub(crate) dir: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    /// All but `default`.
    pub(crate) features: Vec<String>,
}

/// One package named in another's manifest.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Only for its tests, examples and benchmarks.
    pub(crate) dev: bool,
    /// Of this workspace.
    pub(crate) local: bool,
}

/// The directory of the root manifest.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// Every package of the workspace, in order of their directories.
pub(crate) fn packages(root: &Path) -> Result<Vec<Package>> {
    parse(root, &metadata(root)?).context("cargo metadata has an unexpected shape")
}

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root.join(target)
}

fn metadata(root: &Path) -> Result<Value> {
    let args = ["metadata", "--no-deps", "--format-version", "1"];
    let metadata = steps::output(&mut steps::cargo(root, &args))?;
    Ok(serde_json::from_str(&metadata)?)
}

fn parse(root: &Path, metadata: &Value) -> Option<Vec<Package>> {
    let mut packages = Vec::new();
    for package in metadata["packages"].as_array()? {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let mut dependencies = Vec::new();
        for dependency in package["dependencies"].as_array()? {
            dependencies.push(Dependency {
                name: dependency["name"].as_str()?.to_owned(),
                dev: dependency["kind"] == "dev",
                local: dependency["path"].is_string(),
            });
        }
        packages.push(Package {
            name: package["name"].as_str()?.to_owned(),
            spec: format!(
                "{}@{}",
                package["name"].as_str()?,
                package["version"].as_str()?
            ),
            dir: manifest.parent()?.strip_prefix(root).ok()?.to_owned(),
            dependencies,
            features: package["features"]
                .as_object()?
                .keys()
                .filter(|feature| *feature != "default")
                .cloned()
                .collect(),
        });
    }
    packages.sort_by(|a, b| a.dir.cmp(&b.dir));
    Some(packages)
}

#[cfg(test)]
mod tests;
