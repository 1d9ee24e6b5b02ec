//! `cargo xtask sanitize` and `cargo xtask miri`: run the tests under tools that find races, leaks
//! and invalid accesses.

use std::process::Command;

use anyhow::Result;

use crate::{nightly, steps};

const SANITIZERS: [&str; 3] = ["thread", "address", "leak"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only this sanitizer; the address sanitizer also finds leaks
    #[arg(value_parser = SANITIZERS)]
    sanitizer: Option<String>,

    /// Run only the tests of this package
    #[arg(long, short, value_name = "NAME")]
    package: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let host = nightly::host()?;
    let is_chosen = |name: &&str| args.sanitizer.as_ref().is_none_or(|only| only == name);
    let mut chosen = SANITIZERS.into_iter().filter(is_chosen);
    chosen.try_for_each(|name| tests(&host, name, args.package.as_deref()))
}

/// The prefix of ignored tests that other tests start as processes.
const CHILDREN: &str = "child_";

/// Runs unit and integration tests, then the stress test. Nothing is suppressed. Tests that leak on
/// purpose run separately, without leak detection; they have
/// `#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]`.
fn tests(host: &str, name: &str, package: Option<&str>) -> Result<()> {
    // The standard library synchronizes too, so the sanitizer must also instrument it. Cargo says
    // how to install its source.
    let flags = if name == "thread" { "-Zbuild-std" } else { "" };
    let command = |line: &str| -> Command {
        let mut command = nightly::cargo(name, &format!("{line} {flags} --target {host}"));
        // Incremental data would take half of the disk, for builds that are made only once.
        command.env("CARGO_INCREMENTAL", "0");
        // Tests panic on purpose. In a sanitized library, resolving the backtraces takes half of
        // the time. The sanitizers name the function of each finding themselves.
        command.env("RUST_BACKTRACE", "0");
        let flags = "-Cunsafe-allow-abi-mismatch=sanitizer";
        let flags = format!("--cfg raddle_sanitize -Zsanitizer={name} {flags}");
        command.env("RUSTFLAGS", flags);
        command
    };
    let packages = match package {
        Some(package) => format!("-p {package}"),
        // The other packages are not ours, or contain no concurrent code.
        // A sanitizer and raddle-sim both define functions of the C library.
        None => {
            "--workspace --exclude raddle-benches --exclude raddle-sim --exclude xtask".to_owned()
        }
    };
    // Some tests start these programs.
    let mut examples = command(&format!("build --examples {packages}"));
    steps::run(&format!("{name}, examples"), &mut examples)?;
    let tests = format!("test --lib --tests --no-fail-fast {packages}");
    steps::run(&format!("{name}, tests"), &mut command(&tests))?;
    if name != "leak" {
        let mut leaking = command(&tests);
        leaking.env("ASAN_OPTIONS", "detect_leaks=0");
        leaking.args(["--", "--ignored", "--skip", CHILDREN]);
        steps::run(&format!("{name}, leaks on purpose"), &mut leaking)?;
    }
    if package.is_none() {
        let mut stress = command("test -p raddle --test stress");
        stress.args(["--", "--seconds", "60"]);
        steps::run(&format!("{name}, stress"), &mut stress)?;
    }
    Ok(())
}

/// The layers whose unsafe code Miri can run: those without system calls.
const INTERPRETED: [&str; 6] = [
    "raddle-bare",
    "raddle-primitives",
    "raddle-queue",
    "raddle-task",
    "raddle-timer",
    "raddle-sync",
];

pub(crate) fn miri() -> Result<()> {
    let mut command = nightly::cargo("miri", "miri test --lib --tests");
    command.args(INTERPRETED.iter().flat_map(|package| ["-p", package]));
    steps::run("miri", command.env("RUSTFLAGS", "--cfg raddle_sanitize"))
}
