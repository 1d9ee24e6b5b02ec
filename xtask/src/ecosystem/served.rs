//! The server that `cargo xtask bench ecosystem` loads, on the stand-in and on
//! Tokio.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;

use super::FOLDER;
use crate::steps::{Steps, cargo};

/// An option of the benchmark's program, the folder of the workspace that the
/// server is built in, below the ecosystem's, and that of its build, below the
/// target directory.
const SIDES: [(&str, &str, &str); 2] = [
    ("--stand-in", "", "ecosystem"),
    ("--tokio", "on-tokio", "ecosystem-tokio"),
];

/// Builds both, as steps.
pub(crate) fn build_servers(steps: &mut Steps, root: &Path, target: &Path) -> Result<()> {
    for (_, workspace, build) in SIDES {
        let directory = root.join(FOLDER).join(workspace);
        let mut command = cargo(&directory, &["build", "--release", "-p", "served"]);
        command.env("CARGO_TARGET_DIR", target.join(build));
        steps.run(&format!("build in {build}"), &mut command)?;
    }
    Ok(())
}

/// The arguments that say where both are.
pub(crate) fn servers(target: &Path) -> impl Iterator<Item = OsString> {
    SIDES.into_iter().flat_map(move |(option, _, build)| {
        let program = target.join(build).join("release/served");
        [option.into(), program.into()]
    })
}
