//! Checks that each feature of the facade and of the stand-in compiles alone, and brings only the
//! dependencies that it needs.

use anyhow::Result;

use crate::steps::{self, cargo};
use crate::workspace::Package;

/// The packages with Tokio's features.
const FACADES: [&str; 2] = ["raddle", "tokio"];

/// Combinations of features that programs often use alone.
const COMBINATIONS: [&str; 5] = [
    "io-util,net",
    "macros,rt,sync,time",
    "macros,rt-multi-thread",
    "net,rt,time",
    "sync,time",
];

/// Packages that the feature `sync` alone must not bring: sockets, signals and procedural macros.
const NOT_FOR_SYNC: [&str; 7] = [
    "libc",
    "mio",
    "proc-macro2",
    "raddle-fs",
    "raddle-process",
    "signal-hook-registry",
    "socket2",
];

pub(crate) fn check(packages: &[Package]) -> Result<()> {
    let facades = packages.iter().filter(|it| FACADES.contains(&&*it.name));
    for Package {
        name,
        spec,
        features,
        ..
    } in facades
    {
        let single = features.iter().map(String::as_str);
        for features in [""].into_iter().chain(single).chain(COMBINATIONS) {
            let of = format!("-p {spec} --no-default-features --features={features}");
            let mut clippy = cargo(format!("clippy --quiet {of} -- -D warnings"));
            steps::run(&format!("{name} with {features:?}"), &mut clippy)?;
        }
        let sync = format!("-p {spec} --no-default-features --features sync");
        steps::tree(&format!("{name} tree of sync"), &sync, |name| {
            NOT_FOR_SYNC.contains(&name)
        })?;
    }
    Ok(())
}
