use super::*;

fn comparison(percentile: f64) -> Comparison {
    let contestants = [
        ("raddle", 2.0),
        ("tokio-threadpool", 123_456_789.0),
        ("none", 0.0),
    ];
    Comparison::sample("chain", &contestants).with("percentile", percentile)
}

#[test]
fn rows_compare_the_first_contestant_with_the_others() {
    let text = rows(&[comparison(50.0), comparison(100.0)]);
    let rows: Vec<Vec<_>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["chain"]);
    assert_eq!(rows[1], ["p50,", "us", "raddle", "2.00"]);
    assert_eq!(rows[2][..3], ["tokio-threadpool", "123456789", "61728394"]);
    assert_eq!(rows[3], ["none", "0.00", "-"]);
    assert_eq!(rows[4], ["worst,", "us", "raddle", "2.00"]);
}

#[test]
fn a_line_has_at_most_100_columns() {
    let text = header(1000) + &rows(&[comparison(50.0)]);
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(100), "{text}");
}

#[test]
fn large_numbers_have_no_decimals() {
    let values = [123_456.7, 12.34, 1.234];
    assert_eq!(values.map(short), ["123457", "12.3", "1.23"]);
}
