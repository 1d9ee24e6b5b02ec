//! Debian's packages that the crates and the scenarios need.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::steps;

/// A package, and a file that it brings. A `*` stands for any one folder.
type Package = (&'static str, &'static str);

/// What build scripts look for.
pub(super) const LIBRARIES: [Package; 2] = [
    ("libssl-dev", "/usr/include/openssl/ssl.h"),
    ("pkg-config", "/usr/bin/pkg-config"),
];

/// What the scenarios start.
pub(super) const SERVERS: [Package; 2] = [
    ("postgresql", "/usr/lib/postgresql/*/bin/initdb"),
    ("redis-server", "/usr/bin/redis-server"),
];

/// Installs what is missing if the user is root.
///
/// # Errors
///
/// Says which packages are missing if the user may not install them, or if that
/// fails.
pub(super) fn ensure_installed(packages: &[Package]) -> Result<()> {
    let missing: Vec<_> = packages
        .iter()
        .filter(|(_, file)| !exists(file))
        .map(|(name, _)| *name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if !is_root()? {
        bail!("Debian's packages are missing: {names}; run as root: apt-get install {names}");
    }
    println!("installs Debian's packages: {names}");
    apt_get(&["update"], &[])?;
    apt_get(&["install", "--yes", "--no-install-recommends"], &missing)
        .with_context(|| format!("install these packages by hand: {names}"))
}

fn apt_get(args: &[&str], packages: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.arg("-qq").args(args).args(packages);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    steps::succeed(&mut command)
}

fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output();
    Ok(output.context("cannot start id")?.stdout.trim_ascii() == b"0")
}

/// Whether a file is there, whatever folder a `*` stands for.
fn exists(pattern: &str) -> bool {
    let Some((folder, rest)) = pattern.split_once("/*/") else {
        return Path::new(pattern).is_file();
    };
    let folders = std::fs::read_dir(folder).into_iter().flatten();
    folders
        .filter_map(|entry| Some(entry.ok()?.path()))
        .any(|path: PathBuf| path.join(rest).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_folder() {
        let directory = tempfile::tempdir().unwrap();
        let within = directory.path().join("15/bin");
        std::fs::create_dir_all(&within).unwrap();
        let pattern = |file: &str| format!("{}/*/bin/{file}", directory.path().display());
        assert!(!exists(&pattern("initdb")));
        std::fs::write(within.join("initdb"), "").unwrap();
        assert!(exists(&pattern("initdb")));
        assert!(exists(&within.join("initdb").display().to_string()));
        assert!(!exists(&pattern("postgres")));
    }
}
