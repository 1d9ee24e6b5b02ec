//! Models of a slot: the watchdog reads what a thread runs while the thread changes it.
//!
//! The worker's number and the task's id are equal, so an activity whose halves belong to two polls
//! is found.

use raddle_primitives::model;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
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

/// A mark that comes before the end gets the time of the end; no other poll gets one.
#[test]
fn a_marked_poll_leaves_its_end_before_it_is_seen_to_have_ended() {
    model::check(|| {
        let slot = Arc::new(ActivitySlot::of_current_thread());
        slot.start(poll(1));
        let thread_slot = Arc::clone(&slot);
        let is_marked = Arc::new(AtomicBool::new(false));
        let sees_mark = Arc::clone(&is_marked);
        let thread = thread::spawn(move || {
            // ORDERING: acquires the mark, if it is seen.
            let is_marked = sees_mark.load(Ordering::Acquire);
            thread_slot.finish();
            thread_slot.start(poll(2));
            thread_slot.finish();
            is_marked
        });
        slot.mark(1);
        // ORDERING: releases the mark.
        is_marked.store(true, Ordering::Release);
        let has_ended = slot.running().is_some_and(|running| running.sequence != 1);
        let end_at_once = slot.end_of(1);
        let was_marked = thread.join().unwrap();
        if was_marked {
            assert!(slot.end_of(1).is_some(), "the mark was before the end");
        }
        if has_ended && slot.end_of(1).is_some() {
            assert!(
                end_at_once.is_some(),
                "the end was recorded after it was seen"
            );
        }
        assert_eq!(slot.end_of(3), None, "the second poll was not marked");
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
