//! Which crate may depend on which: dependencies point down only.

use crate::workspace::Package;

/// A crate of `crates/` and those it may name in its manifest.
type Layer = (&'static str, &'static [&'static str]);

/// What the tests of every layer share, which a layer may have for its tests.
const TESTING: &str = "raddle-testing";

/// The crates from the bottom up: each may use rows above its own only.
#[rustfmt::skip]
const LAYERS: &[Layer] = &[
    ("raddle-primitives", &[]),
    (TESTING, &["raddle-primitives"]),
    ("raddle-macros", &[]),
    ("raddle-bare", &[]),
    ("raddle-coop", &["raddle-primitives"]),
    ("raddle-select", &["raddle-primitives", "raddle-macros", "raddle-coop"]),
    ("raddle-queue", &["raddle-primitives"]),
    ("raddle-idle", &["raddle-primitives"]),
    ("raddle-counters", &["raddle-primitives"]),
    ("raddle-wait", &["raddle-primitives"]),
    ("raddle-io", &["raddle-primitives", "raddle-wait", "raddle-coop"]),
    ("raddle-task", &["raddle-primitives", "raddle-wait", "raddle-coop"]),
    ("raddle-reactor", &["raddle-primitives", "raddle-wait", "raddle-coop"]),
    ("raddle-timer", &["raddle-primitives", "raddle-wait", "raddle-coop"]),
    ("raddle-sync", &["raddle-primitives", "raddle-wait", "raddle-coop", "raddle-timer"]),
    ("raddle-blocking", &["raddle-primitives"]),
    ("raddle-recording", &[]),
    ("raddle-net", &["raddle-primitives", "raddle-wait", "raddle-coop", "raddle-io", "raddle-task", "raddle-reactor"]),
    // The pool is for tests.
    ("raddle-fs", &["raddle-primitives", "raddle-coop", "raddle-io", "raddle-task", "raddle-blocking"]),
    ("raddle-process", &["raddle-primitives", "raddle-wait", "raddle-coop", "raddle-io", "raddle-reactor"]),
    ("raddle-events", &["raddle-task"]),
    ("raddle-sched", &["raddle-primitives", "raddle-coop", "raddle-queue", "raddle-idle", "raddle-counters", "raddle-task", "raddle-events"]),
    // The scheduler is for tests, in these five.
    ("raddle-observers", &["raddle-primitives", "raddle-task", "raddle-blocking", "raddle-events", "raddle-sched"]),
    ("raddle-recorder", &["raddle-primitives", "raddle-task", "raddle-blocking", "raddle-recording", "raddle-events", "raddle-sched"]),
    ("raddle-dump", &["raddle-primitives", "raddle-wait", "raddle-task", "raddle-events", "raddle-sched"]),
    ("raddle-watchdog", &["raddle-primitives", "raddle-task", "raddle-blocking", "raddle-events", "raddle-sched"]),
    ("raddle-console", &["raddle-primitives", "raddle-task", "raddle-dump", "raddle-events", "raddle-sched", "raddle-watchdog"]),
];

/// The crates that compose the layers, from the bottom up: each may use every
/// layer, and the crates before it in this list.
const COMPOSERS: &[&str] = &[
    "raddle",
    STAND_IN,
    "raddle-hyper",
    "raddle-scaling",
    "raddle-benches",
    "raddle-proof",
];

/// The package under Tokio's name, which no other may depend on.
const STAND_IN: &str = "tokio";

/// Runtimes that only the benchmarks, and the composers' examples, depend on. The composers
/// leave out [`PEER`].
const RUNTIMES: &[&str] = &[
    "async-executor",
    "async-std",
    "smol",
    "tokio",
    "tokio-threadpool",
];

/// The runtime that only the benchmarks and [`DIFFERENTIAL`] depend on.
const PEER: &str = "tokio";
/// The package whose tests run Raddle beside [`PEER`].
const DIFFERENTIAL: &str = "raddle-proof";

/// Whether a package is one of the layers, and so stands alone.
pub(crate) fn is_layer(package: &str) -> bool {
    layer(package).is_some()
}

/// Whether a layer may not depend on a package, be it through others.
pub(crate) fn is_forbidden(name: &str, package: &str) -> bool {
    let ours = package == name || below(name).contains(&package);
    RUNTIMES.contains(&package) || (package.starts_with("raddle") && !ours)
}

/// Says which manifests name what they may not.
pub(super) fn check(packages: &[Package]) -> Vec<String> {
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<String> {
    let name = package.name.as_str();
    let mut findings = Vec::new();
    let mut object = |what: String| {
        let manifest = package.dir.join("Cargo.toml");
        findings.push(format!("{}: {what}", manifest.display()));
    };
    let is_layer = is_layer(name);
    let height = COMPOSERS.iter().position(|composer| *composer == name);
    if !is_layer && height.is_none() && name != "xtask" {
        object(format!("{name} has no row in xtask/src/tidy/layers.rs"));
    }
    for dependency in &package.dependencies {
        let used = dependency.name.as_str();
        let allowed = match (layer(name), height) {
            (Some(_), _) if used == TESTING => dependency.dev,
            (Some((_, may_use)), _) => may_use.contains(&used),
            (None, Some(height)) => is_layer_or_before(used, height),
            (None, None) => false,
        };
        if used.starts_with("raddle") && used != name && !allowed {
            object(format!(
                "{name} may not depend on {used}, which is not below it"
            ));
        }
        if used == STAND_IN && dependency.local {
            object(format!("{name} may not depend on the stand-in {used}"));
        }
        let runtime = RUNTIMES.contains(&used) && !dependency.local;
        let in_tests = dependency.dev && !is_layer && (used != PEER || name == DIFFERENTIAL);
        if runtime && !in_tests && name != "raddle-benches" {
            object(format!("{name} may not depend on {used}, another runtime"));
        }
        if used == "loom" && name != "raddle-primitives" {
            object(format!(
                "{name} may not depend on loom; take it from raddle-primitives"
            ));
        }
    }
    findings
}

fn is_layer_or_before(used: &str, height: usize) -> bool {
    is_layer(used) || COMPOSERS[..height].contains(&used)
}

fn layer(package: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|(name, _)| *name == package)
}

/// Every layer that a layer uses, directly or through another.
fn below(name: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let direct = layer(name).map_or(&[][..], |(_, may_use)| may_use);
    for used in direct {
        found.push(*used);
        found.extend(below(used));
    }
    found
}

#[cfg(test)]
mod tests;
