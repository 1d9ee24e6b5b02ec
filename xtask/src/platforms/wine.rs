//! The differences of Wine from Windows: the tests of `crates/net/tests/all/wine.rs`, which use
//! only std and mio, must fail on Wine.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::steps::{self, line_of};

/// Runs each of the tests in its own process. `on_target` is a `cargo test` command for the target.
///
/// # Errors
///
/// Returns an error that names a test that passes. Then the tests that make an exception for Wine,
/// which its documentation names, no longer need the exception.
pub(super) fn fails_as_documented(on_target: impl Fn() -> Result<Command>) -> Result<()> {
    let tests = |arguments: &[&str]| -> Result<Command> {
        let mut command = on_target()?;
        command.args(["--quiet", "-p", "raddle-net", "--test", "all", "--"]);
        command.arg("--ignored").args(arguments);
        Ok(command)
    };
    let listing = steps::output(&mut tests(&["--list", "wine::"])?)?;
    let names = listing
        .lines()
        .filter_map(|line| line.trim().strip_suffix(": test"));
    for name in names {
        let mut test = tests(&["--exact", name])?;
        steps::step(&format!("Wine fails {name}"), &line_of(&test), || {
            let passes = steps::output(&mut test).is_ok();
            ensure!(!passes, "it passes: this Wine does not differ from Windows");
            Ok(())
        })?;
    }
    Ok(())
}
