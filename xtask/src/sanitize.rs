//! `cargo xtask sanitize` and `cargo xtask miri`: the tests under what sees races,
//! leaks and wild accesses.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::nightly::Component;
use crate::steps::{self, Steps};
use crate::{nightly, workspace};

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Sanitizer {
    Thread,
    Address,
    Leak,
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this one; that of addresses looks for leaks too
    sanitizer: Option<Sanitizer>,

    /// Only the tests of this package
    #[arg(long, short, value_name = "NAME")]
    package: Option<String>,

    /// How long the stress goes on
    #[arg(long, value_name = "N", default_value_t = 1)]
    minutes: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let host = nightly::host()?;
    let all = [Sanitizer::Thread, Sanitizer::Address, Sanitizer::Leak];
    let chosen = args.sanitizer.map_or(all.to_vec(), |only| vec![only]);
    nightly::require(
        chosen
            .contains(&Sanitizer::Thread)
            .then_some(Component::Source),
    )?;
    steps::summarized(|steps| {
        for sanitizer in chosen {
            tests(steps, &root, &host, sanitizer, args)?;
        }
        Ok(())
    })
}

/// Unit and integration tests, then the stress. Nothing is suppressed, but tests
/// that leak on purpose are left out.
fn tests(
    steps: &mut Steps,
    root: &Path,
    host: &str,
    sanitizer: Sanitizer,
    args: &Args,
) -> Result<()> {
    let (name, flags) = match sanitizer {
        // The standard library synchronizes too, and must be seen to do so.
        Sanitizer::Thread => ("thread", &["-Zbuild-std"][..]),
        Sanitizer::Address => ("address", &[][..]),
        Sanitizer::Leak => ("leak", &[][..]),
    };
    let command = |what: &[&str]| -> Command {
        let mut command = nightly::cargo(root, name, &["test"]);
        command.args(what).args(flags).args(["--target", host]);
        command.env(
            "RUSTFLAGS",
            format!(
                "--cfg raddle_sanitize -Zsanitizer={name} -Cunsafe-allow-abi-mismatch=sanitizer"
            ),
        );
        command
    };
    let packages = match &args.package {
        Some(package) => vec!["-p", package],
        // The others are not ours, or no concurrent code.
        None => vec![
            "--workspace",
            "--exclude",
            "raddle-benches",
            "--exclude",
            "xtask",
        ],
    };
    let mut tests = command(&["--lib", "--tests", "--examples", "--no-fail-fast"]);
    tests.args(packages);
    steps.run(&format!("{name}, tests"), &mut tests)?;
    if args.package.is_none() {
        let mut stress = command(&["-p", "raddle", "--test", "stress"]);
        stress.args(["--", "--minutes", &args.minutes.to_string()]);
        steps.run(&format!("{name}, stress"), &mut stress)?;
    }
    Ok(())
}

/// The layers whose unsafe code Miri can follow: those without system calls.
const INTERPRETED: [&str; 6] = [
    "raddle-bare",
    "raddle-std",
    "raddle-queue",
    "raddle-task",
    "raddle-timer",
    "raddle-sync",
];

pub(crate) fn miri() -> Result<()> {
    nightly::require(Some(Component::Miri))?;
    let root = workspace::root();
    steps::summarized(|steps| {
        for package in INTERPRETED {
            let args = ["miri", "test", "-p", package, "--lib", "--tests"];
            let mut command = nightly::cargo(&root, "miri", &args);
            command.env("RUSTFLAGS", "--cfg raddle_sanitize");
            steps.run(&format!("miri {package}"), &mut command)?;
        }
        Ok(())
    })
}
