//! Models of a slot: the watchdog reads what a thread runs while the thread changes it.
//!
//! The worker's number and the task's id are equal, so an activity whose halves belong to two polls
//! is found.

use raddle_primitives::model;
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_watchdog::slot::{Activity, ActivityKind, ActivitySlot};

fn poll(number: usize) -> Activity {
    Activity {
        kind: ActivityKind::Poll,
        worker: Some(number),
        id: number as u64,
        location: None,
    }
}

fn check(slot: &ActivitySlot) {
    if let Some(running) = slot.running() {
        let activity = running.activity;
        let number = activity.id as usize;
        assert_eq!(activity.worker, Some(number), "torn activity");
        assert_eq!(
            running.sequence,
            number * 2 - 1,
            "the sequence of another poll"
        );
    }
}

/// Two polls during one read. All interleavings are explored.
#[test]
fn a_reader_sees_one_poll_whole_or_none() {
    model::check(|| {
        let slot = Arc::new(ActivitySlot::of_current_thread());
        let reader_slot = Arc::clone(&slot);
        let reader = thread::spawn(move || check(&reader_slot));
        for number in 1..=2 {
            slot.start(poll(number));
            slot.finish();
        }
        reader.join().unwrap();
    });
}

/// Three polls during one read. All interleavings are explored.
#[test]
fn a_reader_that_is_slow_sees_one_poll_whole_or_none() {
    model::check(|| {
        let slot = Arc::new(ActivitySlot::of_current_thread());
        slot.start(poll(1));
        let reader_slot = Arc::clone(&slot);
        let reader = thread::spawn(move || check(&reader_slot));
        slot.finish();
        for number in 2..=3 {
            slot.start(poll(number));
            slot.finish();
        }
        reader.join().unwrap();
    });
}

/// The thread changes its activity without changing the sequence.
#[test]
#[should_panic(expected = "torn activity")]
fn canary_a_poll_that_is_rewritten_under_a_reader_is_caught() {
    model::check(|| {
        let slot = Arc::new(ActivitySlot::of_current_thread());
        slot.start(poll(1));
        let reader_slot = Arc::clone(&slot);
        let reader = thread::spawn(move || check(&reader_slot));
        slot.rewrite(poll(2));
        reader.join().unwrap();
    });
}
