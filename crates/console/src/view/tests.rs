use std::future::pending;

use raddle_sched::{Config, CurrentThread, yield_now};
use serde_json::json;

use raddle_dump::TaskTable;

use super::{Budget, MAX_BYTES, MAX_TEXT, beginning, slow, text};
use crate::table::{Query, Table};

#[test]
fn rows_beyond_the_budget_are_left_off_and_counted() {
    let large = "x".repeat(MAX_BYTES / 10);
    let rows = Budget::new().rows(&[(); 25], 20, |()| json!(large));
    assert_eq!((rows.rows.len(), rows.left_off), (9, 16));
    let rows = Budget::new().rows(&[(); 25], 20, |()| json!(1));
    assert_eq!((rows.rows.len(), rows.left_off), (20, 5));
}

#[test]
fn long_texts_end_in_an_ellipsis() {
    assert_eq!(text("name"), "name");
    let long = text(&"é".repeat(1000));
    assert!(long.len() <= MAX_TEXT && long.ends_with("é…"), "{long}");
    assert_eq!(beginning("abcdefgh", 6), "abc…");
}

#[test]
fn a_range_of_tasks_is_at_its_place() {
    let table = Table::of(TaskTable::new());
    let config = Config {
        observer: Some(table.tasks.observer()),
        ..Config::default()
    };
    let scheduler = CurrentThread::new(config, None);
    for _ in 0..300 {
        drop(scheduler.handle().spawn(pending::<()>()));
    }
    scheduler.block_on(async {
        while table
            .tasks
            .dump()
            .tasks()
            .iter()
            .any(|task| task.polls() == 0)
        {
            yield_now().await;
        }
    });
    let query = Query {
        offset: 250,
        limit: 200,
        ..Query::default()
    };
    let page = super::tasks(&table.copy(), &query);
    assert_eq!(
        (&page["matching"], &page["left_off"]),
        (&json!(300), &json!(0))
    );
    assert_eq!(page["tasks"].as_array().unwrap().len(), 50);
    let groups = super::groups(&table.copy());
    assert_eq!(
        (&groups["total"], &groups["groups"][0]["count"]),
        (&json!(1), &json!(300))
    );
}

#[test]
fn the_stacks_of_an_event_are_bounded_together() {
    let stack = "x".repeat(MAX_BYTES);
    let groups = vec![json!({ "name": stack, "stack": stack, "frame": null }); 64];
    let shown = slow(groups);
    assert_eq!(shown.len(), 64);
    assert!(json!(shown).to_string().len() < MAX_BYTES + 64 * 2 * MAX_TEXT);
}
