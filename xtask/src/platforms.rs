//! `cargo xtask platforms`: whether the crates compile with the oldest compiler that they promise,
//! and for platforms other than this one; where a foreign program runs here, the tests run too.
//!
//! The compilers are Debian's ([`debian`]). That for foreign targets builds the standard library of
//! each from its source, which a compiler of a release does only with `RUSTC_BOOTSTRAP`.

mod debian;
mod runner;
mod targets;
mod wine;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::builder::PossibleValuesParser;

use crate::apt;
use crate::steps::{self, cargo, line_of};
use crate::workspace;
use debian::Compiler;
use targets::{Lacks, Run, SHORT, TARGETS, TESTED_BY_CI, Target};

/// The oldest compiler that the crates promise: `rust-version` of the workspace.
const MINIMUM: Compiler = Compiler {
    name: "minimum",
    version: "1.85.",
    versioned: &["rustc-web", "libstd-rust-web-dev"],
    others: &["libstd-rust-web-1.85", "libllvm19"],
};

/// The compiler for foreign targets, with clippy and the source of its standard library;
/// `binutils-mingw-w64-x86-64` has the `dlltool` that imports of Windows need.
const FOREIGN: Compiler = Compiler {
    name: "foreign",
    version: "1.96.",
    versioned: &[
        "rustc-web",
        "libstd-rust-web-dev",
        "rust-web-src",
        "rust-web-clippy",
    ],
    others: &[
        "libstd-rust-web-1.96",
        "libllvm22",
        "binutils-mingw-w64-x86-64",
    ],
};

/// What clippy of [`FOREIGN`] denies, in the form in which `cargo clippy` hands it on. Two lints
/// are newer than the pinned toolchain: the first proposes what Rust 1.85 does not have, the second
/// takes wakers that count their drops for wakers that do nothing. The third finds fault with the
/// constant initial values themselves on targets without thread-locals of their own.
const LINTS: [&str; 4] = [
    "-Dwarnings",
    "-Aclippy::unwrap_or_default",
    "-Aclippy::manual_noop_waker",
    "-Aclippy::missing_const_for_thread_local",
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these targets, or `minimum` for the oldest compiler
    #[arg(value_parser = PossibleValuesParser::new(names()), hide_possible_values = true)]
    targets: Vec<String>,

    /// Only compile and lint; do not run the tests
    #[arg(long)]
    check: bool,

    /// The form of CI: the libraries for every target, and the tests of four layers on i686
    #[arg(long, conflicts_with_all = ["targets", "check", "package"])]
    short: bool,

    /// Run the tests of these packages only
    #[arg(short, long)]
    package: Vec<String>,
}

/// What can be asked for.
fn names() -> impl Iterator<Item = &'static str> {
    [MINIMUM.name]
        .into_iter()
        .chain(TARGETS.iter().map(|target| target.name))
}

/// Tries each target that is asked for, prints a table, and fails if one of them has failed.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.short {
        return short();
    }
    let mut rows = vec!["target\tcheck\ttests".to_owned()];
    let mut failed = Vec::new();
    let mut word = |result: Result<()>| match result {
        Ok(()) => "passed",
        Err(error) => {
            failed.push(format!("{error:#}"));
            "failed"
        }
    };
    let is_asked = |name: &str| args.targets.is_empty() || args.targets.iter().any(|it| it == name);
    if is_asked(MINIMUM.name) {
        rows.push(format!("{}\t{}\t-", MINIMUM.name, word(minimum())));
    }
    for target in TARGETS.iter().filter(|it| is_asked(it.name)) {
        let checked = word(check(target));
        let run = match &target.run {
            Some(run) if !args.check && checked == "passed" => {
                word(test(target, run, &args.package.join(" ")))
            }
            _ => "-",
        };
        rows.push(format!("{}\t{checked}\t{run}", target.name));
    }
    print!("{}", steps::table(&rows));
    steps::report(&failed, "the steps above failed")
}

/// The short form, for CI: checks the libraries for every target, and runs the tests of
/// [`TESTED_BY_CI`] on one of them.
///
/// On a machine that is not CI's and cannot have the compiler or the linker it says so and does
/// nothing: the compilers are Debian's, and `apt-get` installs the linker for root only.
pub(crate) fn short() -> Result<()> {
    let (name, packages) = TESTED_BY_CI;
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.with_context(|| format!("no target {name}"))?;
    let run = target.run.as_ref();
    let run = run.with_context(|| format!("the programs of {name} do not run here"))?;
    if let Err(error) = FOREIGN
        .unpacked(&directory())
        .and_then(|_| apt::install(run.packages))
    {
        if std::env::var_os("CI").is_some() {
            return Err(error.context("cannot check other platforms"));
        }
        println!("\n== other platforms\nnot checked: {error:#}");
        return Ok(());
    }
    for scope in SHORT {
        let targets = TARGETS.iter().filter(|it| it.short() == scope);
        let targets: Vec<_> = targets.collect();
        let mut check = for_targets("check --quiet --keep-going", &targets)?;
        check.args(scope.split(' '));
        let name = format!("check {} targets: {scope}", targets.len());
        steps::run(&name, lint(&mut check)?)?;
    }
    test(target, run, packages)
}

/// Checks the crates, with their tests and examples, with the oldest compiler.
fn minimum() -> Result<()> {
    let mut check = with(&MINIMUM, "check --quiet --all-targets")?;
    steps::run("check with Rust 1.85", &mut check)
}

/// Checks and lints the crates for one target, and asserts that each feature that the target lacks
/// is an error of the compiler that says so.
fn check(target: &Target) -> Result<()> {
    let name = target.name;
    let mut check = for_targets("check --quiet", &[target])?;
    check.args(target.scope.split(' '));
    steps::run(&format!("check {name}"), lint(&mut check)?)?;
    let Some(Lacks {
        package,
        features,
        platform,
    }) = &target.lacks
    else {
        return Ok(());
    };
    for feature in *features {
        let of = format!("-p {package} --no-default-features --features {feature}");
        let mut refused = for_targets(&format!("check --quiet {of}"), &[target])?;
        let message = format!("`{feature}` of {package} is not available on {platform}");
        let step = format!("{name} refuses {feature}");
        steps::step(&step, &line_of(&refused), || {
            let output = refused.output().context("cannot start cargo")?;
            let errors = String::from_utf8_lossy(&output.stderr);
            let is_refused = !output.status.success() && errors.contains(&message);
            ensure!(is_refused, "no error says that {message}:\n{errors}");
            Ok(())
        })?;
    }
    Ok(())
}

/// Has a `cargo check` lint the crates of the workspace too.
fn lint(check: &mut Command) -> Result<&mut Command> {
    let clippy = FOREIGN.unpacked(&directory())?.program("clippy-driver");
    check.env("CLIPPY_ARGS", LINTS.join("__CLIPPY_HACKERY__"));
    Ok(check.env("RUSTC_WORKSPACE_WRAPPER", clippy))
}

/// Runs the tests of packages, whose names blanks separate, or of all, on one target.
fn test(target: &Target, run: &Run, packages: &str) -> Result<()> {
    let name = target.name;
    let of_cargo = format!("CARGO_TARGET_{}", name.to_uppercase().replace('-', "_"));
    let mut variables = Vec::new();
    steps::step(&format!("prepare {name}"), &run.packages.join(" "), || {
        apt::install(run.packages)?;
        variables = run.by.prepare(format!("{of_cargo}_RUNNER"), &directory())?;
        Ok(())
    })?;
    let on_target = |line: &str| -> Result<Command> {
        let mut command = for_targets(line, &[target])?;
        command.env(format!("{of_cargo}_LINKER"), run.linker);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        if run.is_static {
            let flags = format!("{of_cargo}_RUSTFLAGS");
            command.env(flags, "-Ctarget-feature=+crt-static");
        }
        Ok(command)
    };
    if packages.is_empty() {
        // The programs that some tests start.
        let mut examples = on_target("build --quiet --examples")?;
        steps::run(&format!("examples for {name}"), &mut examples)?;
        if run.by.is_wine() {
            wine::fails_as_documented(|| on_target("test"))?;
        }
    }
    let mut test = on_target("test --lib --tests --no-fail-fast")?;
    for package in packages.split_whitespace() {
        test.args(["-p", package]);
    }
    steps::run(&format!("test {name}"), &mut test)
}

/// A cargo command for foreign targets of one `std`, which it builds; the targets share what is
/// built for this machine.
fn for_targets(line: &str, targets: &[&Target]) -> Result<Command> {
    let mut command = with(&FOREIGN, line)?;
    for target in targets {
        command.args(["--target", target.name]);
    }
    let std = targets.first().map_or("", |target| target.std);
    command.arg(format!("-Zbuild-std={std}"));
    // Less to build and to keep: a failure here is looked at with the developer's compiler.
    command.env("CARGO_PROFILE_DEV_DEBUG", "none");
    command.env("RUSTC_BOOTSTRAP", "1");
    Ok(command)
}

/// A cargo command that uses one of the compilers, and has a target directory of its own.
fn with(compiler: &Compiler, line: &str) -> Result<Command> {
    let mut command = cargo(line);
    compiler.unpacked(&directory())?.used_by(&mut command)?;
    let target = directory().join(compiler.name).join("target");
    command.env("CARGO_TARGET_DIR", target);
    Ok(command)
}

/// Where the compilers and what they build are.
fn directory() -> PathBuf {
    workspace::target().join("platforms")
}
