use super::*;

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
fn an_unknown_crate_is_an_error_that_lists_the_crates_with_models() {
    assert_eq!(
        package_with_models("primitives").unwrap().name,
        "raddle-primitives"
    );
    assert_eq!(
        package_with_models("raddle-primitives").unwrap().name,
        "raddle-primitives"
    );
    let message = package_with_models("no-such-crate").unwrap_err();
    assert!(message.contains("raddle-primitives"), "{message}");
}
