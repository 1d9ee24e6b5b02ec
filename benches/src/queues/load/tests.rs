use super::*;

#[test]
fn every_item_once_passes() {
    check(3, [2, 0, 1].map(Box::new).iter());
}

#[test]
#[should_panic(expected = "an item was lost")]
fn a_lost_item_fails() {
    check(3, [2, 0].map(Box::new).iter());
}

#[test]
#[should_panic(expected = "item 2 was popped twice")]
fn an_item_popped_twice_fails() {
    check(3, [2, 0, 2].map(Box::new).iter());
}
