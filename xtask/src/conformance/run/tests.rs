use super::*;

#[test]
fn outcomes_of_tests_are_parsed_from_their_output() {
    let text = "running 4 tests\ntest a::b ... ok\ntest c - should panic ... FAILED\n\
                test d ... ignored, on Windows\ntest e ... printed by the test\nok\n\
                test f has been running for over 60 seconds\ntest g ... \n\
                test result: FAILED. 2 passed; 1 failed\n";
    let outcomes = outcomes(text);
    assert_eq!(outcomes["a::b"], Outcome::Passed);
    assert_eq!(outcomes["c"], Outcome::Failed);
    assert_eq!(outcomes["d"], Outcome::Ignored);
    assert_eq!(outcomes["e"], Outcome::Passed);
    assert!(!outcomes.contains_key("f") && !outcomes.contains_key("g"));
}
