//! Tests of the stealable set without threads.

use super::StealableSet;

/// The number of workers whose bits are in one word.
const GROUP: usize = usize::BITS as usize;

fn workers_from(set: &StealableSet, start: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let none = set.find_from(start, |worker| {
        found.push(worker);
        None::<()>
    });
    assert_eq!(none, None);
    found
}

#[test]
fn a_search_from_any_worker_visits_each_worker_of_the_set_once() {
    let set = StealableSet::new(200);
    let members = [0, 3, 63, 64, 130, 199];
    members
        .iter()
        .for_each(|&worker| set.insert_and_fence(worker));
    for start in 0..200 {
        let mut expected: Vec<_> = members
            .iter()
            .filter(|&&member| member >= start)
            .copied()
            .collect();
        // A search starts at `start` and visits the lower workers of that group last.
        let comes_last = |worker: usize| worker / GROUP == start / GROUP && worker < start;
        expected.extend(
            members
                .iter()
                .filter(|&&member| member < start && !comes_last(member)),
        );
        expected.extend(members.iter().filter(|&&member| comes_last(member)));
        assert_eq!(workers_from(&set, start), expected, "from {start}");
    }
}

#[test]
fn a_search_ends_at_the_first_worker_with_tasks() {
    let set = StealableSet::new(3);
    (0..3).for_each(|worker| set.insert(worker));
    let mut visited = 0;
    let found = set.find_from(1, |worker| {
        visited += 1;
        (worker == 2).then_some("found")
    });
    assert_eq!((found, visited), (Some("found"), 2));
}

#[test]
fn a_worker_is_removed_from_the_set_unless_its_queue_has_tasks_again() {
    let set = StealableSet::new(2);
    set.insert(1);
    set.remove(0);
    set.remove_if(1, || false);
    assert_eq!(workers_from(&set, 0), [1]);
    set.remove_if(1, || true);
    assert_eq!(workers_from(&set, 0), []);
    set.insert(0);
    set.remove(0);
    assert_eq!(workers_from(&set, 0), []);
}
