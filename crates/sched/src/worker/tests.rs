use std::time::Duration;

use super::monitoring;
use super::queues::Queues;
use super::*;
use crate::home;
use crate::monitor::FIRST_LOOK;
use crate::task::Task;

/// Two workers of a pool that keep up, and have been busy for 1 ms.
fn keeping_up() -> (Arc<Shared>, [Worker; 2]) {
    let (shared, workers) = fast(true, Order::Slot);
    workers.iter().for_each(|worker| worker.core().keep_time());
    (shared, workers)
}

/// Two workers whose polls are short.
fn fast(has_monitor: bool, order: Order) -> (Arc<Shared>, [Worker; 2]) {
    let config = Config {
        workers: 2,
        has_monitor,
        ..Config::default()
    };
    let (shared, workers) = Worker::build(Id::next(), 0, config, None, order);
    for worker in &workers {
        let queues = &worker.core().queues;
        (1..=1_000).for_each(|micros| poll_until(queues, Duration::from_micros(micros)));
    }
    (shared, workers.try_into().expect("there are two"))
}

/// A poll, after which the worker has been busy for so long in all.
fn poll_until(queues: &Queues, busy: Duration) {
    queues.counters.polls.add(1);
    let polls = queues.counters.polls.get();
    queues.counters.poll_average.note(busy, polls);
}

#[test]
fn the_driver_is_left_to_a_last_poller_that_runs_and_keeps_up() {
    let (shared, [parks, poller]) = keeping_up();
    shared.set_last_poller(Some(1));
    assert!(parks.core().queues.leaves_driver_to_another());
    assert!(!poller.core().queues.leaves_driver_to_another());
    poll_until(&poller.core().queues, Duration::from_secs(1));
    assert!(!parks.core().queues.leaves_driver_to_another());
}

/// As it is while it parks, having found the driver taken, or monitors the others.
#[test]
fn the_driver_is_not_left_to_a_last_poller_that_is_marked_as_parked() {
    let (shared, [parks, poller]) = keeping_up();
    shared.set_last_poller(Some(1));
    let index = poller.core().index();
    let _ = shared.idle.transition_to_parked(index, false);
    assert!(!poller.core().queues.remote().parker.is_parked());
    assert!(!parks.core().queues.leaves_driver_to_another());
    let _ = shared.idle.transition_to_running(index);
    assert!(parks.core().queues.leaves_driver_to_another());
}

/// Whether the monitor helps a worker that keeps up and has a task in its queue, and
/// has run so many polls and parked so often since the look before; and takes
/// the driver.
fn helps(polls: u64, parks: u64) -> bool {
    let (shared, workers) = keeping_up();
    let [monitor, other] = [&workers[0].core().queues, &workers[1].core().queues];
    let (task, _handle) = home::task(&shared, async {});
    let _ = other.push_needs_notify(Task(task));
    assert!(
        !monitoring::look(monitor, &mut FIRST_LOOK.clone()),
        "nothing is known of its polls yet"
    );
    std::thread::sleep(Duration::from_millis(1));
    other.counters.polls.add(polls);
    other.counters.parks.add(parks);
    let helps = monitoring::look(monitor, &mut FIRST_LOOK.clone());
    assert_eq!(monitoring::lacking_poller(monitor).is_some(), helps);
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

#[test]
fn only_timed_workers_with_a_slot_and_a_monitor_keep_up() {
    let (_, [worker, other]) = keeping_up();
    assert!(worker.core().queues.is_keeping_up(0) && other.core().queues.is_keeping_up(0));
    let (_, [worker, _]) = fast(true, Order::Slot);
    assert!(
        !worker.core().queues.is_keeping_up(0),
        "it is stepped by the caller"
    );
    for (has_monitor, order) in [
        (false, Order::Slot),
        (true, Order::Common),
        (true, Order::Queue),
    ] {
        let (_, [worker, _]) = fast(has_monitor, order);
        worker.core().keep_time();
        assert!(!worker.core().queues.is_keeping_up(0));
    }
}

/// The task that it runs next is one of those that it is to keep up with.
#[test]
fn a_worker_keeps_up_with_as_many_tasks_as_are_done_in_time() {
    let (_, [worker, _]) = keeping_up();
    let core = &worker.core().queues;
    // Its polls take a microsecond: a hundred are done in time.
    for _ in 0..99 {
        assert!(core.is_keeping_up(0));
        push(core);
    }
    assert!(core.is_keeping_up(0));
    push(core);
    assert!(!core.is_keeping_up(0));
}

/// Whether the push of a new task needs a notification.
fn push(queues: &Queues) -> bool {
    let (task, _handle) = home::task(&queues.shared, async {});
    queues.push_needs_notify(Task(task))
}

#[test]
fn a_worker_that_keeps_up_notifies_of_events_at_its_next_push() {
    let (shared, [asleep, runs]) = keeping_up();
    let runs = &runs.core().queues;
    let _ = shared.idle.transition_to_parked(0, false);
    runs.notify_of_events();
    assert!(!runs.run_queue.is_forced(), "there is nothing to notify of");
    push(runs);
    runs.notify_of_events();
    assert!(shared.idle.is_parked(0) && runs.run_queue.is_forced());
    assert_eq!(
        stealable(&shared),
        "[1]",
        "one that searches anyhow finds it"
    );
    poll_until(runs, Duration::from_secs(1));
    runs.notify_of_events();
    assert!(!shared.idle.is_parked(0), "it is to help");
    assert!(asleep.is_unparked());
}

/// The numbers of the workers in the stealable set.
fn stealable(shared: &Shared) -> String {
    let shown = format!("{:?}", shared.stealable);
    shown
        .trim_start_matches("StealableSet(")
        .trim_end_matches(')')
        .to_owned()
}

#[test]
fn a_searcher_removes_a_worker_without_tasks_from_the_stealable_set() {
    let (shared, [searches, _]) = keeping_up();
    shared.stealable.insert(1);
    assert!(searches.core().queues.search().is_none());
    assert_eq!(stealable(&shared), "[]");
}

#[test]
fn a_searcher_that_steals_one_task_has_none_to_be_stolen() {
    let (shared, [searches, other]) = keeping_up();
    push(&other.core().queues);
    shared.stealable.insert(1);
    assert!(searches.core().queues.search().is_some());
    assert_eq!(stealable(&shared), "[1]");
}

#[test]
fn a_push_to_a_queue_that_holds_tasks_wakes_no_worker() {
    let (shared, [_asleep, runs]) = keeping_up();
    let schedule = || {
        let (task, _handle) = home::task(&shared, async {});
        runs.core().queues.schedule_new(Task(task));
    };
    let _ = shared.idle.transition_to_parked(0, false);
    schedule();
    assert!(shared.idle.is_parked(0), "the slot was empty");
    schedule();
    assert!(!shared.idle.is_parked(0), "the queue was empty");
    assert!(shared.idle.transition_to_running(0) && shared.idle.end_search(0));
    let _ = shared.idle.transition_to_parked(0, false);
    schedule();
    assert!(shared.idle.is_parked(0));
}

#[test]
fn a_push_notifies_if_the_queue_was_empty_stolen_from_or_full() {
    let (shared, [owner, stealer]) = keeping_up();
    let core = &owner.core().queues;
    assert!(push(core), "it was empty");
    assert!(!push(core) && !push(core));
    shared.stealable.insert(0);
    let stolen = stealer.core().queues.search().expect("there are three");
    assert!(push(core), "it was stolen from");
    assert!(!push(core));
    core.run_queue.force_notify();
    assert!(push(core), "it is forced");
    assert!(!push(core));
    while core.run_queue.room() > 0 {
        assert!(!push(core));
    }
    assert!(push(core), "it was full");
    drop(stolen);
}

/// A monitor and another worker, which makes no progress.
fn stuck() -> (Arc<Shared>, Vec<Worker>) {
    let config = Config {
        workers: 2,
        ..Config::default()
    };
    let (shared, workers) = Worker::build(Id::next(), 0, config, None, Order::Slot);
    // It has polled once, so that the first look does not find it stuck.
    workers[1].core().queues.counters.polls.add(1);
    assert!(!looks(&workers[0]));
    (shared, workers)
}

/// What a look of the monitor returns.
fn looks(monitor: &Worker) -> bool {
    monitoring::look(&monitor.core().queues, &mut FIRST_LOOK.clone())
}

#[test]
fn the_task_in_the_slot_of_a_stuck_worker_is_taken_and_counted() {
    let (shared, workers) = stuck();
    let (task, _handle) = home::task(&shared, async {});
    workers[1].core().queues.schedule_new(Task(task));
    let monitor = &workers[0].core().queues;
    assert!(looks(&workers[0]));
    assert_eq!(monitor.counters.steals.get(), 1);
    assert_eq!(monitor.counters.steal_operations.get(), 1);
    assert!(shared.remotes[1].slot.is_empty() && !monitor.run_queue.is_empty());
}

/// No worker has to help it, but it has to run.
#[test]
fn a_task_that_a_monitor_took_is_a_reason_to_run_though_it_keeps_up() {
    let (shared, [monitor, stuck]) = keeping_up();
    let (task, _handle) = home::task(&shared, async {});
    stuck.core().queues.schedule_new(Task(task));
    assert!(!looks(&monitor), "nothing is known of its polls yet");
    assert!(looks(&monitor));
}

#[test]
fn a_task_from_outside_is_a_reason_to_run() {
    let (shared, workers) = stuck();
    assert!(!looks(&workers[0]));
    let (task, _handle) = home::task(&shared, async {});
    shared.inject(Task(task));
    assert!(looks(&workers[0]));
}
