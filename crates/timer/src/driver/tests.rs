use super::*;

#[test]
fn a_wait_is_rounded_up_to_milliseconds() {
    for (nanos, millis) in [(0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2)] {
        let rounded = whole_milliseconds(Duration::from_nanos(nanos));
        assert_eq!(rounded, Duration::from_millis(millis));
    }
    let hours = Duration::from_secs(36_000);
    assert_eq!(whole_milliseconds(hours), hours);
    assert_eq!(
        whole_milliseconds(Duration::MAX),
        Duration::from_millis(u64::MAX)
    );
}
