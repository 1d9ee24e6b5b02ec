use std::panic::Location;

use super::monitoring;
use super::queues::Queues;
use super::shard::DrivenBy;
use super::*;
use crate::config::Config;
use crate::pool;
use crate::spawn;

/// Two workers of a pool, which the caller steps.
fn two_workers() -> (Arc<Shard>, [Worker; 2]) {
    let config = Config {
        workers: 2,
        ..Config::default()
    };
    let (handle, workers) = pool::build(config, None, DrivenBy::Caller);
    (
        handle.first_shard,
        workers.try_into().expect("there are two"),
    )
}

/// Whether the push of a new task needs a notification.
fn push(queues: &Queues) -> bool {
    let (task, _handle) = spawn::task(&queues.shard, async {}, Location::caller());
    queues.push_needs_notify(Task(task))
}

#[test]
fn a_worker_notifies_of_the_events_that_it_does_not_run_next() {
    let (shard, [asleep, runs]) = two_workers();
    let runs = &runs.core().queues;
    let _ = shard.idle.transition_to_parked(0, false);
    driver::notify_of_events(runs);
    assert!(
        shard.idle.is_parked(0),
        "no event is left for another worker"
    );
    push(runs);
    driver::notify_of_events(runs);
    assert!(!shard.idle.is_parked(0) && asleep.is_unparked());
}

#[test]
fn a_worker_that_yields_its_processor_does_not_search_meanwhile() {
    let (_, [worker, other]) = two_workers();
    for worker in [&worker, &other] {
        worker.core().queues.is_free_running.set(true);
    }
    let core = worker.core();
    core.attach();
    assert!(core.queues.search().is_none() && core.queues.searching.get());
    assert!(!core.yield_before_park(), "there is no task to run");
    assert!(!core.queues.searching.get());
    // This is another worker, because the first one skips its next yield: its last yield found
    // nothing.
    let core = other.core();
    core.attach();
    push(&core.queues);
    assert!(core.yield_before_park(), "a task was pushed before");
}

#[test]
fn a_worker_that_is_stepped_parks_without_a_yield() {
    let (_, [worker, _]) = two_workers();
    let core = worker.core();
    core.attach();
    push(&core.queues);
    assert!(!core.yield_before_park());
}

#[test]
fn a_stepped_worker_that_a_thread_runs_is_free_running() {
    let (_, [worker, _]) = two_workers();
    let core = worker.core();
    let _entered = core.enter();
    assert!(!core.queues.is_free_running.get());
    let _driving = begin_driving(core);
    assert!(core.queues.is_free_running.get());
}

#[test]
fn a_worker_with_a_task_does_not_park() {
    let (_, [mut worker, _]) = two_workers();
    push(&worker.core().queues);
    assert!(worker.begin_park().is_none());
}

#[test]
fn a_worker_parks_while_another_steals_from_its_empty_queue() {
    let (shard, [owner, thief]) = two_workers();
    let queues = &owner.core().queues;
    push(queues);
    push(queues);
    let stealer = &shard.peers[0].stealer;
    let stolen = stealer.steal_into(&thief.core().queues.run_queue, |count| {
        // The owner takes the rest while the thief is in the middle of the steal.
        while queues.run_queue.pop().is_some() {}
        assert!(!queues.has_queued());
        count
    });
    drop(stolen);
}

#[test]
fn a_shutdown_that_finds_no_worker_in_the_slot_leaves_the_request() {
    let (_, [worker, _]) = two_workers();
    assert!(worker.leave(), "no thread was requested before");
    assert!(worker.take_back());
    assert!(worker.handoff_slot.take_for_shutdown().is_none());
    assert!(!worker.leave(), "a thread is requested");
    assert!(worker.take_back());
}

#[test]
fn a_pool_that_is_stepped_has_no_alarm() {
    let (shard, _workers) = two_workers();
    assert!(shard.alarm.is_none());
}

/// The indices of the workers in the stealable set, as text.
fn stealable(shard: &Shard) -> String {
    let shown = format!("{:?}", shard.stealable);
    shown
        .trim_start_matches("StealableSet(")
        .trim_end_matches(')')
        .to_owned()
}

#[test]
fn a_searcher_removes_a_worker_without_tasks_from_the_stealable_set() {
    let (shard, [searches, _]) = two_workers();
    shard.stealable.insert(1);
    assert!(searches.core().queues.search().is_none());
    assert_eq!(stealable(&shard), "[]");
}

#[test]
fn a_searcher_that_steals_one_task_has_none_to_be_stolen() {
    let (shard, [searches, other]) = two_workers();
    push(&other.core().queues);
    shard.stealable.insert(1);
    assert!(searches.core().queues.search().is_some());
    assert_eq!(stealable(&shard), "[1]");
}

#[test]
fn a_push_to_a_queue_that_holds_tasks_wakes_no_worker() {
    let (shard, [_asleep, runs]) = two_workers();
    let schedule = || {
        let (task, _handle) = spawn::task(&shard, async {}, Location::caller());
        runs.core().queues.schedule_new(Task(task));
    };
    let _ = shard.idle.transition_to_parked(0, false);
    schedule();
    assert!(shard.idle.is_parked(0), "the slot was empty");
    schedule();
    assert!(!shard.idle.is_parked(0), "the queue was empty");
    assert!(shard.idle.transition_to_running(0) && shard.idle.end_search(0));
    let _ = shard.idle.transition_to_parked(0, false);
    schedule();
    assert!(shard.idle.is_parked(0));
}

#[test]
fn a_push_notifies_if_the_queue_was_empty_stolen_from_or_full() {
    let (shard, [owner, stealer]) = two_workers();
    let core = &owner.core().queues;
    assert!(push(core), "the queue was empty");
    assert!(!push(core) && !push(core));
    shard.stealable.insert(0);
    let stolen = stealer.core().queues.search().expect("there are three");
    assert!(push(core), "a task was stolen from the queue");
    assert!(!push(core));
    core.force_notify.set(true);
    assert!(push(core), "the notification is forced");
    assert!(!push(core));
    while core.run_queue.room() > 0 {
        assert!(!push(core));
    }
    assert!(push(core), "the queue was full");
    drop(stolen);
}

/// A monitor, and a worker that makes no progress.
fn stuck() -> (Arc<Shard>, [Worker; 2]) {
    let (shard, workers) = two_workers();
    // The worker has polled once, so the monitor's first check does not find it stuck.
    workers[1].core().queues.counters.polls.add(1);
    assert!(!finds_task(&workers[0]));
    (shard, workers)
}

/// Returns whether the monitor's check of the workers finds a task to run.
fn finds_task(monitor: &Worker) -> bool {
    monitoring::check_workers(
        &monitor.core().queues,
        &mut raddle_idle::Monitor::FIRST_INTERVAL.clone(),
    )
}

#[test]
fn the_task_in_the_slot_of_a_stuck_worker_is_taken_and_counted() {
    let (shard, workers) = stuck();
    let (task, _handle) = spawn::task(&shard, async {}, Location::caller());
    workers[1].core().queues.schedule_new(Task(task));
    let monitor = &workers[0].core().queues;
    assert!(finds_task(&workers[0]));
    assert_eq!(monitor.counters.steals.get(), 1);
    assert_eq!(monitor.counters.steal_operations.get(), 1);
    assert!(shard.peers[1].slot.is_empty() && !monitor.run_queue.is_empty());
}

#[test]
fn a_task_in_the_queue_of_another_worker_is_a_reason_to_run() {
    let (shard, [monitor, other]) = two_workers();
    other.core().queues.counters.polls.add(1);
    push(&other.core().queues);
    assert!(finds_task(&monitor));
    assert_eq!(stealable(&shard), "[1]");
}

#[test]
fn a_task_from_outside_is_a_reason_to_run() {
    let (shard, workers) = stuck();
    assert!(!finds_task(&workers[0]));
    let (task, _handle) = spawn::task(&shard, async {}, Location::caller());
    shard.inject(Task(task));
    assert!(finds_task(&workers[0]));
}
