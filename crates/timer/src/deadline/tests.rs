use super::*;

#[test]
fn a_tick_lowers_the_bound_of_its_shard_once() {
    let earliest = Earliest::new();
    assert!(earliest.lower(7));
    assert!(!earliest.lower(7), "announced already");
    assert!(!earliest.lower(8));
    assert!(earliest.lower(6));
    assert_eq!(earliest.load(), 6);
}

/// The next tick of a wheel may be the start of a slot, which is earlier than the known bound.
#[test]
fn a_removal_never_lowers_the_bound_of_its_shard() {
    let earliest = Earliest::new();
    assert!(earliest.lower(70));
    earliest.raise(64);
    assert_eq!(earliest.load(), 70);
    earliest.raise(71);
    assert_eq!(earliest.load(), 71);
    earliest.raise(NEVER);
    assert_eq!(earliest.load(), NEVER);
}

#[test]
fn an_awake_driver_needs_no_unpark_for_any_tick() {
    let parked_until = ParkedUntil::new();
    for _ in 0..2 {
        for tick in [0, 1, NEVER] {
            assert!(!parked_until.is_too_late_for(tick));
        }
        assert_eq!(parked_until.transition_to_parked(|| 50), 50);
        assert!(!parked_until.is_too_late_for(50));
        assert!(parked_until.is_too_late_for(49));
        assert!(!parked_until.is_too_late_for(49), "unparked already");
        parked_until.transition_to_awake();
    }
}
