use std::thread;
use std::time::Duration;

use crate::config::Config;
use crate::id::Id;
use crate::policy::Order;
use crate::shared::Shared;
use crate::task::{self, Task};
use crate::worker::Worker;

/// Whether a watcher helps a trusted worker that has a task in its queue, and
/// has run so many polls and parked so often since the look before; and takes
/// the driver.
fn helps(polls: u64, parks: u64) -> bool {
    let config = Config {
        workers: 2,
        ..Config::default()
    };
    let (shared, workers) = Shared::new(Id::next(), 0, config, None, Order::Slot);
    let [watcher, other] = [workers[0].core(), workers[1].core()];
    watcher.keep_time();
    (1..=1_000).for_each(|polls| {
        other.counters.polls.add(1);
        other
            .counters
            .pace
            .note(Duration::from_micros(polls), polls);
    });
    let (task, _handle) = task::spawn(&shared, async {});
    let _ = other.push_needs_notify(Task(task));
    assert!(!watcher.keep_watch(), "nothing is known of its polls yet");
    thread::sleep(Duration::from_millis(1));
    other.counters.polls.add(polls);
    other.counters.parks.add(parks);
    let helps = watcher.keep_watch();
    assert_eq!(watcher.watches_over_stuck(), helps);
    helps
}

#[test]
fn a_worker_is_helped_whose_polls_have_become_long() {
    assert!(helps(0, 0), "it is stuck");
    assert!(helps(3, 0));
}

#[test]
fn a_worker_that_keeps_up_is_not_helped() {
    assert!(!helps(1 << 40, 0), "it is fast");
    assert!(!helps(3, 1), "it had nothing to do");
}

/// A monitor and another worker, which makes no progress.
fn stuck() -> (raddle_primitives::sync::Arc<Shared>, Vec<Worker>) {
    let config = Config {
        workers: 2,
        ..Config::default()
    };
    let (shared, workers) = Shared::new(Id::next(), 0, config, None, Order::Slot);
    // It has polled once, so that the first look does not find it stuck.
    workers[1].core().counters.polls.add(1);
    assert!(!workers[0].core().keep_watch());
    (shared, workers)
}

#[test]
fn the_task_in_the_slot_of_a_stuck_worker_is_taken_and_counted() {
    let (shared, workers) = stuck();
    let (task, _handle) = task::spawn(&shared, async {});
    workers[1].core().schedule_new(Task(task));
    let monitor = workers[0].core();
    assert!(monitor.keep_watch());
    assert_eq!(monitor.counters.steals.get(), 1);
    assert_eq!(monitor.counters.steal_operations.get(), 1);
    assert!(shared.remotes[1].slot.is_empty() && !monitor.queue.is_empty());
}

#[test]
fn a_task_from_outside_is_a_reason_to_run() {
    let (shared, workers) = stuck();
    assert!(!workers[0].core().keep_watch());
    let (task, _handle) = task::spawn(&shared, async {});
    shared.inject(Task(task));
    assert!(workers[0].core().keep_watch());
}
