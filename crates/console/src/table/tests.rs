use std::panic::Location;
use std::time::{Duration, Instant};

use super::{Filter, IDLE, MAX_ROWS, Order, Query, SLOW, State, Table, Task};

fn task(id: u64, state: State, polls: u64) -> Task {
    let now = Instant::now();
    Task {
        id,
        name: (id % 2 == 0).then(|| format!("Even-{id}").into()),
        location: Location::caller(),
        spawned: now,
        state,
        since: now,
        polls,
        busy: Duration::ZERO,
        longest: Duration::ZERO,
    }
}

fn ids(table: &Table, query: &Query) -> Vec<u64> {
    table.page(query).tasks.iter().map(|task| task.id).collect()
}

fn query() -> Query {
    Query {
        limit: 10,
        ..Query::default()
    }
}

#[test]
fn pages_are_sorted_and_bounded() {
    let table = Table::new();
    for id in 0..1000 {
        table.add(task(id, State::Waiting, id * 7 % 1000));
    }
    assert_eq!(ids(&table, &query()), (0..10).collect::<Vec<_>>());
    let last = Query {
        order: Order::Polls,
        is_descending: true,
        offset: 995,
        ..query()
    };
    let page = table.page(&last);
    assert_eq!((page.total, page.matching), (1000, 1000));
    let polls: Vec<_> = page.tasks.iter().map(|task| task.polls).collect();
    assert_eq!(polls, [4, 3, 2, 1, 0]);
    let all = Query {
        limit: usize::MAX,
        ..query()
    };
    assert_eq!(ids(&table, &all).len(), MAX_ROWS);
    let beyond = Query {
        offset: usize::MAX,
        ..query()
    };
    assert!(ids(&table, &beyond).is_empty());
}

#[test]
fn filters_choose_by_state_and_time() {
    let table = Table::new();
    table.add(task(1, State::Waiting, 0));
    table.add(task(2, State::Queued, 0));
    table.add(task(3, State::Running, 0));
    let long_ago = |time: Duration| Instant::now().checked_sub(time).unwrap();
    table.add(Task {
        since: long_ago(SLOW),
        ..task(4, State::Running, 0)
    });
    table.add(Task {
        longest: SLOW,
        ..task(5, State::Waiting, 0)
    });
    if let Some(since) = Instant::now().checked_sub(IDLE) {
        table.add(Task {
            since,
            ..task(6, State::Waiting, 0)
        });
    }
    let of = |filter| ids(&table, &Query { filter, ..query() });
    assert_eq!(of(Filter::Busy), [2, 3, 4]);
    assert_eq!(of(Filter::Waiting), [1, 5, 6]);
    assert_eq!(of(Filter::Slow), [4, 5]);
    assert_eq!(of(Filter::Idle), [6]);
}

#[test]
fn text_is_looked_for_in_names_locations_and_numbers() {
    let table = Table::new();
    for id in 1..=4 {
        table.add(task(id, State::Waiting, 0));
    }
    let of = |text: &str| {
        let text = text.to_owned();
        ids(&table, &Query { text, ..query() })
    };
    assert_eq!(of("even"), [2, 4]);
    assert_eq!(of("3"), [3]);
    assert_eq!(of("tests.rs"), [1, 2, 3, 4]);
    assert!(of("nothing").is_empty());
}
