//! Which workers are woken, and how many, on workers that the test drives itself.

use std::time::Duration;

use crate::common::driver::Events;
use crate::common::{SHARING, Signal, config_of};
use raddle_primitives::sync::Arc;
use raddle_sched::{Handle, Policy, Pool, Step, Worker};

const WORKERS: usize = 4;

/// One worker waits in the driver, the others sleep.
struct SleepingPool {
    handle: Handle,
    events: Arc<Events>,
    workers: Vec<Worker>,
    in_driver: usize,
}

impl SleepingPool {
    /// Parks `in_driver` so that it would be the first of the idle workers to be woken.
    fn new(policy: Policy, in_driver: usize) -> Self {
        let events = Events::new();
        let driver = Events::driver(&events);
        let (handle, mut workers) = Pool::stepped(config_of(policy, WORKERS), Some(driver));
        for offset in 0..WORKERS {
            let wait = workers[(in_driver + offset) % WORKERS]
                .begin_park()
                .unwrap();
            assert_eq!(wait.in_driver, offset == 0);
        }
        assert_eq!(workers[in_driver].step(), Step::Idle);
        assert!(workers[in_driver].begin_park().unwrap().in_driver);
        let pool = Self {
            handle,
            events,
            workers,
            in_driver,
        };
        assert_eq!(pool.woken(), [], "the worker in the driver is back there");
        pool
    }

    /// The unparked workers. The worker in the driver must be unparked through the driver.
    fn woken(&self) -> Vec<usize> {
        let of_driver = self.events.with(|state| state.unparked);
        (0..self.workers.len())
            .filter(|&worker| self.workers[worker].is_unparked())
            .inspect(|&worker| assert!(worker != self.in_driver || of_driver))
            .collect()
    }

    /// Returns the one worker that was unparked, and checks that there is exactly one.
    fn only_woken(&self) -> usize {
        let woken = self.woken();
        assert_eq!(woken.len(), 1, "{woken:?} were woken");
        woken[0]
    }

    /// Lets a woken worker run tasks until it parks, and returns how many it ran.
    fn run(&mut self, worker: usize) -> usize {
        let worker = &mut self.workers[worker];
        assert!(worker.resume_park().is_none());
        let mut ran = 0;
        while worker.begin_park().is_none() {
            while worker.step() == Step::Ran {
                ran += 1;
            }
        }
        ran
    }
}

#[test]
fn one_spawn_from_outside_wakes_one_worker_that_is_not_in_the_driver() {
    for policy in SHARING {
        for in_driver in 0..WORKERS {
            let mut pool = SleepingPool::new(policy, in_driver);
            for _ in 0..10 {
                assert_eq!(pool.woken(), []);
                let task = pool.handle.spawn(async {});
                let woken = pool.only_woken();
                assert_ne!(woken, in_driver);
                // The woken worker wakes no other worker, since there are no more tasks.
                assert_eq!(pool.run(woken), 1);
                assert!(task.is_finished());
            }
            assert_eq!(pool.events.with(|state| state.parks), 0);
        }
    }
}

/// tokio 8065, 8120: a task that enters the empty slot of a worker wakes no other worker, however
/// often this happens.
#[test]
fn a_request_and_its_response_wake_no_other_worker() {
    const ROUNDS: usize = 1000;
    let mut pool = SleepingPool::new(Policy::WorkStealing, 0);
    let handle = pool.handle.clone();
    let _entered = handle.enter();
    let (ping, pong) = (Signal::default(), Signal::default());
    let (client, server) = ((ping.clone(), pong.clone()), (ping, pong));
    let client = pool.handle.spawn(async move {
        raddle_sched::spawn(async move {
            for _ in 0..ROUNDS {
                server.0.clone().await;
                server.1.set();
            }
        });
        for _ in 0..ROUNDS {
            client.0.set();
            client.1.clone().await;
        }
    });
    let runs = pool.only_woken();
    assert!(pool.workers[runs].resume_park().is_none());
    let mut steps = 0;
    while !client.is_finished() {
        assert_eq!(pool.workers[runs].step(), Step::Ran);
        steps += 1;
        assert_eq!(pool.woken(), [], "in step {steps}");
    }
    assert!(steps > ROUNDS, "the tasks completed in {steps} steps");
}

/// A task that yields runs next if there is no other, so a worker that was woken for it would not
/// find it. A task that it spawns does wake a worker.
#[test]
fn a_task_that_yields_alone_wakes_no_worker() {
    const ROUNDS: usize = 1000;
    let mut pool = SleepingPool::new(Policy::WorkStealing, 0);
    let handle = pool.handle.clone();
    let _entered = handle.enter();
    let task = pool.handle.spawn(async {
        for _ in 0..ROUNDS {
            raddle_sched::yield_now().await;
        }
        // The slot has room for only one of them.
        drop((raddle_sched::spawn(async {}), raddle_sched::spawn(async {})));
        raddle_sched::yield_now().await;
    });
    let runs = pool.only_woken();
    assert!(pool.workers[runs].resume_park().is_none());
    for _ in 0..ROUNDS {
        assert_eq!(pool.workers[runs].step(), Step::Ran);
        assert_eq!(pool.woken(), []);
    }
    assert_eq!(pool.workers[runs].step(), Step::Ran);
    let woken = pool.only_woken();
    assert!(
        pool.workers[woken].resume_park().is_none(),
        "the woken worker is not searching"
    );
    assert!(!task.is_finished());
}

/// The monitor never sees such a worker parked, and would check an idle scheduler forever.
#[test]
fn a_worker_that_has_left_does_not_keep_the_monitor_awake() {
    for policy in SHARING {
        let mut pool = SleepingPool::new(policy, 0);
        let monitor = pool.workers[0].monitor();
        drop(pool.workers.pop());
        // The worker had another woken in its place.
        let woken = pool.only_woken();
        assert_eq!(pool.run(woken), 0);
        assert_eq!(pool.woken(), []);
        let checks: Vec<_> = (0..10)
            .map(|n| monitor.check(Duration::from_millis(10 * n)).is_active)
            .collect();
        assert_eq!(checks[1..], [false; 9], "{policy:?}");
    }
}

/// Otherwise the task would wait if the poll does not return.
#[test]
fn a_task_in_the_slot_of_a_stuck_worker_wakes_a_worker_when_the_monitor_checks() {
    for is_woken in [false, true] {
        let mut pool = SleepingPool::new(Policy::WorkStealing, 0);
        let signal = Signal::default();
        drop(pool.handle.spawn(signal.clone()));
        let first = pool.only_woken();
        assert_eq!(pool.run(first), 1);
        let handle = pool.handle.clone();
        let _entered = handle.enter();
        drop(handle.spawn(async move {
            match is_woken {
                true => signal.set(),
                false => drop(raddle_sched::spawn(async {})),
            }
        }));
        let runs = pool.only_woken();
        assert!(pool.workers[runs].resume_park().is_none());
        assert_eq!(pool.workers[runs].step(), Step::Ran);
        let monitor = pool.workers[runs].monitor();
        monitor.check(Duration::from_millis(1));
        assert_eq!(pool.woken(), []);
        monitor.check(Duration::from_millis(4));
        let woken = pool.only_woken();
        assert!(pool.workers[woken].resume_park().is_none());
        assert_eq!(pool.workers[woken].step(), Step::Ran);
    }
}

/// A worker that leaves the driver wakes another one if the events have made more tasks ready than
/// the one that it runs next.
#[test]
fn events_wake_a_helper_if_they_make_more_than_one_task_ready() {
    for (policy, tasks) in [1, 2]
        .into_iter()
        .flat_map(|n| SHARING.map(|policy| (policy, n)))
    {
        let mut pool = SleepingPool::new(policy, 0);
        let signals: Vec<_> = (0..tasks).map(|_| Signal::default()).collect();
        for signal in &signals {
            drop(pool.handle.spawn(signal.clone()));
            let woken = pool.only_woken();
            assert_eq!(pool.run(woken), 1);
        }
        pool.events.raise(signals.iter().filter_map(Signal::waker));
        assert!(pool.workers[0].resume_park().is_none());
        let woken = pool.woken();
        assert_eq!(woken.len(), tasks - 1, "{policy:?}");
        for helper in woken {
            // The slot keeps the other task.
            let expected = match policy {
                Policy::Shared => tasks,
                _ => 1,
            };
            assert_eq!(pool.run(helper), expected, "{policy:?}");
        }
    }
}

#[test]
fn at_most_half_of_the_workers_search() {
    for policy in SHARING {
        let (handle, mut workers) = Pool::stepped(config_of(policy, WORKERS), None);
        for worker in &mut workers {
            assert_eq!(worker.step(), Step::Idle);
        }
        let shown = format!("{handle:?}");
        assert!(shown.contains("searching: 2, parked: 0"), "{shown}");
    }
}
