use std::panic::Location;
use std::time::Duration;

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
struct Actions(raddle_primitives::sync::Mutex<Vec<(usize, MonitorAction)>>);

impl Observer for Actions {
    fn monitor_acted(&self, stuck: usize, action: MonitorAction) {
        self.0.lock().push((stuck, action));
    }
}

/// Workers that share a driver. Each has polled once.
fn workers(count: usize) -> (Arc<Shard>, Vec<Worker>) {
    observed_workers(count, None)
}

fn observed_workers(
    count: usize,
    observer: Option<std::sync::Arc<dyn Observer>>,
) -> (Arc<Shard>, Vec<Worker>) {
    let config = Config {
        workers: count,
        has_monitor: true,
        observer,
        ..Config::default()
    };
    let driver: Box<dyn Driver> = Box::new(NoEvents);
    let (handle, workers) = pool::build(config, vec![Some(driver)], DrivenBy::Caller);
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

/// No worker is in the driver while worker 0 is in a poll, although another worker is parked.
#[test]
fn a_parked_worker_takes_the_driver_that_no_worker_waits_in() {
    let actions = std::sync::Arc::new(Actions::default());
    let (_, workers) = observed_workers(2, Some(actions.clone()));
    let [first, second] = [0, 1].map(|worker| &workers[worker].core().queues);
    let in_driver = begin(&workers[0]).expect("there is nothing to do");
    let parked = begin(&workers[1]).expect("there is nothing to do");
    assert!(in_driver.driver.is_some() && parked.driver.is_none());
    in_driver.abort(first);
    first.counters.polls.add(1);
    let monitor = workers[0].monitor();
    monitor.check(Duration::from_millis(1));
    assert!(second.peer().parker.is_parked());
    monitor.check(Duration::from_millis(3));
    assert_eq!(*actions.0.lock(), [(0, MonitorAction::TookDriver)]);
    assert!(second.peer().parker.is_notified());
    assert!(parked.end_wait(second).is_none(), "it was claimed");
    let parked = begin(&workers[1]).expect("there is nothing to do");
    assert!(parked.driver.is_some());
    monitor.check(Duration::from_millis(6));
    assert_eq!(actions.0.lock().len(), 1, "a worker waits in the driver");
    parked.abort(second);
}

/// The worker that was in the driver has left while all others were parked outside it.
#[test]
fn a_parked_worker_takes_a_driver_that_was_left_while_no_worker_ran() {
    let (shard, workers) = workers(2);
    let driver = shard.driver.take();
    let parked = [0, 1].map(|worker| begin(&workers[worker]).expect("there is nothing to do"));
    shard.return_driver(driver);
    workers[0].monitor().check(Duration::from_millis(1));
    assert!(workers.iter().any(Worker::is_unparked));
    for (parked, worker) in parked.into_iter().zip(&workers) {
        parked.abort(&worker.core().queues);
    }
}

/// Events are taken up while all other workers are in polls.
#[test]
fn a_task_from_outside_wakes_another_worker_than_the_one_in_the_driver() {
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

#[test]
fn the_worker_that_has_begun_to_wait_in_the_driver_last_is_woken_last() {
    for in_driver in [0, 1] {
        let (shard, workers) = workers(2);
        let parked = [in_driver, 1 - in_driver].map(|worker| begin(&workers[worker]));
        assert_eq!(shard.worker_in_driver(), Some(in_driver));
        shard.notify();
        assert!(shard.idle.is_parked(in_driver) && !shard.idle.is_parked(1 - in_driver));
        std::mem::forget(parked);
    }
}

/// The task in the queue of the other worker is left to the search that follows.
#[test]
fn the_monitor_reports_the_worker_that_it_helps() {
    let actions = std::sync::Arc::new(Actions::default());
    let (shard, workers) = observed_workers(2, Some(actions.clone()));
    let parked = begin(&workers[1]).expect("there is nothing to do");
    let (task, _handle) = spawn::task(&shard, async {}, Location::caller());
    let _ = workers[0].core().queues.push_needs_notify(Task(task));
    workers[0].monitor().check(Duration::ZERO);
    assert_eq!(*actions.0.lock(), [(0, MonitorAction::HelpedWorker)]);
    parked.abort(&workers[1].core().queues);
}

/// The spare worker of a pool whose only worker is in a poll that does not return.
fn spare_worker() -> (Arc<Shard>, Vec<Worker>, Worker) {
    let started = std::sync::Arc::new(raddle_primitives::sync::Mutex::new(None));
    let theirs = started.clone();
    let config = Config {
        has_monitor: true,
        handoff: Some(std::sync::Arc::new(move |handoff| {
            let former = theirs.lock().replace(handoff);
            assert!(former.is_none(), "one spare worker suffices");
        })),
        ..Config::default()
    };
    let driver: Box<dyn Driver> = Box::new(NoEvents);
    let (handle, workers) = pool::build(config, vec![Some(driver)], DrivenBy::Caller);
    let monitor = workers[0].monitor();
    for ms in 0..10 {
        monitor.check(Duration::from_millis(ms));
    }
    assert_eq!(handle.first_shard.spares.attendant(), None);
    let handoff = started
        .lock()
        .take()
        .expect("a spare worker waits in the driver");
    let spare = handoff.into_worker().expect("it was not driven");
    spare.core().attach();
    workers[0].core().attach();
    // No worker was in the driver before.
    let _ = handle.first_shard.spares.get(0).take_call();
    (handle.first_shard, workers, spare)
}

#[test]
fn a_spare_worker_is_not_in_the_idle_set() {
    let (shard, _workers, mut spare) = spare_worker();
    assert_eq!(spare.core().queues.number(), 1);
    let wait = spare.begin_park().expect("there is nothing to do");
    assert!(wait.in_driver);
    assert!(!shard.idle.is_any_parked());
    assert!(!shard.notify(), "no push claims it");
}

#[test]
fn a_spare_worker_stops_parking_when_it_is_called_or_asked_to_leave() {
    let (shard, _workers, spare) = spare_worker();
    let queues = &spare.core().queues;
    let parked = begin(&spare).expect("there is nothing to do");
    let parked = parked.end_wait(queues).expect("there is nothing to do");
    shard.call_spare(0);
    assert!(parked.end_wait(queues).is_none());
    assert!(begin(&spare).is_none(), "the call is not used up");
    assert!(shard.spares.get(0).take_call());
    let parked = begin(&spare).expect("there is nothing to do");
    shard.spares.get(0).ask_to_leave();
    assert!(parked.end_wait(queues).is_none());
    assert!(begin(&spare).is_none());
}

/// A worker that is parked serves the events too. When it leaves the driver to run what these have
/// woken, the attendant waits there in its place.
#[test]
fn a_worker_that_leaves_the_driver_has_the_attendant_wait_there() {
    let (shard, workers, spare) = spare_worker();
    let (queues, attendant) = (&workers[0].core().queues, &spare.core().queues);
    assert_eq!(shard.spares.attendant(), Some(0));
    let in_driver = begin(&workers[0]).expect("there is nothing to do");
    assert!(in_driver.driver.is_some());
    let outside = begin(&spare).expect("there is nothing to do");
    assert!(outside.driver.is_none());
    assert!(!attendant.peer().parker.is_notified());
    in_driver.abort(queues);
    assert!(attendant.peer().parker.is_notified());
    let attends = outside.end_wait(attendant).expect("it stays parked");
    assert!(attends.driver.is_some());
}

#[test]
fn the_attendant_polls_the_driver_in_place_of_the_workers() {
    let (shard, workers, spare) = spare_worker();
    let may_poll = || [&workers[0], &spare].map(|it| it.core().queues.may_poll_driver());
    assert_eq!(may_poll(), [false, true]);
    shard.spares.set_attendant(None);
    assert_eq!(may_poll(), [true, false]);
}

#[test]
fn a_spare_worker_that_is_dropped_is_the_attendant_no_more_and_wakes_a_worker() {
    let (shard, workers, spare) = spare_worker();
    assert_eq!(
        (shard.spares.attendant(), shard.spares.active()),
        (Some(0), 1)
    );
    let in_driver = begin(&spare).expect("there is nothing to do");
    let parked = begin(&workers[0]).expect("there is nothing to do");
    assert!(parked.driver.is_none());
    in_driver.abort(&spare.core().queues);
    drop(spare);
    assert_eq!((shard.spares.attendant(), shard.spares.active()), (None, 0));
    let queues = &workers[0].core().queues;
    assert!(queues.peer().parker.is_notified());
}
