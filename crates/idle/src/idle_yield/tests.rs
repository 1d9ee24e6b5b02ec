use super::*;

const LONG: Duration = Duration::from_micros(2_001);

/// How many parks begin without a yield before the next one with a yield.
fn skipped(yields: &IdleYield) -> u32 {
    (0..).find(|_| yields.is_due()).expect("yields come back")
}

#[test]
fn a_worker_yields_before_each_park_while_yields_are_useful() {
    let yields = IdleYield::default();
    for _ in 0..3 {
        assert_eq!(skipped(&yields), 0);
        yields.note(MAX_YIELD, true);
    }
}

#[test]
fn each_yield_that_is_long_or_finds_no_task_doubles_the_number_of_parks_without_one() {
    for (took, has_task) in [(LONG, true), (Duration::ZERO, false)] {
        let yields = IdleYield::default();
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
            yields.note(took, has_task);
            assert_eq!(skipped(&yields), expected);
        }
    }
}

#[test]
fn a_useful_yield_resets_the_number_of_parks_without_one() {
    let yields = IdleYield::default();
    yields.note(LONG, true);
    yields.note(Duration::ZERO, false);
    assert_eq!(skipped(&yields), 2);
    yields.note(Duration::ZERO, true);
    yields.note(LONG, true);
    assert_eq!(skipped(&yields), 1);
}
