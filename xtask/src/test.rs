//! `cargo xtask test`: everything a contributor needs before a commit.

use std::path::Path;

use anyhow::Result;

use crate::api;
use crate::conformance;
use crate::counting;
use crate::ecosystem;
use crate::features;
use crate::loom;
use crate::platforms;
use crate::steps::{self, Steps, cargo};
use crate::stress;
use crate::tidy::{self, layers};
use crate::workspace::{self, Package};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also run the tests of each layer built alone, and of each crate with all of its features
    /// built alone; CI only checks that these builds compile
    #[arg(long)]
    long: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let packages = workspace::packages(&root)?;
    steps::summarized(|steps| {
        steps.run("fmt", &mut cargo(&root, &["fmt", "--all", "--check"]))?;
        steps.step("tidy", "cargo xtask tidy", || tidy::check(&root, &packages))?;
        steps.run(
            "clippy",
            cargo(&root, &["clippy", "--workspace", "--all-targets"])
                .args(["--", "-D", "warnings"]),
        )?;
        steps.run(
            "docs",
            cargo(&root, &["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
        )?;
        steps.run("test", &mut cargo(&root, &["test", "--workspace"]))?;
        steps.run("stress", &mut stress::command(&root, 1, false))?;
        counting::check(steps, &root)?;
        platforms::short(steps, &root)?;
        features::check(steps, &root, &packages)?;
        for package in packages.iter().filter(|p| p.dir.starts_with("crates")) {
            alone(steps, &root, package, args.long)?;
        }
        all_features(steps, &root, &packages, args.long)?;
        steps.step("api", "cargo xtask api", api::run)?;
        steps.step("conformance", "cargo xtask conformance --lazy", || {
            conformance::run(&conformance::Args::short())
        })?;
        ecosystem::check(steps, &root, None)?;
        loom::models(steps, &root, &packages, loom::Bound::Own)
    })
}

/// Checks a crate with no feature but its own: cargo enables no feature that only another crate
/// asks for. A layer must pull in no crate above it; `long` runs its tests too.
fn alone(steps: &mut Steps, root: &Path, package: &Package, long: bool) -> Result<()> {
    let name = &package.name;
    let clippy = ["clippy", "-p", &package.spec, "--all-targets"];
    steps.run(
        &format!("{name} alone"),
        cargo(root, &clippy).args(["--", "-D", "warnings"]),
    )?;
    if layers::is_layer(name) {
        trees(steps, root, name)?;
        if long {
            let mut test = cargo(root, &["test", "-p", &package.spec]);
            steps.run(&format!("{name} test, alone"), &mut test)?;
        }
    }
    Ok(())
}

/// Checks each crate that has features with all of them, and runs the tests of these crates, in
/// one build or, if `long`, one crate after the other.
fn all_features(steps: &mut Steps, root: &Path, packages: &[Package], long: bool) -> Result<()> {
    let mut together = cargo(root, &["test", "--all-features"]);
    for Package { name, spec, .. } in packages.iter().filter(|p| !p.features.is_empty()) {
        let clippy = ["clippy", "-p", spec, "--all-targets", "--all-features"];
        steps.run(
            &format!("{name} clippy, all features"),
            cargo(root, &clippy).args(["--", "-D", "warnings"]),
        )?;
        together.args(["-p", spec]);
        if long {
            let mut test = cargo(root, &["test", "-p", spec, "--all-features"]);
            steps.run(&format!("{name} test, all features"), &mut test)?;
        }
    }
    if long {
        return Ok(());
    }
    steps.run("test, all features", &mut together)
}

/// Checks that a layer pulls in no runtime, and no crate above it.
fn trees(steps: &mut Steps, root: &Path, layer: &str) -> Result<()> {
    let shown = format!("cargo tree -p {layer} -e normal");
    steps.step(&format!("{layer} tree"), &shown, || {
        steps::tree(root, &["-p", layer], |package| {
            layers::is_forbidden(layer, package)
        })
    })
}
