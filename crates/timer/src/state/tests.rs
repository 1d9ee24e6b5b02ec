use super::*;

#[test]
fn masks_are_disjoint() {
    let masks = [ARMED, FIRED, SHUT_DOWN, !PHASE_MASK];
    let union = masks.iter().fold(0, |union, mask| {
        assert_eq!(union & mask, 0, "{mask:#x} overlaps {union:#x}");
        union | mask
    });
    assert_eq!(union & PHASE_MASK, ARMED | FIRED | SHUT_DOWN);
    assert_eq!(MAX_TICK << PHASE_BITS, !PHASE_MASK);
}

#[test]
fn an_armed_word_keeps_its_tick() {
    for tick in [0, 1, 63, 64, MAX_TICK - 1, MAX_TICK] {
        let state = State::idle();
        state.transition_to_armed(tick);
        assert!(state.load().is_armed());
        assert_eq!(state.tick(), tick);
    }
}

#[test]
fn firing_a_postponed_timer_returns_its_later_tick() {
    let state = State::idle();
    state.transition_to_armed(5);
    assert_eq!(state.transition_to_later(9), Postpone::Done);
    assert_eq!(state.transition_to_fired(8), Fire::Postponed(9));
    assert_eq!(state.transition_to_later(8), Postpone::Sooner);
    assert_eq!(state.transition_to_fired(9), Fire::Fired);
    assert!(state.load().is_fired());
}

#[test]
fn a_reset_after_firing_is_idle() {
    for state in [State::fired(), State::idle()] {
        assert_eq!(state.transition_to_later(3), Postpone::Done);
        assert_eq!(state.load(), Snapshot(0));
    }
    let state = State::idle();
    state.transition_to_armed(1);
    state.transition_to_shut_down();
    assert!(state.load().is_shut_down());
    assert_eq!(state.transition_to_later(3), Postpone::Done);
    assert_eq!(state.load(), Snapshot(0));
}

#[test]
fn the_phases_are_distinct() {
    let phases = |state: &State| {
        let now = state.load();
        (now.is_armed(), now.is_fired(), now.is_shut_down())
    };
    let state = State::idle();
    assert_eq!(phases(&state), (false, false, false));
    assert_eq!(format!("{state:?}"), "Idle");
    state.transition_to_armed(7);
    assert_eq!(phases(&state), (true, false, false));
    assert_eq!(format!("{state:?}"), "Armed(7)");
    state.transition_to_shut_down();
    assert_eq!(phases(&state), (false, false, true));
    assert_eq!(format!("{state:?}"), "ShutDown");
    state.transition_to_fired_by_owner();
    assert_eq!(phases(&state), (false, true, false));
    assert_eq!(format!("{state:?}"), "Fired");
}
