//! The published crates as their users get them.
//!
//! `cargo package` makes the files that crates.io would serve. They are unpacked into a directory
//! source together with all other dependencies, and once more as a workspace outside the
//! repository, which is built and tested: so nothing there comes from the repository.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::steps::{self, cargo, cargo_in};
use crate::workspace::{self, Package};

/// Builds and tests the published crates, each with all its features, from their packages.
///
/// # Errors
///
/// Returns an error if a crate cannot be packed, or if its package fails to build or a test fails.
pub(crate) fn check(packages: &[Package]) -> Result<()> {
    let root = workspace::target().join("packages");
    if root.exists() {
        fs::remove_dir_all(&root).context("the former packages cannot be removed")?;
    }
    let (source, unpacked) = (root.join("source"), root.join("workspace"));
    let mut vendor = cargo("vendor -q --versioned-dirs");
    // It prints a configuration, which is the one below.
    steps::run("vendor", vendor.arg(&source).stdout(Stdio::null()))?;
    let mut package = cargo("package -q --workspace --no-verify --allow-dirty");
    for unpublished in packages.iter().filter(|it| !it.is_published) {
        package.args(["--exclude", &unpublished.name]);
    }
    steps::run("package", &mut package)?;
    let files = workspace::target().join("package");
    let published: Vec<_> = packages.iter().filter(|it| it.is_published).collect();
    for package in &published {
        let name = package.spec.replace('@', "-");
        let file = files.join(format!("{name}.crate"));
        unpack(&file, &source)?;
        fs::write(
            source.join(&name).join(".cargo-checksum.json"),
            r#"{"files":{}}"#,
        )?;
        unpack(&file, &unpacked.join("crates"))?;
    }
    configure(&unpacked)?;
    let mut test = cargo_in(&unpacked, "test --workspace --all-features --offline");
    test.env("CARGO_TARGET_DIR", workspace::target());
    steps::run("test, packed crates", &mut test)
}

/// Makes the workspace of the unpacked crates, which takes its dependencies from the source beside
/// it.
fn configure(root: &Path) -> Result<()> {
    let profile = "[profile.dev]\ndebug = \"line-tables-only\"\n";
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n";
    fs::write(root.join("Cargo.toml"), format!("{members}\n{profile}"))?;
    fs::create_dir_all(root.join(".cargo"))?;
    let replace = "[source.crates-io]\nreplace-with = \"packed\"\n";
    let packed = "[source.packed]\ndirectory = \"../source\"\n";
    fs::write(
        root.join(".cargo/config.toml"),
        format!("{replace}\n{packed}"),
    )?;
    Ok(())
}

/// Unpacks a `.crate` file into a directory.
fn unpack(file: &Path, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(file).arg("-C").arg(directory);
    let status = tar.status().context("tar unpacks the crates; install it")?;
    ensure!(status.success(), "{} cannot be unpacked", file.display());
    Ok(())
}
