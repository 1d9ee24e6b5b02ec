//! How programs of a foreign target run on this machine.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::steps;

/// Runs the programs of a target.
#[derive(PartialEq)]
pub(super) enum Runner {
    /// This machine itself.
    Native,
    /// `qemu-user` for the named architecture. The kernel starts it for each program, including
    /// those that tests start.
    Qemu(&'static str),
    /// Wine for 64-bit programs.
    Wine,
}

/// Where the kernel lists the interpreters of foreign programs, and accepts new entries.
const BINFMT: &str = "/proc/sys/fs/binfmt_misc";

/// Debian does not put it on the path.
const WINE: &str = "/usr/lib/wine/wine64";

/// A library that Wine needs.
const PRIMITIVES: &str = include_str!("bcryptprimitives.c");

impl Runner {
    /// Prepares the runner, and returns the variables that programs and tests need. `runner` is the
    /// name of the variable with which cargo starts programs; `directory` is for the files that it
    /// builds.
    ///
    /// # Errors
    ///
    /// Returns an error if its packages are not installed, or, for the registration of an emulator
    /// with the kernel, if the user is not root.
    pub(super) fn prepare(
        &self,
        runner: String,
        directory: &Path,
    ) -> Result<Vec<(String, OsString)>> {
        match self {
            Self::Native => Ok(Vec::new()),
            Self::Qemu(architecture) => {
                register(&format!("qemu-{architecture}"))?;
                // Tests read from this variable which functions the emulator lacks.
                Ok(vec![("RADDLE_EMULATED".to_owned(), "qemu-user".into())])
            }
            Self::Wine => {
                let directory = directory.join("wine");
                fs::create_dir_all(&directory)?;
                let source = directory.join("bcryptprimitives.c");
                fs::write(&source, PRIMITIVES)?;
                let mut compile = Command::new("x86_64-w64-mingw32-gcc");
                compile.args(["-O2", "-shared", "-o"]);
                compile.arg(source.with_extension("dll"));
                steps::output(compile.arg(&source).arg("-ladvapi32"))?;
                let mut path = OsString::from("Z:");
                path.push(&directory);
                let variables = [
                    (runner, WINE.into()),
                    ("WINEPREFIX".to_owned(), directory.join("prefix").into()),
                    ("WINEPATH".to_owned(), path),
                    // Tests read from this variable that Wine loses events.
                    ("RADDLE_WINE".to_owned(), "1".into()),
                    // This silences Wine's own messages.
                    ("WINEDEBUG".to_owned(), "-all".into()),
                ];
                Ok(variables.into())
            }
        }
    }
}

/// Makes the kernel start programs of another architecture with an entry of `binfmt.d`.
fn register(name: &str) -> Result<()> {
    let directory = Path::new(BINFMT);
    if !directory.join("register").exists() {
        steps::output(Command::new("mount").args(["-t", "binfmt_misc", "binfmt_misc", BINFMT]))?;
    }
    if directory.join(name).exists() {
        return Ok(());
    }
    let entry = format!("/usr/lib/binfmt.d/{name}.conf");
    let entry = fs::read(&entry).with_context(|| format!("cannot read {entry}"))?;
    fs::write(directory.join("register"), entry)
        .with_context(|| format!("cannot register {name} in {BINFMT}"))
}
