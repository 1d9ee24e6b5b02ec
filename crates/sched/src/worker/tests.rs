use std::panic::Location;

use super::queues::Queues;
use super::shard::DrivenBy;
use super::*;
use crate::config::Config;
use crate::config::policy::Policy;
use crate::pool;
use crate::spawn;
use raddle_primitives::sync::Mutex;

/// Two workers of a pool, which the caller steps.
fn two_workers() -> (Arc<Shard>, [Worker; 2]) {
    let config = Config {
        workers: 2,
        ..Config::default()
    };
    let (handle, workers) = pool::build(config, Vec::new(), DrivenBy::Caller);
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

/// Two tasks that the driver wakes while another one waits.
#[test]
fn tasks_that_the_driver_wakes_go_behind_others_or_next() {
    for (order, is_in_slot) in [(EventOrder::Behind, false), (EventOrder::Next, true)] {
        let (shard, [worker, _]) = two_workers();
        let queues = &worker.core().queues;
        push(queues);
        queues.in_driver.set(Some(order));
        for _ in 0..2 {
            let (task, _handle) = spawn::task(&shard, async {}, Location::caller());
            queues.schedule(Task(task));
        }
        queues.in_driver.set(None);
        assert_eq!(queues.has_next(), is_in_slot);
        assert_eq!(queues.queued_len(), 3 - usize::from(is_in_slot));
    }
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

/// Worker 1 is parked, and worker 0 is in a poll that does not return: the first check finds it
/// running, and it begins no poll until the next.
fn stuck() -> (Arc<Shard>, [Worker; 2]) {
    let (shard, mut workers) = two_workers();
    assert!(workers[1].begin_park().is_some());
    check(&workers[0], 0);
    (shard, workers)
}

fn check(worker: &Worker, ms: u64) {
    worker.monitor().check(Duration::from_millis(ms));
}

fn task(shard: &Arc<Shard>) -> Task {
    let (task, _handle) = spawn::task(shard, async {}, Location::caller());
    Task(task)
}

#[test]
fn the_task_in_the_slot_of_a_stuck_worker_goes_to_a_parked_worker() {
    let (shard, mut workers) = stuck();
    workers[0].core().queues.schedule_new(task(&shard));
    assert!(!workers[1].is_unparked());
    check(&workers[0], 3);
    assert!(workers[1].is_unparked());
    assert_eq!(workers[1].resume_park(), None);
    assert_eq!(workers[1].step(), Step::Ran);
    assert!(shard.peers[0].slot.is_empty());
    let counters = &workers[1].core().queues.counters;
    assert_eq!(counters.steals.get(), 1);
    assert_eq!(counters.steal_operations.get(), 1);
}

#[test]
fn the_task_in_the_slot_of_a_worker_that_makes_progress_stays_there() {
    let (shard, mut workers) = stuck();
    let queues = &workers[0].core().queues;
    queues.schedule_new(task(&shard));
    queues.counters.polls.add(1);
    check(&workers[0], 3);
    assert!(!workers[1].is_unparked());
    shard.stealable.insert(0);
    assert_eq!(workers[1].step(), Step::Idle);
    assert!(!shard.peers[0].slot.is_empty());
}

#[test]
fn a_task_in_the_queue_of_another_worker_wakes_a_parked_worker() {
    let (shard, [other, parked]) = stuck();
    let queues = &other.core().queues;
    queues.counters.polls.add(1);
    // The push needs a notification, but notifies no worker.
    let _ = queues.push_needs_notify(task(&shard));
    assert!(!parked.is_unparked());
    check(&other, 3);
    assert_eq!(stealable(&shard), "[0]");
    assert!(parked.is_unparked());
}

#[test]
fn a_task_from_outside_of_which_no_worker_knows_wakes_a_parked_worker() {
    let (shard, [stuck, parked]) = stuck();
    check(&stuck, 3);
    assert!(!parked.is_unparked());
    shard.push_back(task(&shard));
    assert!(!parked.is_unparked());
    check(&stuck, 6);
    assert!(parked.is_unparked());
}

#[test]
fn a_check_without_work_wakes_no_worker() {
    let (_, [stuck, parked]) = stuck();
    for ms in 1..30 {
        check(&stuck, ms);
        assert!(!parked.is_unparked());
    }
}

#[test]
fn the_monitor_checks_less_often_while_all_workers_are_parked() {
    let (shard, mut workers) = two_workers();
    let monitor = workers[0].monitor();
    let mut now = Duration::ZERO;
    let mut check = || {
        now += Duration::from_millis(1);
        monitor.check(now)
    };
    let running = check();
    assert!(running.is_active);
    for worker in &mut workers {
        assert!(worker.begin_park().is_some());
    }
    let parked = check();
    assert!(!parked.is_active && parked.next > running.next);
    // A worker has run and is parked again.
    shard.inject(task(&shard));
    assert_eq!(workers[0].step(), Step::Ran);
    assert_eq!(workers[0].step(), Step::Idle);
    assert!(workers[0].begin_park().is_some());
    assert!(check().is_active);
    assert!(!check().is_active);
}

/// The only worker of a pool shares its queue while a spare worker is active.
#[test]
fn the_only_worker_takes_exclusively_again_when_the_spare_worker_has_left() {
    let handoffs = Arc::new(Mutex::new(Vec::new()));
    let theirs = handoffs.clone();
    let config = Config {
        handoff: Some(std::sync::Arc::new(move |handoff| {
            theirs.lock().push(handoff);
        })),
        ..Config::default()
    };
    let (handle, workers) = pool::build(config, Vec::new(), DrivenBy::Pool);
    let shard = &handle.first_shard;
    let Some(sharing) = &shard.sharing else {
        // The system has no barrier.
        return;
    };
    assert!(sharing.end_poll());
    let queues = &workers[0].core().queues;
    push(queues);
    queues.counters.polls.add(1);
    for ms in [0, 6] {
        check(&workers[0], ms);
    }
    assert!(!sharing.end_poll());
    let handoff = handoffs.lock().pop().expect("a spare worker is started");
    check(&workers[0], 9);
    assert!(!sharing.end_poll(), "the spare worker is active");
    drop(handoff);
    queues.counters.polls.add(1);
    check(&workers[0], 12);
    assert!(sharing.end_poll());
}

#[test]
fn a_pool_of_one_worker_without_spare_ones_and_one_that_may_not_share_have_no_monitor() {
    let has_monitor = |config| {
        let (handle, _workers) = pool::build(config, Vec::new(), DrivenBy::Caller);
        handle.first_shard.monitor.is_some()
    };
    let handoff: crate::StartHandoff = std::sync::Arc::new(drop);
    let with = |workers, policy, handoff: Option<&crate::StartHandoff>| Config {
        workers,
        policy,
        handoff: handoff.cloned(),
        ..Config::default()
    };
    for policy in [Policy::WorkStealing, Policy::Shared] {
        assert!(!has_monitor(with(1, policy, None)));
        assert!(has_monitor(with(2, policy, None)));
        assert!(has_monitor(with(1, policy, Some(&handoff))));
        assert!(!has_monitor(Config {
            max_spare_workers: 0,
            ..with(1, policy, Some(&handoff))
        }));
        assert!(!has_monitor(Config {
            has_monitor: false,
            ..with(2, policy, Some(&handoff))
        }));
    }
    assert!(!has_monitor(with(2, Policy::Sharded, Some(&handoff))));
}
