use super::*;

fn canaries(body: &str) -> Result<Vec<Canary>, String> {
    of_suite("word", body).map_err(|error| error.to_string())
}

fn only(body: &str) -> Canary {
    canaries(body).unwrap().remove(0)
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
    assert_eq!(found[0].name, "word::canary_a_push_is_lost");
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

const CAUGHT: &str = "test word::canary_a_push_is_lost - should panic ... ok";
const FAILED: &str = "test word::canary_a_push_is_lost - should panic ... FAILED";

#[test]
fn the_models_must_catch_each_canary() {
    let canary = only(LOST);
    canary.check_models(CAUGHT).unwrap();
    canary.check_models("").unwrap_err();
    canary.check_models(FAILED).unwrap_err();
}

#[test]
fn one_execution_must_not_catch_a_canary() {
    let canary = only(LOST);
    let note = "note: test did not panic as expected at tests/models/word.rs:12:4";
    canary.check_single(&format!("{FAILED}\n{note}")).unwrap();
    canary.check_single(CAUGHT).unwrap_err();
    let note = "note: panic did not contain expected string";
    let error = canary.check_single(&format!("{FAILED}\n{note}"));
    error.unwrap_err();
    canary.check_single("").unwrap_err();
}

#[test]
fn one_execution_may_see_a_data_race() {
    let caught = "test word::canary_a_late_write - should panic ... ok";
    only(RACY).check_single(caught).unwrap();
}
