use super::*;

#[test]
fn items_that_are_popped_once_pass_the_check() {
    check(3, [2, 0, 1].map(Box::new).iter());
}

#[test]
#[should_panic(expected = "an item was lost")]
fn a_lost_item_fails_the_check() {
    check(3, [2, 0].map(Box::new).iter());
}

#[test]
#[should_panic(expected = "item 2 was popped twice")]
fn an_item_popped_twice_fails_the_check() {
    check(3, [2, 0, 2].map(Box::new).iter());
}
