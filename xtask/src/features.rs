//! Whether each feature of the facade and of the stand-in compiles alone, and
//! brings no more than it needs.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::steps::{Steps, cargo, line_of};
use crate::workspace::Package;

/// The packages with Tokio's features.
const FACADES: [&str; 2] = ["raddle", "tokio"];

/// Features that programs often have together without the others.
const COMBINATIONS: [&str; 5] = [
    "io-util,net",
    "macros,rt,sync,time",
    "macros,rt-multi-thread",
    "net,rt,time",
    "sync,time",
];

/// Packages that channels and locks alone must not bring.
const NOT_FOR_SYNC: [&str; 7] = [
    "libc",
    "mio",
    "proc-macro2",
    "raddle-fs",
    "raddle-process",
    "signal-hook-registry",
    "socket2",
];

pub(crate) fn check(steps: &mut Steps, root: &Path, packages: &[Package]) -> Result<()> {
    for package in packages {
        if !FACADES.contains(&package.name.as_str()) {
            continue;
        }
        let single = package.features.iter().map(String::as_str);
        for features in [""].into_iter().chain(single).chain(COMBINATIONS) {
            let clippy = [
                "clippy",
                "--quiet",
                "-p",
                &package.spec,
                "--no-default-features",
                "--features",
                features,
                "--",
                "-D",
                "warnings",
            ];
            let name = format!("{} with {features:?}", package.name);
            steps.run(&name, &mut cargo(root, &clippy))?;
        }
        lean(steps, root, package)?;
    }
    Ok(())
}

/// Checks that the feature `sync` brings no sockets, signals or procedural macros.
fn lean(steps: &mut Steps, root: &Path, package: &Package) -> Result<()> {
    let args = [
        "tree",
        "-p",
        &package.spec,
        "--no-default-features",
        "--features",
        "sync",
        "-e",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ];
    let mut tree = cargo(root, &args);
    let shown = line_of(&tree);
    steps.step(&format!("{} tree of sync", package.name), &shown, || {
        let output = tree.output().context("cannot start cargo tree")?;
        ensure!(output.status.success(), "{shown}: {}", output.status);
        let listing = String::from_utf8(output.stdout)?;
        let names = listing.lines().filter_map(|line| line.split(' ').next());
        let surplus: Vec<_> = names.filter(|name| NOT_FOR_SYNC.contains(name)).collect();
        ensure!(surplus.is_empty(), "sync brings {}", surplus.join(", "));
        Ok(())
    })
}
