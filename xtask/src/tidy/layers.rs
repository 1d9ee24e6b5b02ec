//! Which crate may depend on which: dependencies point down only.

use crate::workspace::Package;

/// A crate of `crates/`, and the crates that its manifest may name.
type Layer = (&'static str, &'static [&'static str]);

/// Helpers that the tests of every layer share. A layer may use it for its tests.
const TESTING: &str = "raddle-testing";

/// The crates from the bottom up: each may use only crates in the rows above its own.
#[rustfmt::skip]
const LAYERS: &[Layer] = &[
    ("raddle-primitives", &[]),
    (TESTING, &["raddle-primitives"]),
    ("raddle-macros", &[]),
    ("raddle-bare", &[]),
    ("raddle-queue", &["raddle-primitives"]),
    ("raddle-leaf", &["raddle-primitives"]),
    ("raddle-io", &["raddle-primitives", "raddle-leaf"]),
    ("raddle-task", &["raddle-primitives", "raddle-leaf"]),
    ("raddle-reactor", &["raddle-primitives", "raddle-leaf"]),
    ("raddle-timer", &["raddle-primitives", "raddle-leaf"]),
    ("raddle-sync", &["raddle-primitives", "raddle-leaf", "raddle-timer"]),
    ("raddle-blocking", &["raddle-primitives"]),
    ("raddle-net", &["raddle-primitives", "raddle-leaf", "raddle-io", "raddle-task", "raddle-reactor"]),
    // The pool of the standard input; other calls run on the pool of the runtime.
    ("raddle-fs", &["raddle-primitives", "raddle-leaf", "raddle-io", "raddle-task", "raddle-blocking"]),
    ("raddle-process", &["raddle-primitives", "raddle-leaf", "raddle-io", "raddle-reactor"]),
    ("raddle-sched", &["raddle-primitives", "raddle-leaf", "raddle-queue", "raddle-task"]),
    ("raddle-recording", &["raddle-primitives", "raddle-task", "raddle-blocking", "raddle-sched"]),
    ("raddle-dump", &["raddle-primitives", "raddle-leaf", "raddle-task", "raddle-sched"]),
    ("raddle-watchdog", &["raddle-primitives", "raddle-task", "raddle-blocking", "raddle-sched"]),
    ("raddle-console", &["raddle-primitives", "raddle-task", "raddle-blocking", "raddle-dump", "raddle-sched", "raddle-watchdog"]),
];

/// The crates that compose the layers, from the bottom up: each may use every layer, and the crates
/// before it in this list.
const COMPOSERS: &[&str] = &[
    "raddle",
    "raddle-sim",
    STAND_IN,
    "raddle-hyper",
    "raddle-scaling",
    "raddle-benches",
    "raddle-proof",
];

/// The package under Tokio's name, on which no other may depend.
const STAND_IN: &str = "tokio";

/// Runtimes on which only the benchmarks and the composers' examples depend. The composers do not
/// depend on [`PEER`].
const RUNTIMES: &[&str] = &[
    "async-executor",
    "async-std",
    "smol",
    "tokio",
    "tokio-threadpool",
];

/// The runtime on which only the benchmarks and [`COMPARING`] depend.
const PEER: &str = "tokio";
/// The packages that compare Raddle with [`PEER`]: in tests, and in an example.
const COMPARING: [&str; 2] = ["raddle-proof", "raddle"];

/// Whether a package is one of the layers, which stand alone.
pub(crate) fn is_layer(package: &str) -> bool {
    layer(package).is_some()
}

/// Whether a layer may not depend on a package, directly or indirectly.
pub(crate) fn is_forbidden(name: &str, package: &str) -> bool {
    let ours = package == name || below(name).contains(&package);
    RUNTIMES.contains(&package) || (package.starts_with("raddle") && !ours)
}

/// Reports forbidden dependencies in the manifest of a package.
pub(super) fn check(package: &Package) -> Vec<String> {
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
            (None, Some(height)) => self::is_layer(used) || COMPOSERS[..height].contains(&used),
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
        let in_tests = dependency.dev && !is_layer && (used != PEER || COMPARING.contains(&name));
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

fn layer(package: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|(name, _)| *name == package)
}

/// Returns every layer that a layer uses, directly or indirectly.
fn below(name: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let direct = layer(name).map_or(&[][..], |(_, may_use)| may_use);
    for used in direct {
        found.push(*used);
        found.extend(below(used));
    }
    found
}
