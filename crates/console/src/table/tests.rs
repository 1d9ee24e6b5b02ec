use std::future::{pending, ready};
use std::time::Duration;

use raddle_dump::{TaskState, TaskTable};
use raddle_sched::{Config, CurrentThread, yield_now};

use super::{Filter, IDLE, MAX_ROWS, Order, Query, SLOW, Table};

/// Makes a scheduler whose tasks are listed in the table.
fn scheduler(table: &Table) -> CurrentThread {
    let config = Config {
        observer: Some(table.tasks.observer()),
        ..Config::default()
    };
    CurrentThread::new(config, None)
}

/// Spawns a task that is polled `polls` times, and then waits forever.
fn spawn_waiting(scheduler: &CurrentThread, polls: u64) {
    drop(scheduler.handle().spawn(async move {
        for _ in 1..polls {
            yield_now().await;
        }
        pending::<()>().await;
    }));
}

/// Runs the tasks until each was polled `rounds` times.
fn run(scheduler: &CurrentThread, rounds: u64) {
    scheduler.block_on(async {
        for _ in 0..=rounds {
            yield_now().await;
        }
    });
}

fn ids(table: &Table, query: &Query) -> Vec<u64> {
    let copy = table.copy();
    let page = query.select(&copy);
    page.tasks.iter().map(|task| task.id()).collect()
}

fn query() -> Query {
    Query {
        limit: 10,
        ..Query::default()
    }
}

#[test]
fn pages_are_sorted_and_bounded() {
    let table = Table::of(TaskTable::new());
    let scheduler = scheduler(&table);
    for number in 0..1000 {
        spawn_waiting(&scheduler, 1 + number * 7 % 1000);
    }
    run(&scheduler, 1000);
    let first = ids(&table, &query());
    assert_eq!(first.len(), 10);
    assert!(first.is_sorted());
    let last = Query {
        order: Order::Polls,
        is_descending: true,
        offset: 995,
        ..query()
    };
    let copy = table.copy();
    let page = last.select(&copy);
    assert_eq!((page.total, page.matching), (1000, 1000));
    let polls: Vec<_> = page.tasks.iter().map(|task| task.polls()).collect();
    assert_eq!(polls, [5, 4, 3, 2, 1]);
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
fn filters_select_tasks_by_state_and_time() {
    let (zero, nanosecond) = (Duration::ZERO, Duration::from_nanos(1));
    let all = [TaskState::Waiting, TaskState::Queued, TaskState::Running];
    let matching =
        |filter: Filter, since, longest| all.map(|state| filter.matches(state, since, longest));
    assert_eq!(matching(Filter::All, zero, zero), [true, true, true]);
    assert_eq!(matching(Filter::Busy, zero, zero), [false, true, true]);
    assert_eq!(matching(Filter::Waiting, zero, zero), [true, false, false]);
    assert_eq!(matching(Filter::Slow, IDLE, SLOW - nanosecond), [false; 3]);
    assert_eq!(matching(Filter::Slow, zero, SLOW), [true; 3]);
    assert_eq!(matching(Filter::Idle, IDLE - nanosecond, SLOW), [false; 3]);
    assert_eq!(matching(Filter::Idle, IDLE, zero), [true, false, false]);
}

#[test]
fn a_filter_text_matches_names_locations_and_numbers() {
    let table = Table::of(TaskTable::new());
    let scheduler = scheduler(&table);
    for name in [None, Some("Even"), None, Some("even too")] {
        let _named = raddle_task::name_next(name);
        spawn_waiting(&scheduler, 1);
    }
    let matching = |text: &str| {
        let text = text.to_owned();
        ids(&table, &Query { text, ..query() })
    };
    let all = matching("");
    assert_eq!(all.len(), 4);
    assert_eq!(matching("even"), [all[1], all[3]]);
    assert_eq!(matching(&all[2].to_string()), [all[2]]);
    assert_eq!(matching("tests.rs"), all);
    assert!(matching("nothing").is_empty());
}

#[test]
fn a_completed_task_is_not_listed() {
    let table = Table::of(TaskTable::new());
    let scheduler = scheduler(&table);
    drop(scheduler.handle().spawn(ready(())));
    run(&scheduler, 1);
    assert_eq!(table.copy().tasks().len(), 0);
}
