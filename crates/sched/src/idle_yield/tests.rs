use super::*;

const TOO_LONG: Duration = Duration::from_micros(2_001);

/// Returns the number of parks without a yield before the next one with a yield.
fn skipped_parks(yields: &IdleYield) -> u32 {
    (0..)
        .find(|_| yields.is_due())
        .expect("a yield is due again")
}

#[test]
fn a_worker_yields_before_each_park_while_yields_are_useful() {
    let yields = IdleYield::default();
    for _ in 0..3 {
        assert_eq!(skipped_parks(&yields), 0);
        yields.record(MAX_YIELD, true);
    }
}

#[test]
fn each_yield_that_is_long_or_finds_no_task_doubles_the_number_of_parks_without_one() {
    for (duration, has_task) in [(TOO_LONG, true), (Duration::ZERO, false)] {
        let yields = IdleYield::default();
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
            yields.record(duration, has_task);
            assert_eq!(skipped_parks(&yields), expected);
        }
    }
}

#[test]
fn a_useful_yield_resets_the_number_of_parks_without_one() {
    let yields = IdleYield::default();
    yields.record(TOO_LONG, true);
    yields.record(Duration::ZERO, false);
    assert_eq!(skipped_parks(&yields), 2);
    yields.record(Duration::ZERO, true);
    yields.record(TOO_LONG, true);
    assert_eq!(skipped_parks(&yields), 1);
}
