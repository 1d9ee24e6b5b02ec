use super::*;

#[test]
fn each_contestant_is_first_in_some_rounds() {
    let mut order = Vec::new();
    let measured = in_turn(3, 4, |contestant| {
        order.push(contestant);
        Ok::<_, ()>(order.len())
    });
    let measured = measured.unwrap();
    assert_eq!(order, [0, 1, 2, 0, 1, 2, 2, 1, 0, 1, 2, 0, 0, 2, 1]);
    assert_eq!(measured, [[4, 9, 12, 13], [5, 8, 10, 15], [6, 7, 11, 14]]);
}

#[test]
fn an_error_of_a_contestant_ends_the_rounds() {
    let mut count = 0;
    let measured = in_turn(2, 4, |_| {
        count += 1;
        if count < 4 { Ok(()) } else { Err(count) }
    });
    assert_eq!(measured, Err(4));
    assert_eq!(count, 4);
}
