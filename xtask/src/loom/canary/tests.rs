use super::*;

fn canaries(body: &str) -> Result<Vec<Canary>, String> {
    of_suite(body).map_err(|error| error.to_string())
}

fn only(body: &str) -> Canary {
    canaries(body).unwrap().remove(0)
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

const LOST: &str = "
/// A push that is lost.
#[test]
#[should_panic(expected = \"was lost\")]
fn canary_a_push_is_lost() {
}
";

const RACY: &str = "
#[test]
#[should_panic(expected = \"Causality violation\")]
fn canary_a_late_write() {
";

#[test]
fn a_canary_names_its_message() {
    let found = canaries(LOST).unwrap();
    assert_eq!(found[0].name, "canary_a_push_is_lost");
    assert_eq!(found[0].message, "was lost");
    for attribute in ["#[should_panic]", "#[should_panic(expected = \"\")]", ""] {
        let body = LOST.replace("#[should_panic(expected = \"was lost\")]", attribute);
        let error = canaries(&body).unwrap_err();
        assert!(error.contains("accepts any panic"), "{error}");
    }
}

#[test]
fn a_canary_names_the_message_of_its_failure() {
    let error = canaries("fn a_push_is_popped() {").unwrap_err();
    assert!(error.contains("no canary"), "{error}");
    let error = canaries(&LOST.replace("canary_a_push_is_lost", "canary")).unwrap_err();
    assert!(error.contains("does not say"), "{error}");
}

#[test]
fn the_models_must_catch_each_canary() {
    let canary = only(LOST);
    let caught = lines(&["test canary_a_push_is_lost - should panic ... ok"]);
    canary.check_models(&caught).unwrap();
    canary.check_models(&[]).unwrap_err();
    let missed = lines(&["test canary_a_push_is_lost - should panic ... FAILED"]);
    canary.check_models(&missed).unwrap_err();
}

#[test]
fn one_execution_must_not_catch_a_canary() {
    let canary = only(LOST);
    let passed = lines(&[
        "test canary_a_push_is_lost - should panic ... FAILED",
        "---- canary_a_push_is_lost stdout ----",
        "note: test did not panic as expected at tests/loom_word.rs:12:4",
    ]);
    canary.check_single(&passed).unwrap();
    let caught = lines(&["test canary_a_push_is_lost - should panic ... ok"]);
    canary.check_single(&caught).unwrap_err();
    let otherwise = lines(&[
        "test canary_a_push_is_lost - should panic ... FAILED",
        "---- canary_a_push_is_lost stdout ----",
        "note: panic did not contain expected string",
    ]);
    canary.check_single(&otherwise).unwrap_err();
    canary.check_single(&[]).unwrap_err();
}

#[test]
fn one_execution_may_see_a_data_race() {
    let caught = lines(&["test canary_a_late_write - should panic ... ok"]);
    only(RACY).check_single(&caught).unwrap();
}
