use std::panic::Location;

use super::*;
use crate::events::{MonitorAction, Observer};
use raddle_primitives::sync::Arc;

use crate::config::Config;
use crate::driver::{Driver, Unpark};
use crate::pool;
use crate::spawn;
use crate::task::Task;
use crate::worker::Worker;
use crate::worker::shard::{DrivenBy, Shard};

/// A driver without events.
struct NoEvents;

impl Driver for NoEvents {
    fn park(&mut self, _: Option<Duration>, _: usize) {}

    fn unparker(&self) -> std::sync::Arc<dyn Unpark> {
        std::sync::Arc::new(Self)
    }

    fn shutdown(&mut self) {}
}

impl Unpark for NoEvents {
    fn unpark(&self) {}
}

/// Records the actions of the monitor.
#[derive(Default)]
struct Actions(raddle_primitives::sync::Mutex<Vec<(usize, usize, MonitorAction)>>);

impl Observer for Actions {
    fn monitor_acted(&self, worker: usize, stuck: usize, action: MonitorAction) {
        self.0.lock().push((worker, stuck, action));
    }
}

/// Workers that share a driver and have no alarm. Each has polled once.
fn workers(count: usize) -> (Arc<Shard>, Vec<Worker>) {
    observed_workers(count, DrivenBy::Caller, None)
}

fn observed_workers(
    count: usize,
    driven: DrivenBy,
    observer: Option<std::sync::Arc<dyn Observer>>,
) -> (Arc<Shard>, Vec<Worker>) {
    let config = Config {
        workers: count,
        has_monitor: true,
        observer,
        ..Config::default()
    };
    let driver: Box<dyn Driver> = Box::new(NoEvents);
    let (handle, workers) = pool::build(config, [driver], driven);
    for worker in &workers {
        worker.core().attach();
        worker.core().queues.counters.polls.add(1);
    }
    (handle.first_shard, workers)
}

/// Begins the park of a running worker, up to where it would block.
fn begin(worker: &Worker) -> Option<Parked> {
    Parked::begin(&worker.core().queues)
}

/// Parks the second worker as the monitor. The first runs, and no worker holds the driver.
fn monitor(workers: &[Worker]) -> Parked {
    let first = begin(&workers[0]).expect("there is nothing to do");
    let second = begin(&workers[1]).expect("there is nothing to do");
    assert!(first.driver.is_some() && second.driver.is_none());
    first.abort(&workers[0].core().queues);
    let second = second.end_wait(&workers[1].core().queues);
    let monitor = second.expect("the worker is elected as the monitor");
    assert!(monitor.driver.is_none() && monitor.is_monitor);
    monitor
}

#[test]
fn an_unparked_worker_without_work_waits_in_the_same_place_again() {
    let (shard, workers) = workers(2);
    for worker in [0, 1] {
        // The worker is unparked before it blocks, and again while it blocks.
        shard.unpark(worker);
        let parked = begin(&workers[worker]).expect("there is nothing to do");
        assert_eq!(parked.driver.is_some(), worker == 0);
        shard.unpark(worker);
        let parked = parked.end_wait(&workers[worker].core().queues);
        let parked = parked.expect("there is nothing to do");
        assert_eq!(parked.driver.is_some(), worker == 0);
        if worker == 0 {
            // Forgetting the park keeps the driver with this worker.
            std::mem::forget(parked);
        }
    }
}

/// The thread that drives the worker may itself have unparked it.
#[test]
fn the_only_worker_returns_when_it_is_unparked_without_work() {
    let (shard, workers) = workers(1);
    shard.unpark(0);
    assert!(begin(&workers[0]).is_none());
    let parked = begin(&workers[0]).expect("there is nothing to do");
    assert!(parked.end_wait(&workers[0].core().queues).is_none());
}

/// The monitor's sleeps have grown. When it goes on standby, they start again with the shortest.
#[test]
fn a_monitor_on_standby_begins_with_the_shortest_sleep_again() {
    let (_, workers) = workers(2);
    let [first, second] = [0, 1].map(|worker| &workers[worker].core().queues);
    let monitor = monitor(&workers).end_wait(second);
    let monitor = monitor.expect("the other worker makes progress");
    assert!(monitor.interval > Monitor::FIRST_INTERVAL);
    let asleep = Parked::begin(first).expect("there is nothing to do");
    let monitor = monitor.end_wait(second).expect("all are parked");
    assert!(!monitor.is_monitor && monitor.timeout.is_none());
    assert_eq!(monitor.interval, Monitor::FIRST_INTERVAL);
    asleep.abort(first);
}

/// The monitor is unparked between its check of the other workers and its wait.
#[test]
fn a_monitor_that_finds_a_worker_stuck_waits_in_the_driver() {
    let actions = std::sync::Arc::new(Actions::default());
    let (shard, workers) = observed_workers(2, DrivenBy::Caller, Some(actions.clone()));
    let queues = &workers[1].core().queues;
    let monitor = monitor(&workers).end_wait(queues);
    let mut monitor = monitor.expect("the other worker makes progress");
    assert!(monitor.driver.is_none());
    monitor.leave_wait(queues);
    shard.unpark(1);
    let monitor = monitor.begin_wait(queues);
    assert!(monitor.expect("there is nothing to do").driver.is_some());
    assert_eq!(*actions.0.lock(), [(1, 0, MonitorAction::TookDriver)]);
}

/// The monitor resigns while the only running worker is marked as parked. That worker is claimed
/// before it takes the driver, so no worker would wait there during its next poll.
#[test]
fn a_worker_that_is_claimed_before_it_takes_the_driver_has_a_monitor_elected() {
    let (shard, workers) = workers(2);
    let monitor = monitor(&workers);
    let [claimed, queues] = [0, 1].map(|worker: usize| &workers[worker].core().queues);
    assert!(mark_parked(claimed));
    let asleep = monitor.end_wait(queues).expect("there is nothing to do");
    assert!(!asleep.is_monitor && asleep.driver.is_none());
    shard.notify();
    let parked = Parked {
        driver: None,
        timeout: None,
        blocked_on: BlockedOn::Driver,
        has_cleared_alarm: false,
        is_monitor: false,
        interval: Monitor::FIRST_INTERVAL,
    };
    assert!(parked.begin_wait(claimed).is_none());
    assert!(claimed.searching.get(), "it was claimed");
    assert!(queues.peer().parker.is_notified());
    let elected = asleep.end_wait(queues).expect("there is nothing to do");
    assert!(elected.is_monitor);
}

/// Another worker may have relied on the monitor until this worker cleared the alarm.
#[test]
fn a_claimed_worker_has_a_monitor_elected_if_it_cleared_the_alarm() {
    for has_cleared_alarm in [false, true] {
        let (shard, workers) = workers(2);
        let monitor = monitor(&workers);
        let [claimed, queues] = [0, 1].map(|worker: usize| &workers[worker].core().queues);
        // Take the driver, as a third worker in the driver would.
        let _driver = shard.driver.take();
        assert!(mark_parked(claimed));
        let _on_standby = monitor.end_wait(queues).expect("there is nothing to do");
        shard.notify();
        let parked = Parked {
            driver: None,
            timeout: None,
            blocked_on: BlockedOn::Parker,
            has_cleared_alarm,
            is_monitor: false,
            interval: Monitor::FIRST_INTERVAL,
        };
        assert!(parked.begin_wait(claimed).is_none());
        assert!(claimed.searching.get(), "it was claimed");
        assert_eq!(queues.peer().parker.is_notified(), has_cleared_alarm);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_last_worker_that_parks_clears_the_alarm_and_puts_the_monitor_on_standby() {
    let (shard, workers) = observed_workers(2, DrivenBy::Pool, None);
    let _monitor = monitor(&workers);
    let alarm = shard.alarm.as_ref().expect("Linux has this timer");
    // An alarm that is set often is not cleared, so let some time pass.
    std::thread::sleep(Duration::from_millis(3));
    alarm.set(Duration::from_secs(10));
    assert!(alarm.is_worth_clearing() && !shard.idle.lacks_monitor());
    let last = begin(&workers[0]).expect("there is nothing to do");
    assert!(!alarm.is_worth_clearing() && shard.idle.lacks_monitor());
    last.abort(&workers[0].core().queues);
    assert!(!shard.idle.lacks_monitor());
}

/// A worker in the driver is the next to run, so it is not the monitor if there is another one.
#[test]
fn the_worker_that_parks_last_takes_the_role_of_the_monitor_from_the_worker_in_the_driver() {
    let (shard, workers) = workers(2);
    let queues = [0, 1].map(|worker: usize| &workers[worker].core().queues);
    let in_driver = begin(&workers[0]).expect("there is nothing to do");
    assert!(in_driver.is_monitor && in_driver.driver.is_some());
    assert!(shard.idle.was_monitor(0));
    let last = begin(&workers[1]).expect("there is nothing to do");
    assert!(
        !shard.idle.was_monitor(0) && !last.is_monitor,
        "the last one is on standby"
    );
    // An event ends the wait in the driver, and makes a task ready.
    let (task, _handle) = spawn::task(&shard, async {}, Location::caller());
    queues[0].schedule(Task(task));
    assert!(in_driver.end_wait(queues[0]).is_none());
    assert!(queues[1].peer().parker.is_notified(), "it was elected");
    assert!(!shard.idle.was_monitor(0) && shard.idle.was_monitor(1));
}

/// Events are taken up while all other workers are in polls.
#[test]
fn a_task_from_outside_wakes_the_monitor_rather_than_the_worker_in_the_driver() {
    for count in [2, 3] {
        let (shard, workers) = workers(count);
        let parked: Vec<_> = workers.iter().map(begin).collect();
        for (woken, worker) in workers.iter().enumerate().skip(1) {
            shard.notify();
            assert!(worker.is_unparked());
            let _is_claimed = shard.idle.transition_to_running(woken);
            let _is_last = shard.idle.end_search(woken);
        }
        assert!(shard.idle.is_parked(0) && shard.worker_in_driver() == Some(0));
        std::mem::forget(parked);
    }
}

/// So a task that is spawned from outside onto an idle pool wakes one worker.
#[test]
fn a_worker_claimed_while_another_is_in_the_driver_elects_a_monitor_when_it_fills_its_slot() {
    let (shard, workers) = workers(3);
    let queues = [0, 1, 2].map(|worker: usize| &workers[worker].core().queues);
    let parked = queues.map(|queues| Parked::begin(queues).expect("there is nothing to do"));
    let [in_driver, claimed, _asleep] = parked;
    // All are parked: the monitor, which waits in the driver, goes on standby.
    assert!(in_driver.is_monitor);
    let in_driver = in_driver.end_wait(queues[0]);
    let in_driver = in_driver.expect("there is nothing to do");
    assert!(in_driver.driver.is_some() && !in_driver.is_monitor);
    shard.notify();
    assert!(claimed.end_wait(queues[1]).is_none());
    assert!(shard.idle.lacks_monitor());
    assert!(!queues[0].peer().parker.is_notified());
    assert!(!queues[2].peer().parker.is_notified());
    // The worker has one elected before a task in its slot waits for its poll.
    let (task, _handle) = spawn::task(&shard, async {}, Location::caller());
    queues[1].schedule(Task(task));
    assert!(!shard.idle.lacks_monitor());
    assert!(!queues[0].peer().parker.is_notified());
    assert!(queues[2].peer().parker.is_notified());
}

/// The task in the queue of the other worker is left to the search that follows.
#[test]
fn the_monitor_reports_the_worker_that_it_helps() {
    let actions = std::sync::Arc::new(Actions::default());
    let (shard, workers) = observed_workers(2, DrivenBy::Caller, Some(actions.clone()));
    let (task, _handle) = spawn::task(&shard, async {}, Location::caller());
    let _ = workers[0].core().queues.push_needs_notify(Task(task));
    let monitor = &workers[1].core().queues;
    assert!(monitoring::check_workers(
        monitor,
        &mut Monitor::FIRST_INTERVAL.clone()
    ));
    assert_eq!(*actions.0.lock(), [(1, 0, MonitorAction::HelpedWorker)]);
}
