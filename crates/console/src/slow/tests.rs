use std::time::Duration;

use serde_json::Value;

use super::{MAX_GROUPS, MAX_STACK, MAX_TEXT, SlowPoll, SlowPolls};

fn poll(number: u64, millis: u64, frame: &str) -> SlowPoll {
    SlowPoll {
        number,
        task: Some(number + 100),
        location: Some("axum/src/serve/mod.rs:389:9".to_owned()),
        thread: "raddle-worker".to_owned(),
        elapsed: Duration::from_millis(millis),
        frame: Some(frame.to_owned()),
        frame_at: Some("src/main.rs:7".to_owned()),
        stack: Some(format!("stack of {number}")),
        ..SlowPoll::default()
    }
}

fn ended(poll: SlowPoll, millis: u64) -> SlowPoll {
    SlowPoll {
        elapsed: Duration::from_millis(millis),
        has_ended: true,
        ..poll
    }
}

fn groups(slow: &SlowPolls) -> Vec<Value> {
    slow.after(0).0
}

#[test]
fn polls_of_one_spawn_location_are_grouped_by_the_function_of_the_application() {
    let slow = SlowPolls::new();
    for number in 0..300 {
        let function = ["shop::list", "shop::search", "shop::pay"][number as usize % 3];
        let found = poll(number, 101, function);
        slow.push(found.clone());
        slow.push(ended(found, 200 + number));
    }
    let groups = groups(&slow);
    assert_eq!(groups.len(), 3, "{groups:#?}");
    let pay = &groups[2];
    assert_eq!(pay["frame"], "shop::pay");
    assert_eq!(pay["frame_at"], "src/main.rs:7");
    assert_eq!(pay["count"], 100);
    assert_eq!(pay["worst"], 0.499);
    assert_eq!(pay["latest"], 0.499);
    assert_eq!(pay["task"], 399);
    assert_eq!(pay["is_running"], false);
    assert_eq!(pay["stack"], "stack of 299");
    assert_eq!(pay["location"], "axum/src/serve/mod.rs:389:9");
    assert!(pay["age"].as_f64().unwrap() < 60.0);
    assert_ne!(groups[0]["key"], pay["key"]);
}

#[test]
fn a_group_keeps_the_stack_of_its_worst_poll_and_the_time_of_its_latest() {
    let slow = SlowPolls::new();
    for (number, millis) in [(1, 150), (2, 900), (3, 120)] {
        let found = poll(number, 101, "shop::list");
        slow.push(found.clone());
        slow.push(ended(found, millis));
    }
    let [group] = &groups(&slow)[..] else {
        panic!("one group");
    };
    assert_eq!(group["worst"], 0.9);
    assert_eq!(group["latest"], 0.12);
    assert_eq!(group["stack"], "stack of 2");
    assert_eq!(group["count"], 3);
}

#[test]
fn a_group_runs_until_all_its_polls_have_ended() {
    let slow = SlowPolls::new();
    let (first, second) = (poll(1, 101, "shop::list"), poll(2, 101, "shop::list"));
    slow.push(first.clone());
    slow.push(second.clone());
    for (found, is_running) in [(first, true), (second, false)] {
        slow.push(ended(found, 300));
        assert_eq!(groups(&slow)[0]["is_running"], is_running);
    }
    assert_eq!(groups(&slow)[0]["count"], 2);
}

#[test]
fn polls_without_a_function_are_grouped_by_span_name_and_location() {
    let slow = SlowPolls::new();
    let bare = SlowPoll {
        frame: None,
        stack: None,
        ..poll(0, 101, "")
    };
    let named = SlowPoll {
        name: Some("import".to_owned()),
        ..bare.clone()
    };
    let spanned = SlowPoll {
        span: Some("request{path=/a}".to_owned()),
        ..named.clone()
    };
    for (index, found) in [bare, named, spanned].into_iter().enumerate() {
        for again in 0..2 {
            let number = index as u64 * 2 + again + 1;
            slow.push(ended(
                SlowPoll {
                    number,
                    ..found.clone()
                },
                101,
            ));
        }
    }
    let groups = groups(&slow);
    assert_eq!(groups.len(), 3, "{groups:#?}");
    assert!(groups.iter().all(|group| group["count"] == 2));
    assert_eq!(groups[1]["name"], "import");
    assert_eq!(groups[2]["span"], "request{path=/a}");
    assert!(groups.iter().all(|group| group["stack"].is_null()));
}

#[test]
fn only_groups_that_have_changed_are_returned() {
    let slow = SlowPolls::new();
    slow.push(poll(1, 101, "shop::list"));
    slow.push(poll(2, 101, "shop::search"));
    let (all, version) = slow.after(0);
    assert_eq!(all.len(), 2);
    assert!(slow.after(version).0.is_empty());
    slow.push(ended(poll(1, 101, "shop::list"), 300));
    let (changed, later) = slow.after(version);
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0]["frame"], "shop::list");
    assert!(later > version);
}

#[test]
fn the_number_of_groups_and_the_lengths_of_texts_are_bounded() {
    let slow = SlowPolls::new();
    for number in 0..3 * MAX_GROUPS as u64 {
        let mut found = poll(number, 101, &format!("shop::f{number}"));
        found.stack = Some("ä".repeat(MAX_STACK));
        found.name = Some("ä".repeat(10 * MAX_TEXT));
        slow.push(found);
    }
    let groups = groups(&slow);
    assert_eq!(groups.len(), MAX_GROUPS);
    assert_eq!(groups[0]["frame"], "shop::f128");
    let length = |text: &Value| text.as_str().unwrap().len();
    assert!(
        groups
            .iter()
            .all(|group| length(&group["stack"]) <= MAX_STACK)
    );
    assert!(
        groups
            .iter()
            .all(|group| length(&group["name"]) <= MAX_TEXT)
    );
    assert_eq!(slow.0.lock().running.len(), MAX_GROUPS);
}
