use super::*;

const LONG: Duration = Duration::from_micros(2_001);

/// How many parks begin without a yield before the next one with a yield.
fn skipped(yields: &IdleYield) -> u32 {
    (0..).find(|_| yields.is_due()).expect("yields come back")
}

#[test]
fn a_worker_yields_before_each_park_while_yields_are_short() {
    let yields = IdleYield::default();
    for _ in 0..3 {
        assert_eq!(skipped(&yields), 0);
        yields.note(LONGEST);
    }
}

#[test]
fn each_long_yield_doubles_the_number_of_parks_without_one() {
    let yields = IdleYield::default();
    for expected in [8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
        yields.note(LONG);
        assert_eq!(skipped(&yields), expected);
    }
}

#[test]
fn a_short_yield_resets_the_number_of_parks_without_one() {
    let yields = IdleYield::default();
    yields.note(LONG);
    yields.note(LONG);
    yields.note(Duration::ZERO);
    yields.note(LONG);
    assert_eq!(skipped(&yields), 8);
}

#[test]
fn a_yield_of_three_microseconds_may_have_switched_threads() {
    let yields = IdleYield::default();
    assert!(!yields.note(Duration::from_nanos(2_999)));
    assert!(yields.note(Duration::from_nanos(3_000)));
    assert!(yields.note(LONG));
}
