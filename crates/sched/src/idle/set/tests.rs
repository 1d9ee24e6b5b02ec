//! Tests of the idle set: what each transition changes, and which worker is claimed.

use super::{IdleSet, Parking};

/// The number of workers of a group, whose states are in one word.
const GROUP: usize = usize::BITS as usize - 8;

/// Numbers of workers whose last group is full or has one, two or three workers.
const SIZES: [usize; 6] = [1, 2, 3, GROUP, GROUP + 1, 2 * GROUP + 3];

fn park(set: &IdleSet, workers: impl IntoIterator<Item = usize>) {
    for worker in workers {
        let _ = set.transition_to_parked(worker, false);
    }
}

/// Claims a worker if the set has one to wake, and ends its search.
fn claim(set: &IdleSet, in_driver: Option<usize>) -> Option<usize> {
    let claimed = set.claim_to_wake(|| in_driver);
    if let Some(worker) = claimed {
        assert!(
            set.transition_to_running(worker),
            "worker {worker} was claimed"
        );
        assert!(
            set.end_search(worker),
            "worker {worker} was the only searcher"
        );
    }
    claimed
}

#[track_caller]
fn assert_counts(set: &IdleSet, searching: usize, parked: usize) {
    let expected = format!("IdleSet {{ searching: {searching}, parked: {parked}, .. }}");
    assert_eq!(format!("{set:?}"), expected);
}

#[test]
fn in_a_new_set_all_workers_run() {
    for workers in SIZES {
        let set = IdleSet::new(workers);
        assert!((0..workers).all(|worker| !set.is_parked(worker)));
        assert!(set.is_any_running() && !set.is_any_parked());
        assert_counts(&set, 0, 0);
        assert_eq!(set.claim_to_wake(|| None), None);
    }
}

#[test]
fn parking_marks_one_worker() {
    for workers in SIZES {
        for parked in 0..workers {
            let set = IdleSet::new(workers);
            park(&set, [parked]);
            assert_counts(&set, 0, 1);
            assert!((0..workers).all(|worker| set.is_parked(worker) == (worker == parked)));
            assert!(
                !set.transition_to_running(parked),
                "the worker was not claimed"
            );
            assert_counts(&set, 0, 0);
        }
    }
}

#[test]
fn the_parked_worker_with_the_lowest_number_is_claimed() {
    for in_driver in [None, Some(GROUP - 1)] {
        let set = IdleSet::new(2 * GROUP + 3);
        let parked = [0, 3, 4, GROUP, GROUP + 2, 2 * GROUP + 1];
        park(&set, parked.into_iter().rev());
        for worker in parked {
            assert_eq!(claim(&set, in_driver), Some(worker));
        }
        assert_eq!(claim(&set, in_driver), None);
        assert_counts(&set, 0, 0);
    }
}

#[test]
fn no_worker_is_claimed_while_one_searches() {
    for searching in [0, 1, GROUP, GROUP + 1] {
        let set = IdleSet::new(GROUP + 4);
        assert!(set.transition_to_searching(searching));
        park(&set, [2, GROUP + 2]);
        assert_eq!(set.claim_to_wake(|| None), None);
        assert_counts(&set, 1, 2);
        assert!(set.end_search(searching));
        assert_eq!(set.claim_to_wake(|| None), Some(2));
        assert_counts(&set, 1, 1);
        assert!(!set.is_parked(2));
        // The claimed worker is searching.
        assert_eq!(set.claim_to_wake(|| None), None);
    }
}

/// The worker begins to search after `claim_to_wake` has checked all groups and before it claims.
#[test]
fn no_worker_is_claimed_when_one_begins_to_search_meanwhile() {
    let set = IdleSet::new(4);
    park(&set, [2]);
    let begins_to_search = || {
        assert!(set.transition_to_searching(0));
        None
    };
    assert_eq!(set.claim_to_wake(begins_to_search), None);
    assert_counts(&set, 1, 1);
}

#[test]
fn the_worker_in_the_driver_is_claimed_last() {
    for first in [0, GROUP] {
        let set = IdleSet::new(2 * GROUP);
        let (in_driver, second) = (first, first + 3);
        // The workers at the same positions in the other group.
        let others = [0, 3].map(|position| GROUP - first + position);
        park(&set, others);
        park(&set, [in_driver, second]);
        let mut order = others.to_vec();
        order.insert(if first == 0 { 0 } else { 2 }, second);
        order.push(in_driver);
        for worker in order {
            assert_eq!(claim(&set, Some(in_driver)), Some(worker));
        }
    }
}

#[test]
fn at_most_half_of_a_group_searches() {
    for workers in [1, 2, 3, 4, GROUP - 1, GROUP] {
        // The group is the only one, or follows a full group.
        for first in [0, GROUP] {
            let set = IdleSet::new(first + workers);
            let max_searching = workers.div_ceil(2);
            for position in 0..workers {
                let is_searching = set.transition_to_searching(first + position);
                assert_eq!(
                    is_searching,
                    position < max_searching,
                    "worker {position} of {workers}"
                );
            }
            assert_counts(&set, max_searching, 0);
        }
    }
}

#[test]
fn a_removed_worker_does_not_count_for_its_group() {
    let set = IdleSet::new(GROUP + 3);
    assert!(set.is_present(GROUP + 1));
    set.remove(GROUP + 1);
    assert!(!set.is_present(GROUP + 1) && set.is_present(GROUP + 2) && set.is_present(1));
    assert!(set.transition_to_searching(GROUP));
    assert!(
        !set.transition_to_searching(GROUP + 2),
        "the group has two workers"
    );
    assert!(set.end_search(GROUP));
    // The removed worker does not count as running either.
    park(&set, (0..GROUP).chain([GROUP]));
    assert!(set.is_any_running());
    park(&set, [GROUP + 2]);
    assert!(!set.is_any_running());
}

#[test]
fn the_last_searcher_of_a_group_has_to_check_for_more_work() {
    let set = IdleSet::new(GROUP + 4);
    for worker in [0, 1, 2, GROUP] {
        assert!(set.transition_to_searching(worker));
    }
    assert!(!set.end_search(0));
    assert!(!set.end_search(2));
    assert!(set.end_search(GROUP));
    assert_counts(&set, 1, 0);
    assert!(set.end_search(1));
    assert_counts(&set, 0, 0);
}

#[test]
fn a_worker_that_parks_rechecks_the_queues_unless_its_group_has_a_searcher() {
    let set = IdleSet::new(GROUP + 4);
    assert_eq!(set.transition_to_parked(3, false), Parking::RecheckQueues);
    assert!(set.transition_to_searching(0) && set.transition_to_searching(1));
    assert_eq!(set.transition_to_parked(2, false), Parking::Sleep);
    // A searcher of another group does not count.
    assert_eq!(
        set.transition_to_parked(GROUP, false),
        Parking::RecheckQueues
    );
    assert_eq!(set.transition_to_parked(0, true), Parking::Sleep);
    assert_counts(&set, 1, 4);
    assert_eq!(set.transition_to_parked(1, true), Parking::RecheckQueues);
    assert_counts(&set, 0, 5);
}

#[test]
fn a_worker_that_cancels_its_parking_searches() {
    for worker in [1, GROUP + 1] {
        let set = IdleSet::new(GROUP + 4);
        park(&set, [0, 1, 2, GROUP, GROUP + 1]);
        set.cancel_parking(worker);
        assert_counts(&set, 1, 4);
        assert!(!set.is_parked(worker));
        // The call has the same result for a worker that has been claimed.
        set.cancel_parking(worker);
        assert_counts(&set, 1, 4);
    }
}

#[test]
fn a_claimed_worker_runs_as_a_searcher() {
    let set = IdleSet::new(GROUP + 4);
    park(&set, [1, 2, GROUP]);
    assert_eq!(set.claim_to_wake(|| None), Some(1));
    assert!(set.transition_to_running(1));
    assert!(!set.transition_to_running(GROUP));
    assert_counts(&set, 1, 1);
    assert!(set.is_parked(2));
}

#[test]
fn no_worker_runs_when_all_are_parked() {
    for workers in SIZES {
        let set = IdleSet::new(workers);
        for worker in 0..workers {
            assert!(set.is_any_running(), "worker {worker} runs");
            park(&set, [worker]);
            assert!(set.is_any_parked());
        }
        assert!(!set.is_any_running());
        assert!(!set.transition_to_running(workers - 1));
        assert!(set.is_any_running());
        assert_eq!(set.is_any_parked(), workers > 1);
    }
}
