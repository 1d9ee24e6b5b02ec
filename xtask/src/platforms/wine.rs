//! What Wine does not do as Windows does: the tests of `crates/net/tests/wine.rs`, which use std
//! and mio alone, fail.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::steps::{Steps, line_of};

/// Runs each of the tests in a process of its own. `on_target` is a `cargo test` for the target.
///
/// # Errors
///
/// Returns an error that names a test that passes: the tests that make an exception for Wine, which
/// its documentation names, then need none.
pub(super) fn fails_as_documented(
    steps: &mut Steps,
    mut on_target: impl FnMut(&mut Steps) -> Result<Command>,
) -> Result<()> {
    let mut tests = |steps: &mut Steps, arguments: &[&str]| -> Result<Command> {
        let mut command = on_target(steps)?;
        command.args(["--quiet", "-p", "raddle-net", "--test", "wine", "--"]);
        command.arg("--ignored").args(arguments);
        Ok(command)
    };
    let mut list = tests(steps, &["--list"])?;
    let output = list.output().context("cannot start cargo")?;
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let names: Vec<_> = listing
        .lines()
        .filter_map(|line| line.trim().strip_suffix(": test"))
        .collect();
    ensure!(!names.is_empty(), "{} lists no test", line_of(&list));
    for name in names {
        let mut test = tests(steps, &["--exact", name])?;
        steps.step(&format!("Wine fails {name}"), &line_of(&test), || {
            let output = test.output().context("cannot start cargo")?;
            ensure!(
                !output.status.success(),
                "{name} of crates/net/tests/wine.rs passes: this Wine does not differ from Windows"
            );
            Ok(())
        })?;
    }
    Ok(())
}
