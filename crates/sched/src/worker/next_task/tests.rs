use super::*;

#[test]
fn the_slot_precedes_the_queue_three_times_in_a_row() {
    let slot = SlotUse::default();
    for _ in 0..2 {
        for _ in 0..3 {
            assert!(slot.is_first());
            slot.count();
        }
        assert!(!slot.is_first());
        slot.restart();
    }
}
