use super::*;

fn labels(axis: &Axis) -> Vec<String> {
    axis.ticks().into_iter().map(label).collect()
}

#[test]
fn near_values_lie_on_a_straight_scale_from_zero() {
    let axis = Axis::over([20.0, 93.0].into_iter());
    assert_eq!(labels(&axis), ["0", "50", "100"]);
    assert_eq!(axis.map(&0.0, (300, 0)), 300);
}

#[test]
fn far_values_lie_on_a_logarithmic_scale() {
    let axis = Axis::over([3.0, 2_000_000.0].into_iter());
    assert_eq!(labels(&axis), ["10", "100", "1k", "10k", "100k", "1M"]);
    assert_eq!(
        labels(&Axis::over([0.4, 9.0].into_iter())),
        ["0.5", "1", "2", "5", "10"]
    );
    assert_eq!(axis.map(&(3.0 / 1.3), (0, 10)), 0);
}

#[test]
fn ratios_have_one_in_them() {
    assert!(labels(&Axis::of_ratios([3.0, 4.0].into_iter())).contains(&"1".to_owned()));
    assert!(labels(&Axis::of_ratios([0.1, 0.2].into_iter())).contains(&"1".to_owned()));
}

#[test]
fn nothing_makes_a_picture_too() {
    let axis = Axis::over([0.0, 0.0].into_iter());
    assert!(axis.range().start < axis.range().end);
}

#[test]
fn names_are_at_the_same_distance() {
    let names = Names(["a", "b", "c"].map(str::to_owned).to_vec());
    assert_eq!(
        [0.0, 1.0, 2.0].map(|place| names.map(&place, (0, 60))),
        [10, 30, 50]
    );
    assert_eq!(names.format_ext(&2.0), "c");
}
