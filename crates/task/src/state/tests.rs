use super::*;

#[test]
fn the_bits_are_disjoint_and_below_the_count() {
    let bits = [
        RUNNING,
        NOTIFIED,
        COMPLETE,
        CANCELLED,
        JOIN_INTEREST,
        JOIN_WAKER,
    ];
    let mut all = 0;
    for bit in bits {
        assert_eq!(bit.count_ones(), 1);
        assert_eq!(all & bit, 0);
        all |= bit;
    }
    assert_eq!(all, REF_ONE - 1);
}

#[test]
fn one_subtraction_completes_a_task_and_releases_a_reference() {
    let word = RUNNING | NOTIFIED | (3 * REF_ONE);
    assert_eq!(
        word - COMPLETED_AND_RELEASED,
        COMPLETE | NOTIFIED | (2 * REF_ONE)
    );
}

#[test]
fn a_task_woken_while_it_runs_stays_running() {
    let state = State::new();
    assert_eq!(state.transition_to_running(|| false), Start::Poll);
    assert_eq!(state.wake_by_ref(), Wake::Nothing);
    assert_eq!(state.transition_to_idle(), Stop::Again);
    assert_eq!(state.wake_by_ref(), Wake::Nothing);
    assert_eq!(state.transition_to_running(|| false), Start::Poll);
    assert_eq!(state.transition_to_idle(), Stop::Idle);
    assert_eq!(state.wake_by_ref(), Wake::Enqueue);
}

#[test]
fn an_aborted_task_is_cancelled_by_its_next_run() {
    let state = State::new();
    assert_eq!(state.transition_to_running(|| false), Start::Poll);
    assert_eq!(state.transition_to_idle(), Stop::Idle);
    assert_eq!(state.abort(), Wake::Enqueue);
    assert_eq!(state.abort(), Wake::Nothing);
    assert_eq!(state.transition_to_running(|| false), Start::Cancel);
}

/// The owner of the only reference checks whether a list may reach the task. It must not overwrite
/// a change that a list made before the check.
#[test]
fn a_run_sees_an_abort_made_while_it_checks_for_a_list() {
    let state = State::new();
    assert_eq!(state.detach(), Detach::Nothing);
    let in_a_list = || {
        assert_eq!(state.abort(), Wake::Nothing);
        false
    };
    assert_eq!(state.transition_to_running(in_a_list), Start::Cancel);
}

#[test]
fn a_run_of_a_task_with_a_handle_does_not_check_for_a_list() {
    let state = State::new();
    let alone = || unreachable!("the handle can reach the word");
    assert_eq!(state.transition_to_running(alone), Start::Poll);
}

#[test]
fn the_last_waker_frees_a_complete_task() {
    let state = State::new();
    state.retain();
    assert_eq!(state.detach(), Detach::Nothing);
    assert_eq!(state.transition_to_running(|| false), Start::Poll);
    assert!(state.is_detached());
    assert_eq!(state.transition_to_complete_and_release(), Release::Nothing);
    assert_eq!(state.wake_by_value(), Wake::Dealloc);
}

#[test]
fn the_join_waker_changes_hands_with_its_bit() {
    let state = State::new();
    assert_eq!(state.transition_to_running(|| false), Start::Poll);
    assert!(!state.load().has_join_waker());
    assert!(state.set_join_waker());
    assert!(state.load().has_join_waker());
    assert!(state.unset_join_waker());
    assert!(!state.load().has_join_waker());
    assert!(state.set_join_waker());
    assert_eq!(state.transition_to_complete(), Completion::JoinedWithWaker);
    assert!(!state.unset_join_waker());
    assert_eq!(state.detach(), Detach::DropOutput);
}

#[test]
fn a_task_that_nothing_awaits_completes_without_a_waker() {
    let state = State::new();
    assert_eq!(state.transition_to_running(|| false), Start::Poll);
    assert_eq!(state.transition_to_complete(), Completion::Joined);
    assert_eq!(state.detach(), Detach::DropOutput);
}

#[test]
fn dropping_a_handle_with_a_waker_detaches_the_task_and_drops_the_waker() {
    let state = State::new();
    assert_eq!(state.transition_to_running(|| false), Start::Poll);
    assert!(state.set_join_waker());
    assert_eq!(state.detach(), Detach::DropWaker);
    assert!(!state.load().has_join_waker() && state.is_detached());
    assert_eq!(state.release(), Release::Nothing);
    assert_eq!(state.transition_to_complete(), Completion::Detached);
    assert_eq!(state.release(), Release::Dealloc);
}
