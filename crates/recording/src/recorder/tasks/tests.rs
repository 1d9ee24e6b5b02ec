use super::*;

fn location(number: u32) -> StringId {
    StringId::new(number).unwrap()
}

fn known(number: u32, parent: Option<u64>) -> Task {
    Task {
        location: Some(location(number)),
        name: None,
        parent,
    }
}

#[test]
fn a_task_that_lives_stays_known_when_its_place_is_taken() {
    let table = TaskTable::new(4);
    table.spawned(1, location(7), Some(0), None);
    for task in 2..1_000 {
        table.spawned(task, location(8), None, None);
        table.ended(task);
    }
    assert_eq!(table.get(1), Some(known(7, Some(0))));
    assert_eq!(table.get(999), Some(known(8, None)));
    assert_eq!(table.get(500), None);
}

#[test]
fn a_task_that_has_ended_is_known_for_as_many_spawns_as_there_are_places() {
    let table = TaskTable::new(4);
    // The first two move to the map: one lives when its place is taken, the other has a name.
    for task in 1..=6 {
        table.spawned(task, location(task as u32), None, None);
    }
    table.named(6, location(60));
    for task in 1..=6 {
        table.ended(task);
        assert!(table.get(task).is_some());
    }
    assert_eq!(table.get(6).unwrap().name, Some(location(60)));
    for task in 7..100 {
        table.spawned(task, location(1), None, None);
        table.named(task, location(2));
        table.ended(task);
    }
    for task in 1..=6 {
        assert_eq!(table.get(task).map(|known| known.name), None, "{task}");
    }
    assert!(table.moved.lock().tasks.len() <= 4);
}

#[test]
fn a_wait_is_from_the_last_wake_to_the_next_poll() {
    let table = TaskTable::new(4);
    table.spawned(1, location(1), None, Some(100));
    assert_eq!(table.take_wait(1, 150), 50);
    assert_eq!(table.take_wait(1, 160), 0);
    // Nor does the future of `block_on`, which has no spawn.
    assert_eq!(table.take_wait(0, 160), 0);
    table.woken(1, 200);
    // A task that shares the place.
    assert_eq!(table.take_wait(5, 210), 0);
    assert_eq!(table.take_wait(1, 230), 30);
}

#[test]
fn tasks_of_several_threads_are_known_while_they_live() {
    const THREADS: u64 = 4;
    let table = TaskTable::new(16);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let table = &table;
            scope.spawn(move || {
                let number = |index: u64| THREADS + index * THREADS + thread;
                let first = number(0);
                table.spawned(first, location(9), None, None);
                for task in (1..5_000).map(number) {
                    table.spawned(task, location(thread as u32 + 1), Some(first), None);
                    let expected = known(thread as u32 + 1, Some(first));
                    assert_eq!(table.get(task), Some(expected));
                    table.ended(task);
                }
                assert_eq!(table.get(first), Some(known(9, None)));
            });
        }
    });
}
