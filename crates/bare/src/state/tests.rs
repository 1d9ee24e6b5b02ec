use super::*;

#[test]
fn the_bits_are_disjoint() {
    let bits = [LIVE, READY, STARTED, WAKER];
    for (index, bit) in bits.iter().enumerate() {
        assert_eq!(bit.count_ones(), 1);
        assert!(!bits[..index].contains(bit));
    }
    assert!(
        bits.iter().all(|bit| *bit <= WAKER),
        "the waker count is above the flags"
    );
}

fn spawned() -> State {
    let state = State::vacant();
    state.transition_to_spawned();
    state
}

fn started() -> State {
    let state = spawned();
    assert_eq!(state.transition_to_taken(), Taken::Start);
    state.transition_to_started();
    state
}

#[test]
fn a_task_starts_once_and_is_polled_when_woken() {
    let state = spawned();
    assert_eq!(state.transition_to_woken(), Wake::Nothing);
    assert_eq!(state.transition_to_taken(), Taken::Start);
    state.transition_to_started();
    assert_eq!(state.transition_to_woken(), Wake::Enqueue);
    assert_eq!(state.transition_to_woken(), Wake::Nothing);
    assert_eq!(state.transition_to_taken(), Taken::Poll);
}

#[test]
fn a_slot_is_released_without_content_wakers_and_list_entry() {
    let state = started();
    assert_eq!(state.transition_to_vacated(), Vacated::Release);

    let state = started();
    state.add_waker();
    assert_eq!(state.transition_to_vacated(), Vacated::Nothing);
    assert_eq!(state.transition_to_woken(), Wake::Nothing);
    assert_eq!(state.drop_waker(), Vacated::Release);

    let state = started();
    assert_eq!(state.transition_to_woken(), Wake::Enqueue);
    assert_eq!(state.transition_to_vacated(), Vacated::Nothing);
    assert_eq!(state.transition_to_taken(), Taken::Release);

    let state = started();
    state.add_waker();
    assert_eq!(state.transition_to_woken(), Wake::Enqueue);
    assert_eq!(state.transition_to_vacated(), Vacated::Nothing);
    assert_eq!(state.transition_to_taken(), Taken::Nothing);
    assert_eq!(state.drop_waker(), Vacated::Release);
}

#[test]
#[should_panic(expected = "too many wakers")]
fn a_waker_beyond_the_largest_count_panics() {
    let state = started();
    state.0.set(state.0.get() | !(WAKER - 1));
    state.add_waker();
}
