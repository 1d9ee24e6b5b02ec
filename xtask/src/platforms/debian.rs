//! Compilers from Debian's packages, unpacked next to their builds.
//!
//! They are not installed, because two versions of one package exclude each other; unpacking needs
//! no privileges either. Each comes with its LLVM. The one for foreign targets also comes with the
//! source of the standard library, which cargo builds for the target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::steps;

/// A compiler.
pub(super) struct Compiler {
    /// The directory into which it is unpacked.
    pub(super) name: &'static str,
    /// Its packages, as `apt-get` takes them.
    pub(super) packages: &'static [&'static str],
}

impl Compiler {
    /// Returns the `usr` directory of the compiler below `dir`. If it is not there, a step
    /// downloads and unpacks it.
    ///
    /// # Errors
    ///
    /// Returns an error if this is not Debian, or Debian does not have the packages.
    pub(super) fn unpacked(&self, dir: &Path) -> Result<PathBuf> {
        let dir = dir.join(self.name);
        let packages = self.packages.join(" ");
        // Lists the packages once they are unpacked.
        let complete = dir.join("complete");
        if fs::read_to_string(&complete).ok().as_ref() != Some(&packages) {
            let shown = format!("apt-get download {packages}");
            steps::step(&format!("compiler {}", self.name), &shown, || {
                self.unpack(&dir)
            })?;
            fs::write(complete, packages)?;
        }
        Ok(dir.join("usr"))
    }

    fn unpack(&self, dir: &Path) -> Result<()> {
        fs::create_dir_all(dir)?;
        let downloads = tempfile::tempdir_in(dir)?;
        let apt = |arguments: &[&str]| {
            let mut apt = Command::new("apt-get");
            steps::output(apt.current_dir(&downloads).args(arguments))
        };
        let download = [&["download"], self.packages].concat();
        // The list of packages may be old or missing.
        if apt(&download).is_err() {
            apt(&["update", "-qq"])?;
            apt(&download).context("the compilers are those of Debian 12, amd64 (rustc-web)")?;
        }
        for package in fs::read_dir(&downloads)? {
            let mut unpack = Command::new("dpkg-deb");
            steps::output(unpack.arg("-x").arg(package?.path()).arg(dir))?;
        }
        Ok(())
    }
}
