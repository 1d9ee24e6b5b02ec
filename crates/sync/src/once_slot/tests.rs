use std::collections::BTreeSet;

use super::*;

#[test]
fn a_slot_that_is_set_refuses_another_value() {
    let mut slot = OnceSlot::new();
    assert_eq!(slot.set("first"), Ok(()));
    assert_eq!(slot.set("second"), Err("second"));
    assert_eq!(slot.get(), Some(&"first"));
    assert_eq!(slot.take(), Some("first"));
    assert_eq!(slot.set("third"), Ok(()));
}

#[test]
fn the_states_are_distinct() {
    let states = BTreeSet::from([EMPTY, WRITING, SET]);
    assert_eq!(states.len(), 3);
}
