use super::*;

#[test]
fn the_median_is_in_the_middle() {
    assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
}

#[test]
fn the_interval_is_that_of_the_sign_test() {
    // The tables of the sign test give these ranks, from each end, for 95 %.
    for (count, place) in [(1, 1), (5, 1), (6, 1), (9, 2), (12, 3), (20, 6), (30, 10)] {
        let values: Vec<f64> = (1..=count).map(f64::from).collect();
        let interval = interval(&values);
        assert_eq!(interval.low, f64::from(place), "of {count}");
        assert_eq!(interval.high, f64::from(count + 1 - place), "of {count}");
        assert_eq!(interval.is_sure, count >= 6, "of {count}");
    }
}
