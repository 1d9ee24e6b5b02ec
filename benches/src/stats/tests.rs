use super::*;

#[test]
fn the_median_is_in_the_middle() {
    assert_eq!(median(&[7.0]), 7.0);
    assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
}

#[test]
fn quantiles_reach_both_ends() {
    let values: Vec<f64> = (0..=10).map(f64::from).collect();
    assert_eq!(quantile(&values, 0.0), 0.0);
    assert_eq!(quantile(&values, 0.1), 1.0);
    assert_eq!(quantile(&values, 0.9), 9.0);
    assert_eq!(quantile(&values, 1.0), 10.0);
}

#[test]
fn ratios_are_taken_round_by_round() {
    assert_eq!(ratios(&[2.0, 9.0], &[1.0, 3.0]), [2.0, 3.0]);
}

#[test]
fn a_spread_leaves_a_tenth_out_at_each_end() {
    let values: Vec<f64> = (0..=10).map(f64::from).collect();
    assert_eq!(spread(&values), "1.00 - 9.00");
}
