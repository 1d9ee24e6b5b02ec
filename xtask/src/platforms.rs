//! `cargo xtask platforms`: whether the crates compile with the oldest compiler that they promise,
//! and for platforms other than this one; where a foreign program runs here, the tests of the
//! layers run too.
//!
//! The compilers are Debian's ([`debian`]). That for foreign targets builds the standard library of
//! each from its source, which a compiler of a release does only with `RUSTC_BOOTSTRAP`.

mod debian;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::steps::{self, Steps, cargo, line_of};
use crate::workspace;
use debian::Compiler;

/// The oldest compiler that the crates promise: `rust-version` of the workspace.
const MINIMUM: Compiler = Compiler {
    name: "minimum",
    version: "1.85.",
    versioned: &["rustc-web", "libstd-rust-web-dev"],
    others: &["libstd-rust-web-1.85", "libllvm19"],
};

/// The compiler for foreign targets, with the source of its standard library;
/// `binutils-mingw-w64-x86-64` has the `dlltool` that imports of Windows need.
const FOREIGN: Compiler = Compiler {
    name: "foreign",
    version: "1.96.",
    versioned: &["rustc-web", "libstd-rust-web-dev", "rust-web-src"],
    others: &[
        "libstd-rust-web-1.96",
        "libllvm22",
        "binutils-mingw-w64-x86-64",
    ],
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these: targets of the table in docs/platforms.md, or `minimum` for the oldest compiler
    targets: Vec<String>,

    /// Only compile; do not run the tests
    #[arg(long)]
    check: bool,
}

/// One foreign target.
struct Platform {
    target: &'static str,
    /// What is checked, as arguments of `cargo check`.
    scope: &'static [&'static str],
    /// How its tests run here, if they do.
    run: Option<Run>,
}

/// How programs of a foreign target are linked and started.
struct Run {
    linker: &'static str,
    /// Started with the program; it runs by itself if this is empty.
    runner: &'static str,
    /// Debian's packages of both.
    packages: &'static [&'static str],
}

const FACADE: &[&str] = &["-p", "raddle"];

const PLATFORMS: [Platform; 7] = [
    Platform {
        target: "i686-unknown-linux-gnu",
        scope: FACADE,
        run: Some(Run {
            linker: "i686-linux-gnu-gcc",
            runner: "",
            packages: &["gcc-i686-linux-gnu"],
        }),
    },
    Platform {
        target: "armv7-unknown-linux-gnueabihf",
        scope: FACADE,
        run: Some(Run {
            linker: "arm-linux-gnueabihf-gcc",
            runner: "qemu-arm",
            packages: &["gcc-arm-linux-gnueabihf", "qemu-user"],
        }),
    },
    Platform {
        target: "aarch64-unknown-linux-gnu",
        scope: FACADE,
        run: Some(Run {
            linker: "aarch64-linux-gnu-gcc",
            runner: "qemu-aarch64",
            packages: &["gcc-aarch64-linux-gnu", "qemu-user"],
        }),
    },
    Platform {
        target: "aarch64-apple-darwin",
        scope: FACADE,
        run: None,
    },
    Platform {
        target: "x86_64-apple-darwin",
        scope: FACADE,
        run: None,
    },
    Platform {
        target: "x86_64-pc-windows-gnu",
        scope: FACADE,
        run: None,
    },
    Platform {
        target: "x86_64-unknown-freebsd",
        scope: FACADE,
        run: None,
    },
];

/// The layers whose tests run on foreign targets.
const RUN: [&str; 4] = [
    "raddle-queue",
    "raddle-task",
    "raddle-reactor",
    "raddle-sync",
];

/// Tries each target that is asked for, prints a table, and fails if one of them has failed.
pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let known = |name: &String| {
        name == MINIMUM.name || PLATFORMS.iter().any(|platform| platform.target == name)
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
            let checked = minimum(steps, &root);
            rows.push((MINIMUM.name, checked, None));
        }
        for platform in PLATFORMS.iter().filter(|it| asked(it.target)) {
            let checked = foreign(steps, &root, platform);
            let run = match &platform.run {
                Some(run) if !args.check && checked.is_ok() => {
                    Some(tests(steps, &root, platform, run))
                }
                _ => None,
            };
            rows.push((platform.target, checked, run));
        }
        Ok(())
    })?;
    println!("\n{:<32} {:<8} tests", "target", "check");
    for (name, checked, run) in &rows {
        let run = run.as_ref().map_or("-", word);
        println!("{name:<32} {:<8} {run}", word(checked));
    }
    let results = rows
        .into_iter()
        .flat_map(|(_, checked, run)| [Some(checked), run]);
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

/// Checks the crates, with their tests and examples, with the oldest compiler.
fn minimum(steps: &mut Steps, root: &Path) -> Result<()> {
    let mut check = with(&MINIMUM, root, &["check", "--quiet", "--all-targets"])?;
    steps.run("check with Rust 1.85", &mut check)
}

/// Checks the facade, and so the layers, for one target.
fn foreign(steps: &mut Steps, root: &Path, platform: &Platform) -> Result<()> {
    let mut check = for_target(root, "check", platform)?;
    check.arg("--quiet").args(platform.scope);
    steps.run(&format!("check {}", platform.target), &mut check)
}

/// Runs the tests of [`RUN`] on one target. The programs are linked statically, so that they find
/// no library of this platform.
fn tests(steps: &mut Steps, root: &Path, platform: &Platform, run: &Run) -> Result<()> {
    let target = platform.target;
    steps.step(
        &format!("packages for {target}"),
        &run.packages.join(" "),
        || install(run),
    )?;
    let mut test = for_target(root, "test", platform)?;
    let variable = |what| {
        let target = target.to_uppercase().replace('-', "_");
        format!("CARGO_TARGET_{target}_{what}")
    };
    test.env(variable("LINKER"), run.linker);
    test.env(variable("RUSTFLAGS"), "-Ctarget-feature=+crt-static");
    if !run.runner.is_empty() {
        test.env(variable("RUNNER"), run.runner);
    }
    test.args(["--lib", "--tests", "--no-fail-fast"]);
    for package in RUN {
        test.args(["-p", package]);
    }
    steps.run(&format!("test {target}"), &mut test)
}

/// Installs what links and starts programs, unless it is there.
fn install(run: &Run) -> Result<()> {
    let there = |program: &str| {
        let mut version = Command::new(program);
        version.arg("--version").stdout(Stdio::null());
        version.status().is_ok_and(|status| status.success())
    };
    if there(run.linker) && (run.runner.is_empty() || there(run.runner)) {
        return Ok(());
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]);
    install.args(run.packages);
    let status = install.status();
    ensure!(
        status.is_ok_and(|status| status.success()),
        "missing: Debian's packages {}; as root: {}",
        run.packages.join(", "),
        line_of(&install)
    );
    Ok(())
}

/// A cargo command for a foreign target, with a standard library that it builds.
fn for_target(root: &Path, what: &str, platform: &Platform) -> Result<Command> {
    let mut command = with(&FOREIGN, root, &[what, "-Zbuild-std"])?;
    command.args(["--target", platform.target]);
    command.env("RUSTC_BOOTSTRAP", "1");
    Ok(command)
}

/// A cargo command that uses one of the compilers, and has a target directory of its own.
fn with(compiler: &Compiler, root: &Path, args: &[&str]) -> Result<Command> {
    let directory = directory(root)?;
    let unpacked = compiler.unpack(&directory);
    let unpacked = unpacked.with_context(|| format!("no compiler {}", compiler.version))?;
    let mut command = cargo(root, args);
    unpacked.used_by(&mut command)?;
    command.env(
        "CARGO_TARGET_DIR",
        directory.join(compiler.name).join("target"),
    );
    Ok(command)
}

/// Where the compilers and what they build are.
fn directory(root: &Path) -> Result<PathBuf> {
    Ok(workspace::target_directory(root)?.join("platforms"))
}
