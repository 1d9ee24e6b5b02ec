//! Whether each feature of the facade and of the stand-in compiles alone, and
//! brings no more than it needs.

use std::path::Path;

use anyhow::Result;

use crate::steps::{self, Steps, cargo};
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
            let mut clippy = cargo(root, &["clippy", "--quiet", "-p", &package.spec]);
            clippy.args(["--no-default-features", "--features", features]);
            clippy.args(["--", "-D", "warnings"]);
            steps.run(&format!("{} with {features:?}", package.name), &mut clippy)?;
        }
        lean(steps, root, package)?;
    }
    Ok(())
}

/// Checks that the feature `sync` brings no sockets, signals or procedural macros.
fn lean(steps: &mut Steps, root: &Path, package: &Package) -> Result<()> {
    let args = [
        "-p",
        &package.spec,
        "--no-default-features",
        "--features",
        "sync",
    ];
    let shown = format!("cargo tree {}", args.join(" "));
    steps.step(&format!("{} tree of sync", package.name), &shown, || {
        steps::tree(root, &args, |name| NOT_FOR_SYNC.contains(&name))
    })
}
