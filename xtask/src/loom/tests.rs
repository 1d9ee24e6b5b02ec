use super::*;

#[test]
fn only_a_canary_that_passed_counts() {
    let mut report = Report::default();
    report.read("test a_push_is_stolen_once ... ok");
    report.read("the canary is mentioned elsewhere, ok");
    report.read("test canary_a_lost_push - should panic ... FAILED");
    assert!(!report.canary);
    report.read("test canary_a_lost_push - should panic ... ok");
    assert!(report.canary);
}

#[test]
fn what_a_caught_race_prints_is_kept_for_a_failure() {
    let mut report = Report::default();
    report.read("model a_push_is_stolen_once: 12 executions, complete, 0.01 s");
    report.read("Causality violation");
    assert_eq!(report.hidden, ["Causality violation"]);
}

#[test]
fn suites_are_found_by_their_names() {
    let package = tempfile::tempdir().unwrap();
    let tests = package.path().join("tests");
    assert!(suites(package.path()).is_empty());
    fs::create_dir(&tests).unwrap();
    for name in [
        "loom_ring.rs",
        "loom_slot.rs",
        "ordinary.rs",
        "loom_notes.md",
    ] {
        fs::write(tests.join(name), "").unwrap();
    }
    let found: Vec<_> = suites(package.path()).into_iter().collect();
    assert_eq!(found, ["loom_ring", "loom_slot"]);
}

#[test]
fn an_unknown_crate_is_answered_with_the_known_ones() {
    assert_eq!(package_with_models("std").unwrap().name, "raddle-std");
    assert_eq!(
        package_with_models("raddle-std").unwrap().name,
        "raddle-std"
    );
    let message = package_with_models("no-such-crate").unwrap_err();
    assert!(message.contains("raddle-std"), "{message}");
}
