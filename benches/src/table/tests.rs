use super::*;

#[test]
fn the_first_is_held_against_the_others() {
    let measured = [
        vec![[1.0, 3.0], [2.0, 3.0], [3.0, 3.0]],
        vec![[2.0, 0.0], [4.0, 0.0], [6.0, 0.0]],
    ];
    let text = rows(&["one", "other"], &measured);
    let rows: Vec<Vec<_>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows[0],
        ["one", "2.00", "4.00", "0.50", "0.50", "-", "0.50"]
    );
    assert_eq!(rows[1], ["other", "3.00", "0.00", "-", "-"]);
    assert_eq!(header(&["a", "b"]).split_whitespace().count(), 6);
}

#[test]
fn large_numbers_have_no_decimals() {
    let values = [123_456.7, 12.34, 1.234];
    assert_eq!(values.map(short), ["123457", "12.3", "1.23"]);
}
