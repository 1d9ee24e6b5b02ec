//! Compilers from Debian's packages, unpacked next to their builds.
//!
//! They are not installed, because two versions of one package exclude each other; unpacking needs
//! no privileges either. Each comes with its LLVM. The one for foreign targets also comes with the
//! source of the standard library, which cargo builds for the target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::apt::{apt, update};
use crate::steps;

/// The file that lists the unpacked packages.
const COMPLETE: &str = "complete";

/// The packages of one compiler.
pub(super) struct Compiler {
    /// The directory into which it is unpacked.
    pub(super) name: &'static str,
    /// The beginning of the version of `versioned`.
    pub(super) version: &'static str,
    /// Packages with that version.
    pub(super) versioned: &'static [&'static str],
    /// Packages that have the version in their name.
    pub(super) others: &'static [&'static str],
}

/// A compiler that is unpacked.
pub(super) struct Unpacked {
    /// Its `usr` directory.
    usr: PathBuf,
}

impl Compiler {
    /// Returns the compiler below `dir`. If it is not there, a step downloads and unpacks it.
    ///
    /// # Errors
    ///
    /// Returns an error if this is not Debian, or Debian does not have the packages.
    pub(super) fn unpacked(&self, dir: &Path) -> Result<Unpacked> {
        let dir = dir.join(self.name);
        let packages = [self.versioned, self.others].concat().join("\n");
        let complete = dir.join(COMPLETE);
        if fs::read_to_string(&complete).ok().as_ref() != Some(&packages) {
            let shown = format!("apt-get download: Rust {}", self.version);
            steps::step(&format!("compiler {}", self.name), &shown, || {
                self.unpack(&dir)
            })?;
            fs::write(complete, packages)?;
        }
        let usr = dir.join("usr");
        Ok(Unpacked { usr })
    }

    fn unpack(&self, dir: &Path) -> Result<()> {
        let names = self.names()?;
        let downloads = dir.join("downloads");
        fs::create_dir_all(&downloads)?;
        let mut download = apt("apt-get");
        download.arg("download").args(&names);
        steps::output(download.current_dir(&downloads))?;
        for package in fs::read_dir(&downloads)? {
            let mut unpack = Command::new("dpkg-deb");
            steps::output(unpack.arg("-x").arg(package?.path()).arg(dir))?;
        }
        Ok(fs::remove_dir_all(&downloads)?)
    }

    /// Returns the packages in the form of `apt-get`: `NAME=VERSION`.
    fn names(&self) -> Result<Vec<String>> {
        let mut names: Vec<_> = self.others.iter().map(|&name| name.to_owned()).collect();
        for name in self.versioned {
            let mut version = version(name, self.version)?;
            if version.is_none() {
                update()?;
                version = self::version(name, self.version)?;
            }
            let version = version.with_context(|| {
                format!("Debian has no package {name} of version {}", self.version)
            })?;
            names.push(format!("{name}={version}"));
        }
        Ok(names)
    }
}

impl Unpacked {
    /// Returns the path of a program of the compiler.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.usr.join("bin").join(name)
    }

    /// Makes cargo use this compiler, and find the tools that come with it.
    ///
    /// # Errors
    ///
    /// Returns an error if a directory of `PATH` cannot be part of it.
    pub(super) fn used_by(&self, cargo: &mut Command) -> Result<()> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let tools = std::env::split_paths(&path).chain([self.usr.join("bin")]);
        cargo
            .env("PATH", std::env::join_paths(tools)?)
            .env("RUSTC", self.program("rustc"))
            .env("LD_LIBRARY_PATH", self.usr.join("lib/x86_64-linux-gnu"))
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("RUSTFLAGS");
        Ok(())
    }
}

/// Returns the version of a package that starts with `start`.
fn version(name: &str, start: &str) -> Result<Option<String>> {
    let listing = steps::output(apt("apt-cache").args(["madison", name]))
        .context("the compilers are those of Debian 12, amd64 (rustc-web)")?;
    let versions = listing.lines().filter_map(|line| line.split('|').nth(1));
    let version = versions.map(str::trim).find(|it| it.starts_with(start));
    Ok(version.map(str::to_owned))
}
