//! `cargo xtask test`: everything a contributor needs before a commit.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::api;
use crate::conformance;
use crate::counting;
use crate::ecosystem;
use crate::features;
use crate::loom;
use crate::steps::{self, Steps, cargo, line_of};
use crate::stress;
use crate::targets;
use crate::tidy::{self, layers};
use crate::workspace::{self, Package};

pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let packages = workspace::packages(&root)?;
    steps::summarized(|steps| {
        steps.run("fmt", &mut cargo(&root, &["fmt", "--all", "--check"]))?;
        steps.step("tidy", "cargo xtask tidy", || tidy::check(&root, &packages))?;
        steps.run(
            "clippy",
            &mut cargo(
                &root,
                &[
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--",
                    "-D",
                    "warnings",
                ],
            ),
        )?;
        steps.run(
            "docs",
            cargo(&root, &["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
        )?;
        steps.run("test", &mut cargo(&root, &["test", "--workspace"]))?;
        steps.run("stress", &mut stress::command(&root, 1, false))?;
        counting::check(steps, &root)?;
        targets::check(steps, &root)?;
        features::check(steps, &root, &packages)?;
        for package in &packages {
            alone(steps, &root, package)?;
            if !package.features.is_empty() {
                with_features(steps, &root, package)?;
            }
        }
        steps.step("api", "cargo xtask api", api::run)?;
        steps.step("conformance", "cargo xtask conformance --lazy", || {
            conformance::run(&conformance::Args::short())
        })?;
        ecosystem::check(steps, &root, None)?;
        loom::models(steps, &root, &packages, loom::Bound::Own)
    })
}

/// Builds a crate with no feature but its own, and runs its tests. The tests of a crate that
/// composes the layers have run already, and are only built.
fn alone(steps: &mut Steps, root: &Path, package: &Package) -> Result<()> {
    if !package.dir.starts_with("crates") {
        return Ok(());
    }
    let name = &package.name;
    let mut test = cargo(root, &["test", "-p", &package.spec]);
    if layers::is_layer(name) {
        trees(steps, root, name)?;
    } else {
        test.arg("--no-run");
    }
    steps.run(&format!("{name} alone"), &mut test)
}

/// Checks and tests a crate with all of its features.
fn with_features(steps: &mut Steps, root: &Path, package: &Package) -> Result<()> {
    let name = &package.name;
    let clippy = [
        "clippy",
        "-p",
        &package.spec,
        "--all-targets",
        "--all-features",
    ];
    steps.run(
        &format!("{name} clippy, all features"),
        cargo(root, &clippy).args(["--", "-D", "warnings"]),
    )?;
    let mut test = cargo(root, &["test", "-p", &package.spec, "--all-features"]);
    steps.run(&format!("{name} test, all features"), &mut test)
}

/// Checks that a layer pulls in no runtime, and no crate above it.
fn trees(steps: &mut Steps, root: &Path, layer: &str) -> Result<()> {
    let args = [
        "tree", "-p", layer, "-e", "normal", "--prefix", "none", "--format", "{p}",
    ];
    let mut tree = cargo(root, &args);
    let shown = line_of(&tree);
    steps.step(&format!("{layer} tree"), &shown, || {
        let output = tree.output().context("cannot start cargo tree")?;
        ensure!(output.status.success(), "{shown}: {}", output.status);
        let listing = String::from_utf8(output.stdout)?;
        let names = listing.lines().filter_map(|line| line.split(' ').next());
        let strangers = layers::strangers(layer, names);
        ensure!(
            strangers.is_empty(),
            "{layer} pulls in {}",
            strangers.join(", ")
        );
        Ok(())
    })
}
