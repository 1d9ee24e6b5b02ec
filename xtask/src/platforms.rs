//! `cargo xtask platforms`: checks that the crates compile with their minimum compiler, and for
//! other platforms. Where programs of a platform run on this machine, it also runs the tests.
//!
//! The compilers are Debian's ([`debian`]). The compiler for foreign targets builds the standard
//! library of each target from its source, for which a stable compiler needs `RUSTC_BOOTSTRAP`.

mod debian;
mod runner;
mod targets;
mod wine;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::builder::PossibleValuesParser;

use crate::steps::{self, cargo, line_of};
use crate::{apt, workspace};
use debian::Compiler;
use runner::Runner;
use targets::{CHECKED_BY_CI, Run, TARGETS, TESTED_BY_CI, Target};

/// The minimum compiler of the crates: `rust-version` of the workspace.
const MINIMUM: Compiler = Compiler {
    name: "minimum",
    packages: &[
        "rustc-web=1.85.*",
        "libstd-rust-web-dev=1.85.*",
        "libstd-rust-web-1.85",
        "libllvm19",
    ],
};

/// The compiler for foreign targets, with clippy and the source of its standard library.
/// `binutils-mingw-w64-x86-64` has the `dlltool` that imports of Windows need.
const FOREIGN: Compiler = Compiler {
    name: "foreign",
    packages: &[
        "rustc-web=1.96.*",
        "libstd-rust-web-dev=1.96.*",
        "rust-web-src=1.96.*",
        "rust-web-clippy=1.96.*",
        "libstd-rust-web-1.96",
        "libllvm22",
        "binutils-mingw-w64-x86-64",
    ],
};

/// The arguments for clippy of [`FOREIGN`], in the form in which `cargo clippy` passes them. Of the
/// allowed lints, two are newer than the pinned toolchain: the first suggests what Rust 1.85 does
/// not have, the second takes wakers that count their drops for no-op wakers. The third reports
/// constant initial values on targets without native thread-locals.
const LINTS: [&str; 4] = [
    "-Dwarnings",
    "-Aclippy::unwrap_or_default",
    "-Aclippy::manual_noop_waker",
    "-Aclippy::missing_const_for_thread_local",
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Check only these targets of docs/platforms.md, or `minimum` for the minimum compiler
    #[arg(value_parser = PossibleValuesParser::new(names()), hide_possible_values = true)]
    targets: Vec<String>,

    /// Only compile and lint; do not run the tests
    #[arg(long)]
    check: bool,

    /// Run only the tests of these packages
    #[arg(short, long)]
    package: Vec<String>,
}

/// The names that a user may request.
fn names() -> impl Iterator<Item = &'static str> {
    let targets = TARGETS.iter().map(|target| target.name);
    [MINIMUM.name].into_iter().chain(targets)
}

/// Tries each requested target, and fails if one of them has failed.
pub(crate) fn run(args: &Args) -> Result<()> {
    let is_asked = |name: &str| args.targets.is_empty() || args.targets.iter().any(|it| it == name);
    let packages: Vec<_> = args.package.iter().map(String::as_str).collect();
    let mut results = Vec::new();
    if is_asked(MINIMUM.name) {
        results.push(minimum());
    }
    for target in TARGETS.iter().filter(|it| is_asked(it.name)) {
        results.push(check(target).and_then(|()| match &target.run {
            Some(run) if !args.check => test(target, run, &packages),
            _ => Ok(()),
        }));
    }
    let failed = results.into_iter().filter_map(Result::err);
    let failed: Vec<_> = failed.map(|error| format!("{error:#}")).collect();
    steps::report(&failed, "the steps above failed")
}

/// Does what CI does. A machine that cannot have the compiler skips it.
pub(crate) fn short() -> Result<()> {
    if let Err(error) = FOREIGN.unpacked(&directory()) {
        return apt::skip("other platforms", &format!("{error:#}"));
    }
    for (targets, scope) in CHECKED_BY_CI {
        let packages = format!("--keep-going {}", scope.packages);
        let mut check = check_command(&packages, targets, scope.std)?;
        steps::run(&format!("check {}", targets.join(", ")), lint(&mut check)?)?;
    }
    let (name, packages) = TESTED_BY_CI;
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.with_context(|| format!("no target {name}"))?;
    let run = target.run.as_ref();
    let run = run.with_context(|| format!("the programs of {name} do not run here"))?;
    test(target, run, packages)
}

/// Checks the crates, their tests and their examples with the minimum compiler.
fn minimum() -> Result<()> {
    let mut check = with(&MINIMUM, "check --quiet --all-targets")?;
    steps::run("check with Rust 1.85", &mut check)
}

/// Checks and lints the crates for one target, and checks that each feature that the target lacks
/// causes a compiler error that says so.
fn check(target: &Target) -> Result<()> {
    let Target { name, scope, .. } = target;
    let mut check = check_command(scope.packages, &[name], scope.std)?;
    steps::run(&format!("check {name}"), lint(&mut check)?)?;
    for feature in scope.lacks {
        let package = scope.of;
        let of = format!("-p {package} --no-default-features --features {feature}");
        let mut refused = check_command(&of, &[name], scope.std)?;
        let message = format!("`{feature}` of {package} is not available on");
        let step = format!("{name} refuses {feature}");
        steps::step(&step, &line_of(&refused), || {
            let output = refused.output().context("cannot start cargo")?;
            let errors = String::from_utf8_lossy(&output.stderr);
            let is_refused = !output.status.success() && errors.contains(&message);
            ensure!(is_refused, "no error says \"{message}\":\n{errors}");
            Ok(())
        })?;
    }
    Ok(())
}

/// Makes a `cargo check` for foreign targets.
fn check_command(scope: &str, targets: &[&str], std: &str) -> Result<Command> {
    let mut check = for_targets(&format!("check --quiet {scope}"), targets, std)?;
    // Cargo builds `std` as for a program, of which a check needs neither the code nor backtraces.
    check.env("RUSTFLAGS", "-Zno-codegen");
    check.arg("-Zbuild-std-features=panic-unwind");
    Ok(check)
}

/// Makes a `cargo check` also lint the crates of the workspace.
fn lint(check: &mut Command) -> Result<&mut Command> {
    let clippy = FOREIGN.unpacked(&directory())?.join("bin/clippy-driver");
    check.env("CLIPPY_ARGS", LINTS.join("__CLIPPY_HACKERY__"));
    Ok(check.env("RUSTC_WORKSPACE_WRAPPER", clippy))
}

/// Runs the tests of packages, or all tests, on one target. Skips them if the machine lacks the
/// linker or the runner.
fn test(target: &Target, run: &Run, packages: &[&str]) -> Result<()> {
    let name = target.name;
    let step = format!("test {name}");
    if !apt::has(&step, run.packages)? {
        return Ok(());
    }
    let of_cargo = format!("CARGO_TARGET_{}", name.to_uppercase().replace('-', "_"));
    let variables = run.by.prepare(format!("{of_cargo}_RUNNER"), &directory())?;
    let on_target = |line: &str| -> Result<Command> {
        let mut command = for_targets(line, &[name], target.scope.std)?;
        command.env(format!("{of_cargo}_LINKER"), run.linker);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        if run.by != Runner::Wine {
            // The C library is linked in: otherwise programs search for one of this platform.
            command.env("RUSTFLAGS", "-Ctarget-feature=+crt-static");
        }
        Ok(command)
    };
    if packages.is_empty() {
        // Some tests start these programs.
        let mut examples = on_target("build --quiet --examples")?;
        steps::run(&format!("examples for {name}"), &mut examples)?;
        if run.by == Runner::Wine {
            wine::fails_as_documented(|| on_target("test"))?;
        }
    }
    let mut test = on_target("test --lib --tests --no-fail-fast")?;
    test.args(packages.iter().flat_map(|package| ["-p", package]));
    steps::run(&step, &mut test)
}

/// Makes a cargo command for foreign targets with one `std`, which cargo builds. The targets share
/// the build for this machine.
fn for_targets(line: &str, targets: &[&str], std: &str) -> Result<Command> {
    let mut command = with(&FOREIGN, line)?;
    command.args(targets.iter().flat_map(|target| ["--target", target]));
    command.arg(format!("-Zbuild-std={std}"));
    // Debug information would only cost time and space: failures are examined with the developer's
    // compiler.
    command.env("CARGO_PROFILE_DEV_DEBUG", "none");
    command.env("RUSTC_BOOTSTRAP", "1");
    Ok(command)
}

/// Makes a cargo command that uses one of the compilers, and the tools that come with it, and its
/// own target directory.
fn with(compiler: &Compiler, line: &str) -> Result<Command> {
    let usr = compiler.unpacked(&directory())?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tools = std::env::split_paths(&path).chain([usr.join("bin")]);
    let mut command = cargo(line);
    command
        .env("PATH", std::env::join_paths(tools)?)
        .env("RUSTC", usr.join("bin/rustc"))
        .env("LD_LIBRARY_PATH", usr.join("lib/x86_64-linux-gnu"))
        .env("CARGO_INCREMENTAL", "0")
        .env(
            "CARGO_TARGET_DIR",
            directory().join(compiler.name).join("target"),
        )
        .env_remove("RUSTFLAGS");
    Ok(command)
}

/// Returns the directory of the compilers and their builds.
fn directory() -> PathBuf {
    workspace::target().join("platforms")
}
