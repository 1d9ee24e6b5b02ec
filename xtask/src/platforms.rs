//! `cargo xtask platforms`: whether the crates compile with the oldest compiler that they promise,
//! and for platforms other than this one; where a foreign program runs here, the tests run too.
//!
//! The compilers are Debian's ([`debian`]). That for foreign targets builds the standard library of
//! each from its source, which a compiler of a release does only with `RUSTC_BOOTSTRAP`.

mod debian;
mod http;
mod runner;
mod targets;
mod wine;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::apt;
use crate::steps::{self, Steps, cargo, line_of};
use crate::workspace;
use debian::Compiler;
use targets::{Lacks, Run, Short, TARGETS, TESTED_BY_CI, Target};

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
    /// Only these: targets of the table in docs/platforms.md, or `minimum` for the oldest compiler
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

/// The results of one target.
struct Row {
    name: &'static str,
    checked: Result<()>,
    run: Option<Result<()>>,
}

/// Tries each target that is asked for, prints a table, and fails if one of them has failed.
pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    if args.short {
        return steps::summarized(|steps| short(steps, &root));
    }
    let known = |name: &String| {
        name == MINIMUM.name || TARGETS.iter().any(|target| target.name == name.as_str())
    };
    let unknown = args.targets.iter().find(|name| !known(name));
    ensure!(
        unknown.is_none(),
        "no target {}: see the table in docs/platforms.md",
        unknown.map_or("", String::as_str)
    );
    let asked = |name: &str| args.targets.is_empty() || args.targets.iter().any(|it| it == name);
    let mut rows = Vec::new();
    steps::summarized(|steps| {
        if asked(MINIMUM.name) {
            rows.push(Row {
                name: MINIMUM.name,
                checked: minimum(steps, &root),
                run: None,
            });
        }
        for target in TARGETS.iter().filter(|it| asked(it.name)) {
            let checked = check(steps, &root, target);
            let run = match &target.run {
                Some(run) if !args.check && checked.is_ok() => {
                    let packages: Vec<_> = args.package.iter().map(String::as_str).collect();
                    Some(test(steps, &root, target, run, &packages))
                }
                _ => None,
            };
            rows.push(Row {
                name: target.name,
                checked,
                run,
            });
        }
        Ok(())
    })?;
    let mut table = vec![["target", "check", "tests"].map(str::to_owned)];
    for row in &rows {
        let run = row.run.as_ref().map_or("-", word);
        table.push([row.name, word(&row.checked), run].map(str::to_owned));
    }
    print!("{}", steps::table(&table));
    let results = rows
        .into_iter()
        .flat_map(|row| [Some(row.checked), row.run]);
    let mut failed = 0;
    for error in results.flatten().filter_map(Result::err) {
        eprintln!("{error:#}");
        failed += 1;
    }
    ensure!(failed == 0, "{failed} of the steps failed");
    Ok(())
}

fn word(result: &Result<()>) -> &'static str {
    match result {
        Ok(()) => "passed",
        Err(_) => "failed",
    }
}

/// The short form, for CI: checks the libraries for every target, and runs the tests of
/// [`TESTED_BY_CI`] on one of them.
///
/// On a machine that is not CI's and cannot have the compiler or the linker it says so and does
/// nothing: the compilers are Debian's, and `apt-get` installs the linker for root only.
pub(crate) fn short(steps: &mut Steps, root: &Path) -> Result<()> {
    let (name, packages) = TESTED_BY_CI;
    let find = || TARGETS.iter().find(|target| target.name == name);
    let target = find().with_context(|| format!("no target {name}"))?;
    let run = target.run.as_ref();
    let run = run.with_context(|| format!("the programs of {name} do not run here"))?;
    if let Err(error) = prepare(root, run) {
        if std::env::var_os("CI").is_some() {
            return Err(error.context("cannot check other platforms"));
        }
        println!("\n== other platforms\nnot checked: {error:#}");
        return Ok(());
    }
    for scope in [Short::Facade, Short::WithoutThreads, Short::Bare] {
        let targets: Vec<_> = TARGETS.iter().filter(|it| it.short() == scope).collect();
        let names: Vec<_> = targets.iter().map(|target| target.name).collect();
        let Some(first) = targets.first() else {
            continue;
        };
        let mut check = for_targets(steps, root, "check", first.std, &names)?;
        check.args(["--quiet", "--keep-going"]).args(scope.args());
        lint(steps, root, &mut check)?;
        let name = format!("check {} targets: {}", names.len(), scope.packages());
        steps.run(&name, &mut check)?;
    }
    test(steps, root, target, run, packages)
}

/// Downloads the compiler for foreign targets and installs what links the programs of one.
fn prepare(root: &Path, run: &Run) -> Result<()> {
    let directory = directory(root)?;
    if FOREIGN.unpacked(&directory).is_none() {
        FOREIGN.unpack(&directory)?;
    }
    apt::install(run.packages)
}

/// Checks the crates, with their tests and examples, with the oldest compiler.
fn minimum(steps: &mut Steps, root: &Path) -> Result<()> {
    let mut check = with(
        steps,
        &MINIMUM,
        root,
        &["check", "--quiet", "--all-targets"],
    )?;
    steps.run("check with Rust 1.85", &mut check)
}

/// Checks and lints the crates for one target.
fn check(steps: &mut Steps, root: &Path, target: &Target) -> Result<()> {
    let mut check = for_target(steps, root, "check", target)?;
    check.arg("--quiet").args(target.scope);
    lint(steps, root, &mut check)?;
    steps.run(&format!("check {}", target.name), &mut check)?;
    match &target.lacks {
        Some(lacks) => refuses(steps, root, target, lacks),
        None => Ok(()),
    }
}

/// Asserts that each feature that a target lacks is an error of the compiler that says so.
fn refuses(steps: &mut Steps, root: &Path, target: &Target, lacks: &Lacks) -> Result<()> {
    for feature in lacks.features {
        let mut refused = for_target(steps, root, "check", target)?;
        refused.args(["--quiet", "-p", lacks.package, "--no-default-features"]);
        refused.args(["--features", feature]);
        let message = format!(
            "`{feature}` of {} is not available on {}",
            lacks.package, lacks.platform
        );
        let name = format!("{} refuses {feature}", target.name);
        steps.step(&name, &line_of(&refused), || {
            let output = refused.output().context("cannot start cargo")?;
            let errors = String::from_utf8_lossy(&output.stderr);
            ensure!(
                !output.status.success() && errors.contains(&message),
                "no error says that {message}:\n{errors}"
            );
            Ok(())
        })?;
    }
    Ok(())
}

/// Has a `cargo check` lint the crates of the workspace too.
fn lint(steps: &mut Steps, root: &Path, check: &mut Command) -> Result<()> {
    let clippy = compiler(steps, &FOREIGN, root)?.program("clippy-driver");
    check.env("RUSTC_WORKSPACE_WRAPPER", clippy);
    check.env("CLIPPY_ARGS", LINTS.join("__CLIPPY_HACKERY__"));
    Ok(())
}

/// Runs the tests of packages, or of all, on one target.
fn test(
    steps: &mut Steps,
    root: &Path,
    target: &Target,
    run: &Run,
    packages: &[&str],
) -> Result<()> {
    let name = target.name;
    let variable = |what| {
        let target = name.to_uppercase().replace('-', "_");
        format!("CARGO_TARGET_{target}_{what}")
    };
    let mut variables = Vec::new();
    let runner_variable = variable("RUNNER");
    let shown = run.packages.join(" ");
    steps.step(&format!("prepare {name}"), &shown, || {
        apt::install(run.packages)?;
        variables = run.by.prepare(runner_variable.clone(), &directory(root)?)?;
        Ok(())
    })?;
    let on_target = |steps: &mut Steps, what: &str| -> Result<Command> {
        let mut command = for_target(steps, root, what, target)?;
        command.env(variable("LINKER"), run.linker);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        if run.is_static {
            command.env(variable("RUSTFLAGS"), "-Ctarget-feature=+crt-static");
        }
        Ok(command)
    };
    if packages.is_empty() {
        // The programs that some tests start.
        let mut examples = on_target(steps, "build")?;
        examples.args(["--quiet", "--examples"]);
        steps.run(&format!("examples for {name}"), &mut examples)?;
        let built = target_directory(root, &FOREIGN)?.join(name).join("debug");
        let server = built.join(format!("examples/http{}", run.by.suffix()));
        steps.step(&format!("http serves on {name}"), "curl", || {
            let runner = variables.iter().find(|(name, _)| *name == runner_variable);
            http::serves(&server, runner.map(|(_, runner)| runner), &variables)
        })?;
        if run.by.is_wine() {
            wine::fails_as_documented(steps, |steps| on_target(steps, "test"))?;
        }
    }
    let mut test = on_target(steps, "test")?;
    test.args(["--lib", "--tests", "--no-fail-fast"]);
    for package in packages {
        test.args(["-p", package]);
    }
    steps.run(&format!("test {name}"), &mut test)
}

/// A cargo command for a foreign target, with a standard library that it builds.
fn for_target(steps: &mut Steps, root: &Path, what: &str, target: &Target) -> Result<Command> {
    for_targets(steps, root, what, target.std, &[target.name])
}

/// The same for several targets at once, which share what is built for this machine.
fn for_targets(
    steps: &mut Steps,
    root: &Path,
    what: &str,
    std: &str,
    targets: &[&str],
) -> Result<Command> {
    let std = format!("-Zbuild-std={std}");
    let mut command = with(steps, &FOREIGN, root, &[what, &std])?;
    for target in targets {
        command.args(["--target", target]);
    }
    // Less to build and to keep: a failure here is looked at with the developer's compiler.
    command.env("CARGO_PROFILE_DEV_DEBUG", "none");
    command.env("RUSTC_BOOTSTRAP", "1");
    Ok(command)
}

/// A cargo command that uses one of the compilers, and has a target directory of its own.
fn with(steps: &mut Steps, compiler: &Compiler, root: &Path, args: &[&str]) -> Result<Command> {
    let unpacked = self::compiler(steps, compiler, root)?;
    let mut command = cargo(root, args);
    unpacked.used_by(&mut command)?;
    command.env("CARGO_TARGET_DIR", target_directory(root, compiler)?);
    Ok(command)
}

/// Where cargo puts what it builds with one of the compilers.
fn target_directory(root: &Path, compiler: &Compiler) -> Result<PathBuf> {
    Ok(directory(root)?.join(compiler.name).join("target"))
}

/// One of the compilers, downloaded by a step of its own unless it is there.
fn compiler(steps: &mut Steps, compiler: &Compiler, root: &Path) -> Result<debian::Unpacked> {
    let directory = directory(root)?;
    if let Some(unpacked) = compiler.unpacked(&directory) {
        return Ok(unpacked);
    }
    let name = format!("compiler {}", compiler.name);
    steps.step(
        &name,
        &format!("apt-get download: Rust {}", compiler.version),
        || compiler.unpack(&directory),
    )?;
    let unpacked = compiler.unpacked(&directory);
    unpacked.with_context(|| format!("no compiler {}", compiler.version))
}

/// Where the compilers and what they build are.
fn directory(root: &Path) -> Result<PathBuf> {
    Ok(workspace::target(root).join("platforms"))
}
