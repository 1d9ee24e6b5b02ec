use super::*;
use crate::mutate::suite::Cost;

fn suite(processor: u64) -> Suite {
    Suite {
        package: "a".to_owned(),
        name: "b".to_owned(),
        dir: PathBuf::new(),
        program: PathBuf::new(),
        usual: Cost {
            processor: Duration::from_millis(processor),
            ..Cost::default()
        },
        reached: BTreeSet::new(),
    }
}

#[test]
fn the_cheapest_suite_comes_first_until_another_catches_more() {
    let suites = [suite(100), suite(50), suite(200)];
    let mut odds = Odds(vec![0.5; 3]);
    assert_eq!(odds.order(&suites), [1, 0, 2]);
    for _ in 0..20 {
        odds.note(2, true);
        odds.note(1, false);
    }
    assert_eq!(odds.order(&suites), [2, 0, 1]);
}

#[test]
fn a_survivor_of_other_tests_is_not_believed() {
    let what = format!("{:016x} 1 Shallow: reached by none", 7);
    assert!(has_survived(&what, 7, Stage::Tests));
    assert!(has_survived(&what, 7, Stage::Shallow));
    assert!(!has_survived(&what, 7, Stage::Full));
    assert!(!has_survived(&what, 8, Stage::Tests));
}
