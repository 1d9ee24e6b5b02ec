//! Tests of the idle set: what each transition changes, and which worker is claimed or elected.

use raddle_idle::{Duty, IdleSet, Parking};

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
        let set = IdleSet::new(workers, true);
        assert!((0..workers).all(|worker| !set.is_parked(worker)));
        assert_counts(&set, 0, 0);
        assert_eq!(set.claim_to_wake(|| None), None);
        assert!(!set.lacks_monitor());
        assert_eq!(set.elect_monitor(None), None);
    }
}

#[test]
fn parking_marks_one_worker() {
    for workers in SIZES {
        for parked in 0..workers {
            let set = IdleSet::new(workers, false);
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
        let set = IdleSet::new(2 * GROUP + 3, false);
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
        let set = IdleSet::new(GROUP + 4, false);
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
    let set = IdleSet::new(4, false);
    park(&set, [2]);
    let begins_to_search = || {
        assert!(set.transition_to_searching(0));
        None
    };
    assert_eq!(set.claim_to_wake(begins_to_search), None);
    assert_counts(&set, 1, 1);
}

#[test]
fn the_monitor_and_then_the_worker_in_the_driver_are_claimed_last() {
    for first in [0, GROUP] {
        let set = IdleSet::new(2 * GROUP, true);
        let (monitor, in_driver, third) = (first, first + 2, first + 3);
        park(&set, [monitor]);
        assert_eq!(set.elect_monitor(None), Some(monitor));
        // The workers at the same positions in the other group.
        let others = [0, 2, 3].map(|position| GROUP - first + position);
        park(&set, others);
        park(&set, [in_driver, third]);
        let mut order = others.to_vec();
        order.insert(if first == 0 { 0 } else { 3 }, third);
        order.extend([monitor, in_driver]);
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
            let set = IdleSet::new(first + workers, false);
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
    let set = IdleSet::new(GROUP + 3, true);
    set.remove(GROUP + 1);
    assert!(set.transition_to_searching(GROUP));
    assert!(
        !set.transition_to_searching(GROUP + 2),
        "the group has two workers"
    );
    assert!(set.end_search(GROUP));
    // The removed worker does not count as running either.
    park(&set, (0..GROUP).chain([GROUP]));
    assert_eq!(set.duty(GROUP, || None), Duty::Monitor);
    park(&set, [GROUP + 2]);
    assert_eq!(set.duty(GROUP, || None), Duty::Standby);
}

#[test]
fn the_last_searcher_of_a_group_has_to_check_for_more_work() {
    let set = IdleSet::new(GROUP + 4, false);
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
    let set = IdleSet::new(GROUP + 4, false);
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
        let set = IdleSet::new(GROUP + 4, false);
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
    let set = IdleSet::new(GROUP + 4, false);
    park(&set, [1, 2, GROUP]);
    assert_eq!(set.claim_to_wake(|| None), Some(1));
    assert!(set.transition_to_running(1));
    assert!(!set.transition_to_running(GROUP));
    assert_counts(&set, 1, 1);
    assert!(set.is_parked(2));
}

#[test]
fn a_parked_worker_becomes_the_monitor_while_another_runs() {
    let set = IdleSet::new(3, true);
    assert_eq!(set.duty(0, || None), Duty::Search);
    park(&set, [0]);
    assert!(set.lacks_monitor());
    assert_eq!(set.duty(0, || None), Duty::Monitor);
    assert!(set.was_monitor(0) && !set.was_monitor(1));
    assert!(!set.lacks_monitor());
    // The worker remains the monitor, and another worker does not become the monitor.
    assert_eq!(set.duty(0, || None), Duty::Monitor);
    park(&set, [1]);
    assert_eq!(set.duty(1, || None), Duty::Sleep);
    assert!(set.was_monitor(0) && !set.was_monitor(1));
}

#[test]
fn another_worker_becomes_the_monitor_when_the_monitor_runs() {
    let set = IdleSet::new(4, true);
    park(&set, [0]);
    assert_eq!(set.duty(0, || None), Duty::Monitor);
    // The worker becomes the monitor again if no other worker has.
    assert!(!set.transition_to_running(0));
    assert!(set.was_monitor(0) && !set.lacks_monitor());
    park(&set, [0]);
    assert_eq!(set.duty(0, || None), Duty::Monitor);
    park(&set, [1]);
    assert!(!set.transition_to_running(0));
    assert!(set.lacks_monitor());
    assert_eq!(set.duty(1, || None), Duty::Monitor);
    park(&set, [0]);
    assert_eq!(set.duty(0, || None), Duty::Sleep);
    assert!(set.was_monitor(1) && !set.was_monitor(0));
}

#[test]
fn the_monitor_goes_on_standby_when_all_workers_are_parked() {
    for workers in [2, GROUP + 2] {
        let set = IdleSet::new(workers, true);
        park(&set, [0]);
        assert_eq!(set.duty(0, || None), Duty::Monitor);
        park(&set, 1..workers);
        assert_eq!(set.duty(1, || None), Duty::Sleep);
        assert_eq!(set.duty(0, || None), Duty::Standby);
        assert_eq!(set.duty(0, || None), Duty::Standby);
        assert!(set.lacks_monitor() && !set.was_monitor(0));
        assert_eq!(set.duty(1, || None), Duty::Sleep);
        assert!(!set.was_monitor(1));
    }
}

#[test]
fn the_last_worker_to_park_takes_the_role_of_a_monitor_in_the_driver() {
    for is_on_standby in [false, true] {
        let set = IdleSet::new(2, true);
        park(&set, [0]);
        assert_eq!(set.duty(0, || None), Duty::Monitor);
        park(&set, [1]);
        if is_on_standby {
            assert_eq!(set.duty(0, || None), Duty::Standby);
        }
        assert_eq!(set.duty(1, || Some(0)), Duty::Standby);
        assert_eq!(set.duty(0, || None), Duty::Sleep);
        // The worker that leaves the driver has worker 1 elected, which waits for the alarm.
        assert!(!set.transition_to_running(0));
        assert_eq!(set.elect_monitor(None), Some(1));
        assert_eq!(set.duty(1, || Some(0)), Duty::Monitor);
    }
}

#[test]
fn a_monitor_in_the_driver_keeps_its_role_while_a_worker_runs() {
    let set = IdleSet::new(3, true);
    park(&set, [0]);
    assert_eq!(set.duty(0, || None), Duty::Monitor);
    park(&set, [1]);
    assert_eq!(set.duty(1, || Some(0)), Duty::Sleep);
    assert!(set.was_monitor(0));
}

/// Makes a set of four parked workers; worker 2 is the monitor on standby.
fn worker_2_on_standby() -> IdleSet {
    let set = IdleSet::new(4, true);
    park(&set, [2]);
    assert_eq!(set.duty(2, || None), Duty::Monitor);
    park(&set, [0, 1, 3]);
    assert_eq!(set.duty(2, || None), Duty::Standby);
    set
}

#[test]
fn the_monitor_on_standby_is_elected_before_others_and_claimed_after_them() {
    let set = worker_2_on_standby();
    for expected in [0, 1, 3] {
        assert_eq!(set.claim_to_wake(|| None), Some(expected));
        assert!(set.transition_to_running(expected) && set.end_search(expected));
    }
    park(&set, [1, 3]);
    assert_eq!(set.elect_monitor(None), Some(2));
    assert_eq!(set.duty(2, || None), Duty::Monitor);
    assert_eq!(
        set.elect_monitor(None),
        None,
        "worker 2 is the monitor already"
    );
}

#[test]
fn another_worker_is_elected_if_the_one_on_standby_runs_or_is_in_the_driver() {
    let set = worker_2_on_standby();
    assert!(!set.transition_to_running(2));
    assert_eq!(set.elect_monitor(None), Some(0));

    let set = worker_2_on_standby();
    assert!(!set.transition_to_running(3));
    assert_eq!(set.elect_monitor(Some(2)), Some(0));
    assert_eq!(set.duty(2, || None), Duty::Sleep);
}

#[test]
fn a_worker_that_parks_elects_the_monitor_on_standby() {
    let set = worker_2_on_standby();
    assert!(!set.transition_to_running(3));
    assert_eq!(set.duty(0, || None), Duty::Elect);
    assert_eq!(set.elect_monitor(None), Some(2));
    assert_eq!(set.duty(0, || None), Duty::Sleep);
    assert_eq!(set.duty(2, || None), Duty::Monitor);
}

#[test]
fn the_monitor_is_put_on_standby_if_no_worker_runs() {
    let set = worker_2_on_standby();
    let count_clears = |set: &IdleSet| {
        let mut clears = 0;
        assert!(set.put_monitor_on_standby(|| clears += 1));
        clears
    };
    assert_eq!(count_clears(&set), 0, "the monitor is on standby already");
    assert!(!set.transition_to_running(0));
    assert_eq!(set.elect_monitor(None), Some(2));
    assert_eq!(count_clears(&set), 0, "a worker runs");
    park(&set, [0]);
    assert_eq!(count_clears(&set), 1);
    assert!(!set.was_monitor(2));
    assert_eq!(set.duty(2, || None), Duty::Standby);
}

#[test]
fn the_alarm_has_to_be_set_again_if_the_role_changed_while_it_was_cleared() {
    let set = worker_2_on_standby();
    assert!(!set.transition_to_running(0));
    assert_eq!(set.elect_monitor(None), Some(2));
    park(&set, [0]);
    let is_done = set.put_monitor_on_standby(|| assert_eq!(set.duty(2, || None), Duty::Standby));
    assert!(!is_done);
}

#[test]
fn a_parked_worker_is_elected_while_another_runs() {
    for first in [0, GROUP] {
        let set = IdleSet::new(first + 4, true);
        assert_eq!(set.elect_monitor(None), None, "no worker is parked");
        park(&set, [first + 1, first + 2]);
        assert_eq!(set.elect_monitor(Some(first + 1)), Some(first + 2));
        assert!(set.was_monitor(first + 2));
        assert_eq!(set.elect_monitor(None), None, "there is a monitor");
        // The monitor runs, so only the worker in the driver is left to elect.
        assert!(!set.transition_to_running(first + 2));
        assert_eq!(set.elect_monitor(Some(first + 1)), Some(first + 1));
        assert!(set.was_monitor(first + 1));
        park(&set, [first + 2]);
        assert!(!set.transition_to_running(first + 1));
        assert_eq!(set.elect_monitor(None), Some(first + 2));
    }
}

#[test]
fn no_worker_is_elected_while_none_runs() {
    let set = IdleSet::new(2, true);
    park(&set, [0, 1]);
    assert!(set.lacks_monitor());
    assert_eq!(set.elect_monitor(None), None);
    assert!(!set.was_monitor(0));
}

#[test]
fn without_a_monitor_parked_workers_sleep() {
    let set = IdleSet::new(3, false);
    park(&set, [0, 1]);
    assert_eq!(set.duty(0, || None), Duty::Sleep);
    assert_eq!(set.duty(2, || None), Duty::Search);
    assert_eq!(set.elect_monitor(None), None);
    assert!(!set.lacks_monitor() && !set.was_monitor(0));
}
