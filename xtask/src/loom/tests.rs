use super::*;

#[test]
fn an_unknown_crate_is_an_error_that_lists_the_crates_with_models() {
    for name in ["primitives", "raddle-primitives"] {
        assert_eq!(package_with_models(name).unwrap().name, "raddle-primitives");
    }
    let message = package_with_models("no-such-crate").unwrap_err();
    assert!(message.contains("raddle-primitives"), "{message}");
}
