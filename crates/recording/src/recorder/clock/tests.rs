use super::*;

const TIME_MODULUS: u64 = 1 << 56;

fn anchor(ticks: u64, nanos: u64) -> Anchor {
    Anchor { ticks, nanos }
}

#[test]
fn ticks_are_converted_by_the_segment_that_contains_them() {
    let scale = Scale {
        origin: anchor(1_000, 0),
        former: anchor(2_000, 500),
        present: anchor(3_000, 1_500),
    };
    let nanos = [1_000, 1_500, 2_000, 2_100, 3_000].map(|ticks| scale.nanos(ticks, TIME_MODULUS));
    assert_eq!(nanos, [0, 250, 500, 600, 1_500]);
}

#[test]
fn a_tick_after_the_present_is_converted_to_the_present() {
    let scale = Scale {
        origin: anchor(0, 0),
        former: anchor(0, 0),
        present: anchor(100, 50),
    };
    assert_eq!(scale.nanos(103, TIME_MODULUS), 50);
}

#[test]
fn a_tick_from_before_the_counter_wrapped_is_in_the_past() {
    let scale = Scale {
        origin: anchor(TIME_MODULUS - 100, 0),
        former: anchor(TIME_MODULUS - 100, 0),
        present: anchor(TIME_MODULUS + 100, 200),
    };
    assert_eq!(scale.nanos(TIME_MODULUS - 50, TIME_MODULUS), 50);
    // A record has only the remainder of its time.
    assert_eq!(scale.nanos(50, TIME_MODULUS), 150);
}

#[test]
fn equal_readings_of_the_clock_do_not_divide_by_zero() {
    let scale = Scale {
        origin: anchor(7, 3),
        former: anchor(7, 3),
        present: anchor(7, 3),
    };
    assert_eq!(scale.nanos(7, TIME_MODULUS), 3);
}

#[test]
fn the_clock_is_monotonic_and_agrees_with_the_clock_of_std() {
    let clock = Clock::new();
    let before = clock.anchor();
    let start = Instant::now();
    while start.elapsed() < std::time::Duration::from_millis(5) {}
    let elapsed = start.elapsed();
    let after = clock.anchor();
    assert!(after.ticks > before.ticks);
    let measured = after.nanos - before.nanos;
    assert!(measured >= nanos(elapsed.as_nanos()), "{measured}");
}
