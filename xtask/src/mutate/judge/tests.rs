use super::*;

#[test]
fn a_survivor_of_other_tests_is_not_believed() {
    let what = format!("{:016x} 1 Shallow: reached by none", 7);
    assert!(has_survived(&what, 7, Stage::Tests));
    assert!(has_survived(&what, 7, Stage::Shallow));
    assert!(!has_survived(&what, 7, Stage::Full));
    assert!(!has_survived(&what, 8, Stage::Tests));
}
