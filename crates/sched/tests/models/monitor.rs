//! Models of the monitor and of spare workers, against workers whose polls return at the same
//! moment. The model does what the thread of the monitor does, at times of its choice.
//!
//! The counts by which the monitor finds a worker stuck are not part of the model, which therefore
//! sees no reason to run the monitor first. `Order` makes it explore both orders.

#[allow(dead_code, reason = "the crate uses more of it")]
#[path = "../../src/monitor/sleep.rs"]
mod sleep;

use std::future::pending;
use std::time::Duration;

use crate::common::driver::Events;
use crate::common::handoff::Handoffs;
use crate::gate::{Counted, Gate};
use crate::idle::source::IdleSet;
use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread::{self, JoinHandle};
use raddle_sched::{Config, Handle, Handoff, Monitor, Pool, Step, Worker, spawn};
use sleep::SleepState;

fn check(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let model = Model::new().preemptions(preemptions).branches(20_000);
    model.check(body);
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A point after which the model switches threads.
#[derive(Clone, Default)]
struct Order(Arc<AtomicUsize>);

impl Order {
    fn pass(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Has the monitor check the workers on another thread.
fn monitor_checks(monitor: &Monitor, at: Duration, order: &Order) -> JoinHandle<()> {
    let (monitor, order) = (monitor.clone(), order.clone());
    thread::spawn(move || {
        order.pass();
        monitor.check(at);
    })
}

/// Counts runs of a task.
#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);

impl Runs {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// How a worker that is parked begins to run.
#[derive(Clone, Copy)]
enum Begins {
    ByItself,
    Claimed,
    Cancels,
}

/// The monitor goes to sleep while a worker begins to run.
fn sleep_against_worker(worker: usize, begins: Begins) {
    Model::new().check(move || {
        let idle = Arc::new(IdleSet::new(3));
        let sleep = Arc::new(SleepState::asleep());
        sleep.wake();
        for other in (0..3).filter(|other| *other != worker) {
            let _ = idle.transition_to_parked(other, false);
        }
        if !matches!(begins, Begins::Cancels) {
            let _ = idle.transition_to_parked(worker, false);
        }
        let monitor = {
            let (idle, sleep) = (idle.clone(), sleep.clone());
            thread::spawn(move || sleep.try_sleep(|| idle.is_any_running()))
        };
        match begins {
            Begins::ByItself => assert!(!idle.transition_to_running(worker)),
            Begins::Claimed => {
                assert_eq!(idle.claim_to_wake(|| None), Some(0));
                // Another thread runs the worker. The spawn publishes the claim as an unpark does.
                let idle = idle.clone();
                let worker = thread::spawn(move || assert!(idle.transition_to_running(0)));
                worker.join().unwrap();
            }
            Begins::Cancels => {
                let _ = idle.transition_to_parked(worker, false);
                idle.cancel_parking(worker);
            }
        }
        let wakes = sleep.is_asleep();
        let sleeps = monitor.join().unwrap();
        assert!(!sleeps || wakes, "the monitor sleeps while a worker runs");
        assert_eq!(sleep.is_asleep(), sleeps);
    });
}

#[test]
fn the_monitor_does_not_sleep_while_a_worker_returns_by_itself() {
    for worker in [0, 2] {
        sleep_against_worker(worker, Begins::ByItself);
    }
}

#[test]
fn the_monitor_does_not_sleep_while_a_claimed_worker_begins_to_run() {
    sleep_against_worker(0, Begins::Claimed);
}

#[test]
fn the_monitor_does_not_sleep_while_a_worker_cancels_its_parking() {
    for worker in [0, 2] {
        sleep_against_worker(worker, Begins::Cancels);
    }
}

/// The worker clears its mark and passes no fence before it reads whether the monitor sleeps.
#[test]
#[should_panic(expected = "the monitor sleeps while a worker runs")]
fn canary_without_the_fence_of_the_worker_the_monitor_sleeps() {
    Model::new().check(|| {
        let is_running = Arc::new(AtomicBool::new(false));
        let sleep = Arc::new(SleepState::asleep());
        sleep.wake();
        let order = Arc::new(AtomicUsize::new(0));
        let monitor = {
            let (is_running, sleep, order) = (is_running.clone(), sleep.clone(), order.clone());
            thread::spawn(move || {
                order.fetch_add(1, Ordering::Acquire);
                sleep.try_sleep(|| is_running.load(Ordering::Relaxed))
            })
        };
        is_running.store(true, Ordering::Relaxed);
        let wakes = sleep.is_asleep();
        // In a single execution the worker is done before the monitor begins.
        order.fetch_add(1, Ordering::Release);
        let sleeps = monitor.join().unwrap();
        assert!(!sleeps || wakes, "the monitor sleeps while a worker runs");
    });
}

/// The monitor checks a worker with a task in its slot whose last poll returns: it runs the task
/// itself and parks, or the monitor takes the task and another worker runs it.
#[test]
fn a_check_against_a_worker_whose_last_poll_returns() {
    check(3, || {
        let config = Config {
            workers: 2,
            has_monitor: true,
            ..Config::default()
        };
        let (handle, workers) = Pool::stepped(config, None);
        let [mut returns, mut parked]: [_; 2] = workers.try_into().expect("two workers");
        let runs = Runs::default();
        let (spawner, theirs) = (handle.clone(), runs.clone());
        drop(handle.spawn(async move {
            drop(spawner.spawn(async move { theirs.add() }));
        }));
        assert_eq!(returns.step(), Step::Ran);
        assert!(parked.begin_park().is_some());
        let monitor = returns.monitor();
        monitor.check(ms(0));
        let order = Order::default();
        let checks = monitor_checks(&monitor, ms(3), &order);
        order.pass();
        while returns.step() == Step::Ran {}
        let is_parked = returns.begin_park().is_some();
        checks.join().unwrap();
        for worker in [(&mut returns, is_parked), (&mut parked, true)] {
            let (worker, is_parked) = worker;
            if !is_parked || worker.is_unparked() {
                assert!(!is_parked || worker.resume_park().is_none());
                while worker.step() == Step::Ran {}
            }
        }
        assert_eq!(runs.count(), 1, "the task waits for a worker");
        drop((returns, parked));
    });
}

/// The handoffs of spare workers, which the model steps.
#[derive(Clone, Default)]
struct Handed(std::sync::Arc<Mutex<Vec<Handoff>>>);

impl Handed {
    fn config(&self) -> Config {
        let theirs = self.clone();
        Config {
            handoff: Some(std::sync::Arc::new(move |handoff| {
                theirs.0.lock().push(handoff);
            })),
            ..Config::default()
        }
    }

    fn take(&self) -> Option<Worker> {
        let handoff = self.0.lock().pop();
        handoff.and_then(Handoff::into_worker)
    }
}

/// A stepped worker and a spare one.
struct Stepped {
    handle: Handle,
    worker: Worker,
    monitor: Monitor,
    handed: Handed,
}

impl Stepped {
    fn new(events: Option<&Arc<Events>>) -> Self {
        let handed = Handed::default();
        let config = Config {
            has_monitor: true,
            max_spare_workers: 1,
            ..handed.config()
        };
        let (handle, mut workers) = Pool::stepped(config, events.map(Events::driver));
        let worker = workers.pop().expect("one worker");
        Self {
            monitor: worker.monitor(),
            handle,
            worker,
            handed,
        }
    }

    /// Queues tasks that do nothing, each of which the worker runs in a step.
    fn spawn_steps(&self, count: usize) {
        for _ in 0..count {
            drop(self.handle.spawn(async {}));
        }
    }

    /// Has the monitor find the worker stuck, 6 ms after the start, and returns the spare worker
    /// that it starts.
    fn start_spare(&self) -> Worker {
        for at in [0, 3, 6] {
            self.monitor.check(ms(at));
        }
        self.handed.take().expect("a spare worker serves")
    }

    /// Has the spare worker serve in the driver, and the worker make progress. The worker has
    /// `steps` steps left.
    fn with_spare_in_driver(steps: usize) -> (Self, Worker) {
        let mut this = Self::new(Some(&Events::new()));
        this.spawn_steps(2 + steps);
        assert_eq!(this.worker.step(), Step::Ran);
        let mut spare = this.start_spare();
        assert!(spare.begin_park().is_some_and(|wait| wait.in_driver));
        assert_eq!(this.worker.step(), Step::Ran);
        this.monitor.check(ms(9));
        (this, spare)
    }

    /// Checks that spare workers run what waits, with the help of the monitor, while the worker
    /// does not return.
    fn serve(&mut self, spare: Option<Worker>, mut is_done: impl FnMut() -> bool) {
        let mut serving = spare.map(|spare| (spare, true));
        for check in 1..=6 {
            if is_done() {
                break;
            }
            self.monitor.check(ms(100 + 30 * check));
            let handed = self.handed.take().map(|spare| (spare, false));
            serving = handed.or(serving).and_then(|(mut spare, is_parked)| {
                if is_parked && spare.resume_park().is_some() {
                    return Some((spare, true));
                }
                drive(&mut spare).then_some((spare, true))
            });
        }
        assert!(is_done(), "a task has no worker");
    }
}

/// Steps a worker that is not parked until it parks. Returns false if it leaves instead.
fn drive(worker: &mut Worker) -> bool {
    loop {
        match worker.step() {
            Step::Ran => {}
            Step::Idle if worker.begin_park().is_some() => return true,
            Step::Idle => {}
            Step::Shutdown => return false,
        }
    }
}

/// Drives a parked spare worker on another thread until it parks. Returns `None` if it leaves
/// instead.
fn resume(mut spare: Worker, order: &Order) -> JoinHandle<Option<Worker>> {
    let order = order.clone();
    thread::spawn(move || {
        order.pass();
        let is_parked = spare.resume_park().is_some();
        (is_parked || drive(&mut spare)).then_some(spare)
    })
}

/// A spare worker starts on another thread while the poll returns for which it was started. Each
/// task is run once, by the worker or by the spare one.
#[test]
fn a_spare_worker_that_starts_against_a_worker_whose_poll_returns() {
    check(3, || {
        let mut stepped = Stepped::new(None);
        let runs = Runs::default();
        let (theirs, inside) = (runs.clone(), stepped.handle.clone());
        drop(stepped.handle.spawn(async move {
            for _ in 0..3 {
                let run = theirs.clone();
                drop(inside.spawn(async move { run.add() }));
            }
        }));
        assert_eq!(stepped.worker.step(), Step::Ran);
        let mut spare = stepped.start_spare();
        let serves = thread::spawn(move || {
            while spare.step() == Step::Ran {}
            spare
        });
        while stepped.worker.step() == Step::Ran {}
        let mut spare = serves.join().unwrap();
        while spare.step() == Step::Ran || stepped.worker.step() == Step::Ran {}
        assert_eq!(runs.count(), 3);
        drop((spare, stepped));
    });
}

/// A spare worker is asked to leave while the worker queues two tasks and does not return from its
/// next poll.
#[test]
fn a_spare_worker_that_leaves_against_a_push_of_the_worker() {
    check(2, || {
        let mut stepped = Stepped::new(None);
        let runs = Runs::default();
        stepped.spawn_steps(1);
        assert_eq!(stepped.worker.step(), Step::Ran);
        stepped.spawn_steps(1);
        let (theirs, inside) = (runs.clone(), stepped.handle.clone());
        drop(stepped.handle.spawn(async move {
            for _ in 0..2 {
                let run = theirs.clone();
                drop(inside.spawn(async move { run.add() }));
            }
        }));
        let mut spare = stepped.start_spare();
        assert!(spare.begin_park().is_some());
        // The worker makes progress, and the spare worker is not needed.
        assert_eq!(stepped.worker.step(), Step::Ran);
        let order = Order::default();
        let leaves = resume(spare, &order);
        let checks = monitor_checks(&stepped.monitor, ms(9), &order);
        order.pass();
        assert_eq!(stepped.worker.step(), Step::Ran);
        checks.join().unwrap();
        let spare = leaves.join().unwrap();
        stepped.serve(spare, || runs.count() == 2);
    });
}

/// A spare worker in the driver is asked to leave while another thread spawns a task and calls it.
/// The worker does not return from its poll.
#[test]
fn a_spare_worker_that_leaves_against_a_spawn_from_outside() {
    check(2, || {
        let (mut stepped, spare) = Stepped::with_spare_in_driver(1);
        assert_eq!(stepped.worker.step(), Step::Ran);
        let runs = Runs::default();
        let order = Order::default();
        let leaves = resume(spare, &order);
        let spawns = {
            let (handle, theirs) = (stepped.handle.clone(), runs.clone());
            thread::spawn(move || drop(handle.spawn(async move { theirs.add() })))
        };
        order.pass();
        stepped.monitor.check(ms(70));
        spawns.join().unwrap();
        let spare = leaves.join().unwrap();
        stepped.serve(spare, || runs.count() == 1);
    });
}

/// Two threads spawn a task each and call the spare worker in the driver, which runs both. The
/// monitor does not check. A lost call is a deadlock.
#[test]
fn a_spare_worker_runs_the_tasks_for_which_it_is_called() {
    check(2, || {
        let (stepped, mut spare) = Stepped::with_spare_in_driver(0);
        let runs = Runs::default();
        let spawners = [(); 2].map(|()| {
            let (handle, theirs) = (stepped.handle.clone(), runs.clone());
            thread::spawn(move || drop(handle.spawn(async move { theirs.add() })))
        });
        while runs.count() < 2 {
            if spare.step() == Step::Idle {
                spare.park();
            }
        }
        for spawner in spawners {
            spawner.join().unwrap();
        }
        drop((spare, stepped));
    });
}

/// A spare worker leaves the driver while the worker parks, which then waits in the driver.
#[test]
fn a_spare_worker_that_leaves_the_driver_against_a_worker_that_parks() {
    check(3, || {
        let (mut stepped, mut spare) = Stepped::with_spare_in_driver(1);
        assert_eq!(stepped.worker.step(), Step::Ran);
        stepped.monitor.check(ms(70));
        let leaves = thread::spawn(move || {
            assert!(spare.resume_park().is_none());
            assert_eq!(spare.step(), Step::Shutdown);
        });
        assert_eq!(stepped.worker.step(), Step::Idle);
        let wait = stepped.worker.begin_park();
        leaves.join().unwrap();
        assert!(
            wait.is_none_or(|wait| wait.in_driver) || stepped.worker.is_unparked(),
            "no worker is in the driver"
        );
        drop(stepped);
    });
}

/// The last worker retires while the monitor takes a spare one, for the first time or out of the
/// reserve.
fn the_end_of_the_last_worker_against_a_spare_worker(is_in_reserve: bool) {
    check(3, move || {
        let count = Arc::new(AtomicUsize::new(0));
        let mut stepped = Stepped::new(None);
        let mut start = 0;
        if is_in_reserve {
            stepped.spawn_steps(2);
            assert_eq!(stepped.worker.step(), Step::Ran);
            drop(stepped.start_spare());
            start = 100;
        }
        let (counted, inside) = (
            [(); 2].map(|()| Counted(count.clone())),
            stepped.handle.clone(),
        );
        let [first, second] = counted;
        drop(stepped.handle.spawn(async move {
            let _first = first;
            drop(inside.spawn(async move {
                let _second = second;
                pending::<()>().await;
            }));
            pending::<()>().await;
        }));
        for _ in 0..if is_in_reserve { 2 } else { 1 } {
            assert_eq!(stepped.worker.step(), Step::Ran);
        }
        stepped.monitor.check(ms(start));
        let Stepped {
            handle,
            worker,
            monitor,
            handed,
        } = stepped;
        let order = Order::default();
        let checks = {
            let order = order.clone();
            thread::spawn(move || {
                order.pass();
                monitor.check(ms(start + 40));
                if let Some(mut spare) = handed.take() {
                    while spare.step() == Step::Ran {}
                }
            })
        };
        order.pass();
        drop(worker);
        checks.join().unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 2);
        drop(handle);
    });
}

#[test]
fn the_end_of_the_last_worker_against_a_spare_worker_that_is_made() {
    the_end_of_the_last_worker_against_a_spare_worker(false);
}

#[test]
fn the_end_of_the_last_worker_against_a_spare_worker_of_the_reserve() {
    the_end_of_the_last_worker_against_a_spare_worker(true);
}

/// A pool whose worker is in a poll, with a task behind it. Its spare worker has a thread of its
/// own.
struct Blocked {
    pool: Pool,
    monitor: Monitor,
    handoffs: Handoffs,
    drops: Arc<AtomicUsize>,
}

impl Blocked {
    fn new() -> Self {
        let handoffs = Handoffs::default();
        Self::with(handoffs.config(Config::default()), handoffs)
    }

    /// Nothing is explored before the shutdown.
    fn with(config: Config, handoffs: Handoffs) -> Self {
        model::stop_exploring();
        let config = Config {
            has_monitor: true,
            max_spare_workers: 1,
            ..config
        };
        let pool = Pool::start(config, None).unwrap();
        Self {
            monitor: pool.monitor(),
            pool,
            handoffs,
            drops: Arc::new(AtomicUsize::new(0)),
        }
    }

    /// Has the worker run a task that spawns `behind` and then waits for the gate that is returned.
    fn block(&self, behind: impl Future<Output = ()> + Send + 'static) -> Arc<Gate> {
        let (begun, gate) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
        let (theirs, waits) = (begun.clone(), gate.clone());
        let counted = [(); 2].map(|()| Counted(self.drops.clone()));
        drop(self.pool.handle().spawn(async move {
            let [first, second] = counted;
            let _first = first;
            drop(spawn(async move {
                let _second = second;
                behind.await;
            }));
            theirs.open();
            waits.wait_for(1);
            pending::<()>().await;
        }));
        begun.wait_for(1);
        gate
    }

    /// Lets the poll return, and waits until the worker is parked.
    fn unblock(&self, gate: &Gate) {
        let parks = || self.pool.handle().metrics().worker(0).parks;
        let before = parks();
        gate.open();
        while parks() == before {
            thread::yield_now();
        }
    }

    /// Has the monitor find the worker stuck, 30 ms after `start`.
    fn start_spare(&self, start: u64) {
        for at in [start, start + 30] {
            self.monitor.check(ms(at));
        }
    }

    /// Shuts the pool down while the poll returns. Each of the tasks is dropped once.
    fn shut_down(self, gate: &Gate, tasks: usize) {
        gate.open();
        drop(self.pool);
        self.handoffs.join();
        assert_eq!(self.drops.load(Ordering::Relaxed), tasks);
    }

    /// Shuts the pool down while the monitor checks and starts a spare worker.
    fn shut_down_against_check(self, at: u64, gate: &Gate, tasks: usize) {
        let order = Order::default();
        model::explore();
        let checks = monitor_checks(&self.monitor, ms(at), &order);
        order.pass();
        gate.open();
        drop(self.pool);
        checks.join().unwrap();
        self.handoffs.join();
        assert_eq!(self.drops.load(Ordering::Relaxed), tasks);
    }
}

/// The pool shuts down while the monitor makes a spare worker, or while the thread of that starts.
#[test]
fn shutdown_against_a_spare_worker_that_is_made() {
    check(1, || {
        let blocked = Blocked::new();
        let gate = blocked.block(pending());
        blocked.monitor.check(ms(0));
        blocked.shut_down_against_check(30, &gate, 2);
    });
}

/// The pool shuts down while the monitor takes a spare worker out of the reserve, where that came
/// when its first thread was refused.
#[test]
fn shutdown_against_a_spare_worker_that_is_taken_out_of_the_reserve() {
    check(1, || {
        let handoffs = Handoffs::default();
        let config = handoffs.config(Config::default());
        let start = config.handoff.clone().expect("it is set");
        let is_refused = Mutex::new(true);
        let config = Config {
            handoff: Some(std::sync::Arc::new(move |handoff| {
                match std::mem::take(&mut *is_refused.lock()) {
                    true => drop(handoff),
                    false => start(handoff),
                }
            })),
            ..config
        };
        let blocked = Blocked::with(config, handoffs);
        let gate = blocked.block(pending());
        blocked.start_spare(0);
        assert_eq!(blocked.handoffs.count(), 0);
        blocked.shut_down_against_check(140, &gate, 2);
    });
}

/// The pool shuts down while a spare worker is in the reserve.
#[test]
fn shutdown_against_a_spare_worker_in_the_reserve() {
    check(1, || {
        let blocked = Blocked::new();
        // The spare worker has a task in its live list that waits.
        let gate = blocked.block(pending());
        blocked.start_spare(0);
        blocked.unblock(&gate);
        blocked.monitor.check(ms(60));
        blocked.handoffs.join();
        let gate = blocked.block(pending());
        model::explore();
        blocked.shut_down(&gate, 4);
    });
}

/// The pool shuts down while a spare worker starts, runs or is parked.
#[test]
fn shutdown_against_a_spare_worker_that_serves() {
    check(1, || {
        let blocked = Blocked::new();
        let gate = blocked.block(pending());
        blocked.start_spare(0);
        model::explore();
        blocked.shut_down(&gate, 2);
    });
}

/// The pool shuts down while a spare worker is in a poll, which returns before that of the worker
/// or after it.
#[test]
fn shutdown_against_a_spare_worker_in_a_poll() {
    for is_first in [true, false] {
        check(1, move || {
            let blocked = Blocked::new();
            let (begun, inner) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
            let (theirs, waits) = (begun.clone(), inner.clone());
            let outer = blocked.block(async move {
                theirs.open();
                waits.wait_for(1);
                pending::<()>().await;
            });
            blocked.start_spare(0);
            begun.wait_for(1);
            model::explore();
            let [first, second] = match is_first {
                true => [inner, outer],
                false => [outer, inner],
            };
            let opens = thread::spawn(move || second.open());
            blocked.shut_down(&first, 2);
            opens.join().unwrap();
        });
    }
}

/// No thread comes for a spare worker before the shutdown, which brings it back. The thread finds
/// no worker, or drives it.
#[test]
fn shutdown_against_a_spare_worker_whose_thread_comes_late() {
    for comes in [false, true] {
        check(1, move || {
            let handed = Handed::default();
            let blocked = Blocked::with(handed.config(), Handoffs::default());
            let gate = blocked.block(pending());
            blocked.start_spare(0);
            let handoff = handed.0.lock().pop().expect("a spare worker is started");
            model::explore();
            if comes {
                let late = thread::spawn(move || handoff.run());
                blocked.shut_down(&gate, 2);
                late.join().unwrap();
            } else {
                blocked.shut_down(&gate, 2);
                handoff.run();
            }
        });
    }
}
