//! `cargo xtask test`: runs all checks that a contributor needs before a commit.

use anyhow::Result;

use crate::steps::{self, cargo};
use crate::tidy::{self, layers};
use crate::workspace::{self, Package};
use crate::{api, conformance, counting, ecosystem, features, loom, platforms, stress};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also run the tests of each layer built alone, and of each crate with all of its features
    /// built alone; CI only checks that these builds compile
    #[arg(long)]
    long: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let packages = workspace::packages()?;
    run_cargo("fmt", "fmt --all --check")?;
    steps::step("tidy", "cargo xtask tidy", tidy::run)?;
    run_cargo("clippy", "clippy --workspace --all-targets -- -D warnings")?;
    let mut docs = cargo("doc --workspace --no-deps");
    steps::run("docs", docs.env("RUSTDOCFLAGS", "-D warnings"))?;
    run_cargo("test", "test --workspace")?;
    steps::run("stress", &mut stress::command(1, false))?;
    counting::check()?;
    platforms::short()?;
    features::check(&packages)?;
    for package in packages.iter().filter(|p| p.dir.starts_with("crates")) {
        alone(package, args.long)?;
    }
    all_features(&packages, args.long)?;
    steps::step("api", "cargo xtask api", api::run)?;
    steps::step("conformance", "cargo xtask conformance --lazy", || {
        conformance::run(&conformance::Args::short())
    })?;
    ecosystem::run(&ecosystem::Args::default())?;
    loom::models(&packages, loom::Bound::Own)
}

/// Runs a cargo command as a step.
fn run_cargo(name: &str, line: &str) -> Result<()> {
    steps::run(name, &mut cargo(line))
}

/// Checks a crate with only its own features: cargo enables no feature that only another crate
/// requests. A layer must pull in no runtime and no crate above it. `long` also runs its tests.
fn alone(Package { name, spec, .. }: &Package, long: bool) -> Result<()> {
    let clippy = format!("clippy -p {spec} --all-targets -- -D warnings");
    run_cargo(&format!("{name} alone"), &clippy)?;
    if layers::is_layer(name) {
        let is_forbidden = |package: &str| layers::is_forbidden(name, package);
        steps::tree(&format!("{name} tree"), &format!("-p {spec}"), is_forbidden)?;
        if long {
            run_cargo(&format!("{name} test, alone"), &format!("test -p {spec}"))?;
        }
    }
    Ok(())
}

/// Checks each crate that has features with all of them, and runs the tests of these crates: in one
/// build or, if `long`, one crate after the other.
fn all_features(packages: &[Package], long: bool) -> Result<()> {
    let mut together = String::from("test --all-features");
    for Package { name, spec, .. } in packages.iter().filter(|p| !p.features.is_empty()) {
        let clippy = format!("clippy -p {spec} --all-targets --all-features -- -D warnings");
        run_cargo(&format!("{name} clippy, all features"), &clippy)?;
        together += &format!(" -p {spec}");
        if long {
            let test = format!("test -p {spec} --all-features");
            run_cargo(&format!("{name} test, all features"), &test)?;
        }
    }
    match long {
        true => Ok(()),
        false => run_cargo("test, all features", &together),
    }
}
