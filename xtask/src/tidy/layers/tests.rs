use super::*;
use crate::workspace::Dependency;

fn package(name: &str, dependencies: &[(&str, bool)]) -> Package {
    let dependencies = dependencies.iter().map(|&(name, dev)| Dependency {
        name: name.to_owned(),
        dev,
        local: false,
    });
    Package {
        name: name.to_owned(),
        dependencies: dependencies.collect(),
        ..Package::default()
    }
}

fn is_reported(name: &str, dependency: &str, dev: bool) -> bool {
    !check(&package(name, &[(dependency, dev)])).is_empty()
}

#[test]
fn a_dependency_that_is_not_below_is_reported() {
    let found = check(&package("raddle-queue", &[("raddle-sched", false)]));
    let expected = "raddle-queue may not depend on raddle-sched";
    assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    // A higher layer, also in tests, and a layer of the same height.
    assert!(is_reported("raddle-task", "raddle-sched", true));
    assert!(is_reported("raddle", "raddle-hyper", true));
    assert!(is_reported("raddle-net", "raddle-sched", false));
    assert!(is_reported("raddle-sched", "raddle-reactor", false));
    assert!(!is_reported("raddle-sched", "raddle-queue", false));
    assert!(!is_reported("raddle-hyper", "raddle", false));
}

#[test]
fn raddle_testing_is_allowed_as_a_dev_dependency_only() {
    assert!(!is_reported("raddle-queue", TESTING, true));
    assert!(is_reported("raddle-queue", TESTING, false));
}

#[test]
fn each_row_uses_only_rows_before_it() {
    for (index, (package, may_use)) in LAYERS.iter().enumerate() {
        for used in *may_use {
            let known = LAYERS[..index].iter().any(|(before, _)| before == used);
            assert!(known, "{package} uses {used}");
        }
    }
}

#[test]
fn a_crate_without_a_row_is_reported() {
    assert_eq!(check(&package("raddle-planted", &[])).len(), 1);
    assert_eq!(check(&package("xtask", &[])).len(), 0);
}

#[test]
fn another_runtime_is_found_outside_the_benchmarks_and_the_composers_examples() {
    assert!(is_reported("raddle-net", "tokio", false));
    assert!(is_reported("raddle-net", "tokio", true));
    assert!(is_reported("raddle", "tokio", false));
    assert!(is_reported("raddle", "tokio", true));
    assert!(is_reported("raddle-proof", "tokio", false));
    assert!(!is_reported("raddle-proof", "tokio", true));
    assert!(!is_reported("raddle-benches", "tokio", false));
    assert!(!is_reported("raddle", "smol", true));
}

#[test]
fn loom_is_named_by_raddle_primitives_only() {
    assert!(is_reported("raddle-queue", "loom", true));
    assert!(!is_reported("raddle-primitives", "loom", false));
}

#[test]
fn a_layer_may_pull_in_what_is_below_it_only() {
    for package in ["raddle-queue", "raddle-primitives", "crossbeam-utils"] {
        assert!(!is_forbidden("raddle-queue", package), "{package}");
    }
    for package in ["raddle-task", "tokio"] {
        assert!(is_forbidden("raddle-queue", package), "{package}");
    }
    assert!(!is_forbidden("raddle-sched", "raddle-task"));
}

#[test]
fn a_dependency_on_the_stand_in_is_reported() {
    let mut planted = package("raddle-benches", &[("tokio", false)]);
    assert!(check(&planted).is_empty());
    planted.dependencies[0].local = true;
    assert_eq!(check(&planted).len(), 1);
}
