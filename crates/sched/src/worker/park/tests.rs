use super::*;
use crate::config::Config;
use crate::id::Id;
use crate::shared::Shared;
use crate::task::{self, Task};
use crate::worker::Worker;

/// Two workers of a pool that trust each other. The second was in the driver last.
fn trusted() -> [Worker; 2] {
    let workers = fast(true, Order::Slot);
    workers.iter().for_each(|worker| worker.core().keep_time());
    workers
}

/// Two workers whose polls are short.
fn fast(keeps_watch: bool, order: Order) -> [Worker; 2] {
    let config = Config {
        workers: 2,
        keeps_watch,
        ..Config::default()
    };
    let (shared, workers) = Shared::new(Id::next(), 0, config, None, order);
    for worker in &workers {
        let core = worker.core();
        (1..=1_000).for_each(|micros| poll_until(core, Duration::from_micros(micros)));
    }
    shared.set_host(Some(1));
    workers.try_into().expect("there are two")
}

/// A poll, after which the worker has been busy for so long in all.
fn poll_until(core: &Core, busy: Duration) {
    core.counters.polls.add(1);
    core.counters.pace.note(busy, core.counters.polls.get());
}

#[test]
fn the_driver_is_left_to_a_host_that_runs_and_is_trusted() {
    let [parks, host] = trusted();
    assert!(parks.core().leaves_driver_to_another());
    assert!(!host.core().leaves_driver_to_another());
    poll_until(host.core(), Duration::from_secs(1));
    assert!(!parks.core().leaves_driver_to_another());
}

/// As it is while it parks, having found the driver taken, or looks after the others.
#[test]
fn the_driver_is_not_left_to_a_host_that_is_listed_but_awake() {
    let [parks, host] = trusted();
    let index = host.core().index;
    let _ = host.core().shared.idle.transition_to_parked(index, false);
    assert!(!host.core().remote().parker.is_parked());
    assert!(!parks.core().leaves_driver_to_another());
    let _ = host.core().shared.idle.transition_to_running(index);
    assert!(parks.core().leaves_driver_to_another());
}

#[test]
fn only_timed_workers_with_a_slot_and_a_monitor_are_trusted() {
    let [worker, other] = trusted();
    assert!(worker.core().trusts(0) && other.core().trusts(0));
    let [worker, _] = fast(true, Order::Slot);
    assert!(!worker.core().trusts(0), "it is stepped by the caller");
    for (keeps_watch, order) in [
        (false, Order::Slot),
        (true, Order::Common),
        (true, Order::Queue),
    ] {
        let [worker, _] = fast(keeps_watch, order);
        worker.core().keep_time();
        assert!(!worker.core().trusts(0));
    }
}

/// The task that it runs next is one of those that it is to keep up with.
#[test]
fn a_worker_is_trusted_with_as_many_tasks_as_are_done_in_time() {
    let [worker, _] = trusted();
    let core = worker.core();
    // Its polls take a microsecond: a hundred are done in time.
    for _ in 0..99 {
        assert!(core.trusts(0));
        push(core);
    }
    assert!(core.trusts(0));
    push(core);
    assert!(!core.trusts(0));
}

/// Whether the push of a new task needs a notification.
fn push(core: &Core) -> bool {
    let (task, _handle) = task::spawn(core.shared_arc(), async {});
    core.push_needs_notify(Task(task))
}

#[test]
fn a_worker_that_keeps_up_notifies_of_events_at_its_next_push() {
    let [asleep, runs] = trusted();
    let runs = runs.core();
    let shared = runs.shared();
    let _ = shared.idle.transition_to_parked(0, false);
    runs.notify_of_events();
    assert!(!runs.force_notify.get(), "there is nothing to notify of");
    push(runs);
    runs.notify_of_events();
    assert!(shared.idle.is_parked(0) && runs.force_notify.get());
    poll_until(runs, Duration::from_secs(1));
    runs.notify_of_events();
    assert!(!shared.idle.is_parked(0), "it is to help");
    assert!(asleep.is_unparked());
}

#[test]
fn a_push_notifies_if_the_queue_was_empty_stolen_from_or_full() {
    let [owner, stealer] = trusted();
    let core = owner.core();
    assert!(push(core), "it was empty");
    assert!(!push(core) && !push(core));
    core.shared().stealable.insert(0);
    let stolen = stealer.core().search().expect("there are three");
    assert!(push(core), "it was stolen from");
    assert!(!push(core));
    core.force_notify.set(true);
    assert!(push(core), "it is forced");
    assert!(!push(core));
    while core.queue.room() > 0 {
        assert!(!push(core));
    }
    assert!(push(core), "it was full");
    drop(stolen);
}
