use super::*;

#[test]
fn a_slot_whose_receiver_stopped_waiting_is_filled_at_once() {
    let slot = MessageSlot::<u32>::new();
    assert!(slot.fill_waiting(Fill::Message));
    assert_eq!(slot.load_state(), SlotState::Filled);
    let slot = MessageSlot::<u32>::new();
    assert!(slot.transition_to_waiting() && slot.transition_to_empty());
    assert!(slot.fill(Fill::End));
    assert_eq!(slot.load_state(), SlotState::End);
}

#[test]
fn a_slot_whose_receiver_waits_is_filled_once_the_waker_is_taken() {
    let slot = MessageSlot::<u32>::new();
    assert!(slot.transition_to_waiting());
    assert_eq!(slot.load_state(), SlotState::Waiting);
    assert!(!slot.fill(Fill::Message));
    assert_eq!(slot.load_state(), SlotState::Waking);
    assert!(!slot.transition_to_empty() && !slot.transition_to_waiting());
    slot.fill_after_waking(Fill::Message);
    assert_eq!(slot.load_state(), SlotState::Filled);
}

#[test]
fn a_block_is_full_once_each_slot_has_a_message() {
    for last in 0..SLOTS {
        let block = Block::<u32>::new(Position::of(0));
        for index in (0..SLOTS).filter(|&index| index != last) {
            assert!(block.slot(index).fill(Fill::Message));
            assert!(!block.is_full());
        }
        assert!(block.slot(last).fill(Fill::Message));
        assert!(block.is_full());
    }
}

#[test]
fn a_block_is_abandoned_once_all_messages_before_its_retirement_are_received() {
    let start = Position::of(0).plus(SLOTS);
    let mut block = Block::<u32>::new(start);
    assert!(!block.is_abandoned(start.plus(2 * SLOTS)));
    block.retire(start.plus(40));
    assert!(!block.is_abandoned(start.plus(39)));
    assert!(block.is_abandoned(start.plus(40)) && block.is_abandoned(start.plus(41)));
    block.reset();
    block.place(Position::of(0));
    assert!(!block.is_abandoned(Position::of(0)));
    assert!(!block.is_abandoned(start.plus(41)));
}
