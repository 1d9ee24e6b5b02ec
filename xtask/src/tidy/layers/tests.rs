use super::*;
use crate::workspace::Dependency;

fn package(name: &str, dependencies: &[(&str, bool)]) -> Package {
    Package {
        name: name.to_owned(),
        dir: "crates/planted".into(),
        dependencies: dependencies
            .iter()
            .map(|&(name, dev)| Dependency {
                name: name.to_owned(),
                dev,
                local: false,
            })
            .collect(),
        spec: String::new(),
        features: Vec::new(),
    }
}

fn findings(name: &str, dependency: &str, dev: bool) -> usize {
    check(&[package(name, &[(dependency, dev)])]).len()
}

#[test]
fn a_dependency_on_a_higher_layer_is_reported() {
    let found = check(&[package("raddle-queue", &[("raddle-sched", false)])]);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("raddle-queue may not depend on raddle-sched"),
        "{found:?}"
    );
    assert_eq!(findings("raddle-sched", "raddle-queue", false), 0);
}

#[test]
fn a_dev_dependency_on_a_higher_layer_is_reported() {
    assert_eq!(findings("raddle-task", "raddle-sched", true), 1);
    assert_eq!(findings("raddle", "raddle-hyper", true), 1);
    assert_eq!(findings("raddle-hyper", "raddle", false), 0);
}

#[test]
fn raddle_testing_is_allowed_as_a_dev_dependency_only() {
    assert_eq!(findings("raddle-queue", TESTING, true), 0);
    assert_eq!(findings("raddle-queue", TESTING, false), 1);
}

#[test]
fn a_dependency_on_a_crate_of_the_same_height_is_reported() {
    assert_eq!(findings("raddle-net", "raddle-sched", false), 1);
    assert_eq!(findings("raddle-sched", "raddle-reactor", false), 1);
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
    assert_eq!(check(&[package("raddle-planted", &[])]).len(), 1);
    assert_eq!(check(&[package("xtask", &[])]).len(), 0);
}

#[test]
fn another_runtime_is_reported() {
    assert_eq!(findings("raddle-net", "tokio", false), 1);
    assert_eq!(findings("raddle-net", "tokio", true), 1);
    assert_eq!(findings("raddle", "tokio", false), 1);
    assert_eq!(findings("raddle-benches", "tokio", false), 0);
    assert_eq!(findings("raddle", "smol", true), 0);
}

#[test]
fn tokio_is_found_outside_the_benchmarks_and_the_differential_tests() {
    assert_eq!(findings("raddle", "tokio", true), 1);
    assert_eq!(findings("raddle-proof", "tokio", false), 1);
    assert_eq!(findings("raddle-proof", "tokio", true), 0);
}

#[test]
fn loom_is_named_by_raddle_primitives_only() {
    assert_eq!(findings("raddle-queue", "loom", true), 1);
    assert_eq!(findings("raddle-primitives", "loom", false), 0);
}

#[test]
fn a_layer_may_pull_in_what_is_below_it_only() {
    for (package, expected) in [
        ("raddle-queue", false),
        ("raddle-primitives", false),
        ("crossbeam-utils", false),
        ("raddle-task", true),
        ("tokio", true),
    ] {
        assert_eq!(is_forbidden("raddle-queue", package), expected, "{package}");
    }
    assert!(!is_forbidden("raddle-sched", "raddle-task"));
}

#[test]
fn a_dependency_on_the_stand_in_is_reported() {
    let mut planted = package("raddle-benches", &[("tokio", false)]);
    assert!(check(std::slice::from_ref(&planted)).is_empty());
    planted.dependencies[0].local = true;
    assert_eq!(check(&[planted]).len(), 1);
}
