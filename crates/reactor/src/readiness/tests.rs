use super::{Clearing, ERRORS_PASS, READY, Readiness, SHUTDOWN, TICK_ONE};
use crate::Ready;

fn readable(readiness: &Readiness) -> Option<super::ReadyEvent> {
    readiness.load().event(Ready::READABLE | Ready::READ_CLOSED)
}

#[test]
fn the_parts_of_the_word_are_disjoint() {
    let tick = !(TICK_ONE - 1);
    assert_eq!(READY & SHUTDOWN, 0);
    assert_eq!((READY | SHUTDOWN) & ERRORS_PASS, 0);
    assert_eq!((READY | SHUTDOWN | ERRORS_PASS) & tick, 0);
    assert_eq!(READY | SHUTDOWN | ERRORS_PASS | tick, u64::MAX);
    assert!(tick.count_ones() >= 48);
    assert_eq!(u64::from(Ready::ALL.bits()) & !READY, 0);
}

/// 6133, 8331: enough events to wrap a counter of 8 or 16 bits.
#[test]
fn a_stale_clearing_keeps_newer_readiness() {
    for events in [1, 255, 256, 257, 32_768, 65_536, 1 << 20] {
        let readiness = Readiness::new();
        readiness.transition_to_ready(Ready::READABLE);
        let old = readable(&readiness).unwrap();
        for _ in 0..events {
            readiness.transition_to_ready(Ready::READABLE);
        }
        assert_eq!(readiness.transition_to_blocked(old), Clearing::Kept);
        assert_eq!(readiness.transition_to_drained(old), Clearing::Kept);
        assert!(readable(&readiness).is_some(), "after {events} events");
        let new = readable(&readiness).unwrap();
        assert_eq!(readiness.transition_to_blocked(new), Clearing::Cleared);
        assert!(readable(&readiness).is_none());
    }
}

#[test]
fn the_tick_wraps_without_changing_other_parts() {
    let readiness = Readiness::new();
    readiness
        .0
        .store(!(TICK_ONE - 1), std::sync::atomic::Ordering::Relaxed);
    readiness.transition_to_ready(Ready::WRITABLE);
    let now = readiness.load();
    assert_eq!((now.tick(), now.ready()), (0, Ready::WRITABLE));
    assert!(!now.is_shutdown());
}

#[test]
fn draining_a_source_keeps_its_closed_flag() {
    let readiness = Readiness::new();
    readiness.transition_to_ready(Ready::READABLE | Ready::READ_CLOSED);
    let event = readable(&readiness).unwrap();
    assert_eq!(readiness.transition_to_drained(event), Clearing::Cleared);
    let event = readable(&readiness).expect("the closed flag is still set");
    assert_eq!(event.ready(), Ready::READ_CLOSED);
}

#[test]
fn an_operation_that_would_block_leaves_a_closed_direction_closed() {
    let closed = Ready::READ_CLOSED | Ready::WRITE_CLOSED;
    let readiness = Readiness::new();
    readiness.transition_to_ready(Ready::READABLE | Ready::WRITABLE | closed);
    // An event of both directions, although only one was tried.
    let event = readiness.load().event(Ready::ALL).unwrap();
    assert_eq!(readiness.transition_to_blocked(event), Clearing::Cleared);
    assert_eq!(readiness.load().ready(), closed);

    // An operation that was tried only because of the flag shows nothing either: it may have been
    // about something else.
    for flags in [Ready::READ, Ready::WRITE, Ready::ALL] {
        let event = readiness.load().event(flags).unwrap();
        assert_eq!(readiness.transition_to_blocked(event), Clearing::Kept);
        assert_eq!(readiness.load().ready(), closed);
    }
}

fn blocked(readiness: &Readiness, flags: Ready) -> Clearing {
    readiness.transition_to_blocked(readiness.load().event(flags).unwrap())
}

#[test]
fn a_write_that_would_block_clears_a_close_by_an_error_that_passes() {
    let readiness = Readiness::new();
    readiness.transition_to_passing_errors();
    readiness.transition_to_ready(Ready::ERROR | Ready::WRITABLE | Ready::WRITE_CLOSED);
    assert_eq!(blocked(&readiness, Ready::WRITE), Clearing::Cleared);
    let closed = Ready::ERROR | Ready::WRITE_CLOSED;
    assert_eq!(readiness.load().ready(), closed);
    // Operations that may have tried no write.
    for flags in [Ready::READ | Ready::WRITE, Ready::WRITE | Ready::PRIORITY] {
        assert_eq!(blocked(&readiness, flags), Clearing::Kept);
    }
    assert_eq!(readiness.load().ready(), closed);
    assert_eq!(blocked(&readiness, Ready::WRITE), Clearing::Cleared);
    assert_eq!(readiness.load().ready(), Ready::ERROR);
}

#[test]
fn a_hang_up_stays_although_errors_pass() {
    let readiness = Readiness::new();
    readiness.transition_to_passing_errors();
    let closed = Ready::READ_CLOSED | Ready::WRITE_CLOSED;
    readiness.transition_to_ready(Ready::ERROR | closed);
    for flags in [Ready::READ, Ready::WRITE, Ready::READ] {
        assert_eq!(blocked(&readiness, flags), Clearing::Kept);
    }
    assert_eq!(readiness.load().ready(), Ready::ERROR | closed);
}

#[test]
fn passing_errors_are_never_cleared() {
    let readiness = Readiness::new();
    readiness.transition_to_passing_errors();
    readiness.transition_to_shutdown();
    for _ in 0..3 {
        readiness.transition_to_ready(Ready::WRITE_CLOSED);
        assert_eq!(blocked(&readiness, Ready::WRITE), Clearing::Cleared);
    }
    let now = readiness.load();
    assert_eq!((now.ready(), now.tick()), (Ready::EMPTY, 3));
    assert!(now.is_shutdown());
}

#[test]
fn an_error_stays_for_waiters_with_error_interest() {
    let readiness = Readiness::new();
    readiness.transition_to_ready(Ready::READABLE | Ready::WRITABLE | Ready::ERROR);
    let event = readable(&readiness).unwrap();
    assert_eq!(event.ready(), Ready::READABLE);
    assert_eq!(readiness.transition_to_blocked(event), Clearing::Cleared);
    assert_eq!(readiness.load().ready(), Ready::WRITABLE | Ready::ERROR);
    let event = readiness.load().event(Ready::ERROR).unwrap();
    assert_eq!(readiness.transition_to_blocked(event), Clearing::Cleared);
    assert_eq!(readiness.load().ready(), Ready::WRITABLE);
}

#[test]
fn clearing_part_of_an_event_keeps_the_rest() {
    let readiness = Readiness::new();
    readiness.transition_to_ready(Ready::READABLE | Ready::WRITABLE);
    let event = readiness.load().event(Ready::ALL).unwrap();
    let part = event.only(Ready::READABLE | Ready::PRIORITY);
    assert_eq!(part.ready(), Ready::READABLE);
    assert_eq!(readiness.transition_to_blocked(part), Clearing::Cleared);
    assert_eq!(readiness.load().ready(), Ready::WRITABLE);
    let nothing = event.only(Ready::EMPTY);
    assert_eq!(readiness.transition_to_blocked(nothing), Clearing::Kept);
}

#[test]
fn an_event_with_priority_or_error_is_not_drained() {
    for flag in [Ready::PRIORITY, Ready::ERROR] {
        let readiness = Readiness::new();
        readiness.transition_to_ready(Ready::READABLE | flag);
        let event = readable(&readiness).unwrap();
        assert_eq!(readiness.transition_to_drained(event), Clearing::Kept);
        assert!(readable(&readiness).is_some());
    }
}

#[test]
fn each_direction_is_cleared_separately() {
    let readiness = Readiness::new();
    readiness.transition_to_ready(Ready::READABLE | Ready::WRITABLE | Ready::PRIORITY);
    let event = readable(&readiness).unwrap();
    assert_eq!(event.ready(), Ready::READABLE);
    assert_eq!(readiness.transition_to_blocked(event), Clearing::Cleared);
    assert_eq!(readiness.load().ready(), Ready::WRITABLE | Ready::PRIORITY);
}

#[test]
fn shutdown_is_never_cleared() {
    let readiness = Readiness::new();
    readiness.transition_to_shutdown();
    readiness.transition_to_ready(Ready::ALL);
    let event = readable(&readiness).unwrap();
    assert_eq!(readiness.transition_to_blocked(event), Clearing::Cleared);
    assert!(readiness.load().is_shutdown());
}
