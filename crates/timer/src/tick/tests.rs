use super::*;

const LENGTHS: [u64; 5] = [1_000, 10_000, 250_000, 500_000, 1_000_000];

#[test]
fn durations_are_rounded_to_ticks() {
    for nanos in LENGTHS {
        let length = Duration::from_nanos(nanos);
        let tick = TickLength::new(length);
        for seconds in [0, 1, 86_400] {
            let per_second = 1_000_000_000 / nanos;
            let whole = Duration::from_secs(seconds);
            for ticks in [0, 1, 2, per_second - 1] {
                let exact = whole + Duration::from_nanos(ticks * nanos);
                let number = seconds * per_second + ticks;
                assert_eq!((tick.floor(exact), tick.ceil(exact)), (number, number));
                assert_eq!(tick.until(number), exact);
                let later = exact + Duration::from_nanos(1);
                assert_eq!((tick.floor(later), tick.ceil(later)), (number, number + 1));
                let before_next = exact + length - Duration::from_nanos(1);
                assert_eq!(tick.floor(before_next), number);
            }
        }
        assert_eq!(tick.ceil(Duration::MAX), MAX_TICK);
        assert_eq!(tick.floor(Duration::MAX), MAX_TICK);
    }
}

#[test]
fn a_resolution_divides_a_millisecond() {
    for nanos in [0, 1, 999, 3_000, 999_999, 1_000_001, 2_000_000, u64::MAX] {
        let made = std::panic::catch_unwind(|| TickLength::new(Duration::from_nanos(nanos)));
        assert!(made.is_err(), "{nanos}");
    }
}
