//! Spare workers with threads: while all workers are in polls that do not return, spare workers
//! serve, and they leave when the polls return.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use crate::common::driver::Events;
use crate::common::handoff::Handoffs;
use crate::common::sleeper::Sleeper;
use crate::common::{DropTracker, Gate, SHARING, config_of, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{
    Config, CurrentThread, Handle, Handoff, MonitorAction, Observer, Policy, Pool, StartHandoff,
    block_in_place, spawn,
};
use raddle_task::JoinHandle;

/// Long enough for a spare worker to be started.
const A_WHILE: Duration = Duration::from_millis(60);
/// How often a test wakes a task.
const WAKES: usize = 5;

/// A pool with a driver, whose workers can all be blocked.
struct Fixture {
    pool: Pool,
    events: raddle_primitives::sync::Arc<Events>,
    handoffs: Handoffs,
    /// Ends the polls that [`block`](Self::block) begins.
    gate: Gate,
}

impl Fixture {
    fn new(policy: Policy, workers: usize) -> Self {
        let handoffs = Handoffs::default();
        Self::with(handoffs.config(config_of(policy, workers)), handoffs)
    }

    fn with(config: Config, handoffs: Handoffs) -> Self {
        let events = Events::new();
        let driver = Events::driver(&events);
        Self {
            pool: Pool::start(config, Some(driver)).unwrap(),
            events,
            handoffs,
            gate: Gate::default(),
        }
    }

    fn handle(&self) -> &Handle {
        self.pool.handle()
    }

    fn spares(&self) -> usize {
        self.handle().metrics().spare_workers()
    }

    /// Spawns tasks that block until the gate opens, and waits until all of them do.
    fn block(&self, count: usize) -> Vec<JoinHandle<()>> {
        (0..count)
            .filter_map(|_| self.try_block(usize::MAX))
            .collect()
    }

    /// Blocks all workers, none of the spare ones.
    fn block_workers(&self) -> Vec<JoinHandle<()>> {
        self.block_some_workers(self.handle().workers())
    }

    fn block_some_workers(&self, count: usize) -> Vec<JoinHandle<()>> {
        let mut blocked = Vec::new();
        while blocked.len() < count {
            blocked.extend(self.try_block(self.handle().workers()));
        }
        blocked
    }

    /// Blocks one worker until the gate opens. Returns `None` if a worker with a number from
    /// `limit` on ran the task. A spare worker may do so if a worker has no processor for a while.
    fn try_block(&self, limit: usize) -> Option<JoinHandle<()>> {
        let has_entered = Arc::new(AtomicBool::new(false));
        let (entered, gate) = (has_entered.clone(), self.gate.clone());
        let task = self.handle().spawn(async move {
            if Handle::current().current_worker() < Some(limit) {
                entered.store(true, SeqCst);
                gate.wait();
            }
        });
        wait_until(|| has_entered.load(SeqCst) || task.is_finished());
        has_entered.load(SeqCst).then_some(task)
    }

    /// Blocks all workers. The last one is in a poll that calls `f`, which may block too.
    fn block_all_but_one_and(&self, f: impl FnOnce() + Send + 'static) {
        let workers = self.handle().workers();
        let _blocked = self.block_some_workers(workers - 1);
        let f = Arc::new(Mutex::new(Some(f)));
        while f.lock().is_some() {
            let f = f.clone();
            let task = self.handle().spawn(async move {
                if Handle::current().current_worker() < Some(workers) {
                    let f = f.lock().take();
                    f.expect("one task at a time calls it")();
                }
            });
            self.handle().block_on(task).unwrap();
        }
    }

    /// Opens the gate, waits until the spare workers have left, and shuts the pool down.
    fn end(mut self) {
        self.gate.open();
        wait_until(|| self.spares() == 0);
        let metrics = self.handle().metrics();
        wait_until(|| metrics.injection_depth() == 0);
        assert!(self.pool.shutdown(None));
        assert_eq!(metrics.alive_tasks(), 0);
        self.handoffs.join();
        assert_eq!(self.events.with(|state| state.shutdowns), 1);
    }
}

/// Each policy and number of workers.
fn cases() -> impl Iterator<Item = (Policy, usize)> {
    SHARING
        .into_iter()
        .flat_map(|policy| [1, 2, 4].map(|workers| (policy, workers)))
}

/// Calls `test` with a pool of each policy and number of workers, and ends the pool.
fn for_each_pool(test: impl Fn(&Fixture)) {
    for (policy, workers) in cases() {
        let fixture = Fixture::new(policy, workers);
        test(&fixture);
        fixture.end();
    }
}

/// The same while all workers are blocked.
fn for_each_blocked_pool(test: impl Fn(&Fixture)) {
    for_each_pool(|fixture| {
        let _blocked = fixture.block_workers();
        test(fixture);
    });
}

#[test]
fn tasks_that_a_blocked_poll_spawned_run() {
    for_each_pool(|fixture| {
        fixture.block_all_but_one_and(|| {
            for count in [1, 2, 10, 300] {
                let tasks: Vec<_> = (0..count).map(|_| spawn(async {})).collect();
                wait_until(|| tasks.iter().all(JoinHandle::is_finished));
            }
        });
    });
}

#[test]
fn a_task_that_a_blocked_poll_woke_runs() {
    for_each_pool(|fixture| {
        let sleeper = Sleeper::on(fixture.handle());
        fixture.block_all_but_one_and(move || sleeper.wake_and_wait_for_polls(WAKES, Waker::wake));
    });
}

#[test]
fn a_task_that_was_woken_from_outside_runs_while_all_workers_are_blocked() {
    for_each_pool(|fixture| {
        let sleeper = Sleeper::on(fixture.handle());
        let _blocked = fixture.block_workers();
        sleeper.wake_and_wait_for_polls(WAKES, Waker::wake);
    });
}

#[test]
fn a_task_that_was_spawned_from_outside_runs_while_all_workers_are_blocked() {
    for_each_blocked_pool(|fixture| {
        for count in [1, 1, 10] {
            let tasks: Vec<_> = (0..count)
                .map(|_| fixture.handle().spawn(async {}))
                .collect();
            wait_until(|| tasks.iter().all(JoinHandle::is_finished));
        }
    });
}

#[test]
fn events_of_the_driver_are_dispatched_while_all_workers_are_blocked() {
    for_each_pool(|fixture| {
        let sleepers = [(); 3].map(|()| Sleeper::on(fixture.handle()));
        let _blocked = fixture.block_workers();
        for sleeper in &sleepers {
            sleeper.wake_and_wait_for_polls(WAKES, |waker| fixture.events.raise([waker]));
        }
    });
}

/// Each spare worker gets stuck in turn, and the next one serves.
#[test]
fn tasks_are_served_while_more_and_more_polls_block() {
    for_each_pool(|fixture| {
        let sleeper = Sleeper::on(fixture.handle());
        let mut blocked = fixture.block_workers();
        for _ in 0..8 {
            blocked.extend(fixture.block(1));
            sleeper.wake_and_wait_for_polls(WAKES, |waker| fixture.events.raise([waker]));
            let task = fixture.handle().spawn(async {});
            wait_until(|| task.is_finished());
        }
        assert!(blocked.iter().all(|task| !task.is_finished()));
        fixture.gate.open();
        wait_until(|| blocked.iter().all(JoinHandle::is_finished));
    });
}

/// The spare workers of a time before serve again.
#[test]
fn the_same_spare_workers_serve_again() {
    let mut fixture = Fixture::new(Policy::WorkStealing, 1);
    for _ in 0..5 {
        fixture.gate = Gate::default();
        let _blocked = fixture.block_workers();
        let task = fixture.handle().spawn(async {});
        wait_until(|| task.is_finished());
        fixture.gate.open();
        wait_until(|| fixture.spares() == 0);
    }
    let metrics = fixture.handle().metrics();
    assert!(metrics.spare_starts() >= 5);
    assert!(
        metrics.made_spare_workers() <= 2,
        "one attends the driver, and one helps"
    );
    fixture.end();
}

/// Records what the monitor reports.
#[derive(Default)]
struct Actions(Mutex<Vec<MonitorAction>>);

impl Observer for Actions {
    fn monitor_acted(&self, _stuck: usize, action: MonitorAction) {
        self.0.lock().push(action);
    }
}

impl Actions {
    fn count(&self, action: MonitorAction) -> usize {
        self.0.lock().iter().filter(|it| **it == action).count()
    }
}

#[test]
fn a_pool_without_any_spare_worker_left_says_so_and_goes_on_when_a_poll_returns() {
    for policy in SHARING {
        let actions = Arc::new(Actions::default());
        let handoffs = Handoffs::default();
        let config = handoffs.config(Config {
            max_spare_workers: 2,
            observer: Some(actions.clone()),
            ..config_of(policy, 1)
        });
        let fixture = Fixture::with(config, handoffs);
        let _blocked = (fixture.block_workers(), fixture.block(1));
        let last = Gate::default();
        let theirs = last.clone();
        let last_blocked = fixture.handle().spawn(async move { theirs.wait() });
        wait_until(|| fixture.spares() == 2);
        assert!(actions.count(MonitorAction::StartedSpare) >= 2);
        let waits = fixture.handle().spawn(async {});
        wait_until(|| actions.count(MonitorAction::LacksSpare) == 1);
        thread::sleep(A_WHILE);
        assert!(!waits.is_finished(), "all threads are blocked");
        assert_eq!(fixture.spares(), 2);
        assert_eq!(fixture.handle().metrics().made_spare_workers(), 2);
        assert_eq!(actions.count(MonitorAction::LacksSpare), 1);
        last.open();
        wait_until(|| waits.is_finished());
        assert!(last_blocked.is_finished());
        fixture.end();
    }
}

#[test]
fn without_spare_workers_tasks_wait_for_the_poll_to_return() {
    for policy in SHARING {
        let handoffs = Handoffs::default();
        let config = handoffs.config(Config {
            max_spare_workers: 0,
            ..config_of(policy, 2)
        });
        let fixture = Fixture::with(config, handoffs);
        let sleeper = Sleeper::on(fixture.handle());
        let _blocked = fixture.block_workers();
        let task = fixture.handle().spawn(async {});
        fixture.events.raise([sleeper.waker()]);
        thread::sleep(A_WHILE);
        assert!(!task.is_finished());
        assert_eq!(sleeper.polls(), 1);
        assert_eq!(fixture.handoffs.count(), 0);
        fixture.gate.open();
        wait_until(|| task.is_finished() && sleeper.polls() == 2);
        fixture.end();
    }
}

#[test]
fn without_a_function_that_starts_threads_there_are_no_spare_workers() {
    let pool = Pool::start(config_of(Policy::WorkStealing, 1), None).unwrap();
    let gate = Gate::default();
    let theirs = gate.clone();
    let _blocked = pool.handle().spawn(async move { theirs.wait() });
    let task = pool.handle().spawn(async {});
    thread::sleep(A_WHILE);
    assert!(!task.is_finished());
    assert_eq!(pool.handle().metrics().made_spare_workers(), 0);
    gate.open();
    pool.handle().block_on(task).unwrap();
}

#[test]
fn a_sharded_pool_and_a_current_thread_scheduler_have_no_spare_workers() {
    let handoffs = Handoffs::default();
    let fixture = Fixture::with(
        handoffs.config(config_of(Policy::Sharded, 1)),
        handoffs.clone(),
    );
    let _blocked = fixture.block(1);
    let task = fixture.handle().spawn(async {});
    thread::sleep(A_WHILE);
    assert!(!task.is_finished());
    assert_eq!(fixture.handle().metrics().made_spare_workers(), 0);
    fixture.end();

    let scheduler = CurrentThread::new(handoffs.config(Config::default()), None);
    scheduler.block_on(async {
        let task = spawn(async {});
        thread::sleep(A_WHILE);
        assert!(!task.is_finished());
        task.await.unwrap();
    });
    let metrics = scheduler.handle().metrics();
    assert_eq!((metrics.made_spare_workers(), handoffs.count()), (0, 0));
}

/// Has `faulty` deal with the first requests, and starts threads for the others.
fn with_faults(
    config: Config,
    handoffs: &Handoffs,
    faults: usize,
    faulty: impl Fn(Handoff) + Send + Sync + 'static,
) -> (Config, Arc<AtomicUsize>) {
    let config = handoffs.config(config);
    let start: StartHandoff = config.handoff.clone().unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    let handoff: StartHandoff =
        Arc::new(move |handoff| match counted.fetch_add(1, SeqCst) < faults {
            true => faulty(handoff),
            false => start(handoff),
        });
    let config = Config {
        handoff: Some(handoff),
        ..config
    };
    (config, requests)
}

fn is_served_after_faults(faulty: fn(Handoff)) {
    for (policy, workers) in cases() {
        let handoffs = Handoffs::default();
        let (config, requests) = with_faults(config_of(policy, workers), &handoffs, 3, faulty);
        let fixture = Fixture::with(config, handoffs);
        let sleeper = Sleeper::on(fixture.handle());
        let _blocked = fixture.block_workers();
        let task = fixture.handle().spawn(async {});
        fixture.events.raise([sleeper.waker()]);
        wait_until(|| task.is_finished() && sleeper.polls() == 2);
        assert!(requests.load(SeqCst) > 3);
        fixture.end();
    }
}

#[test]
fn tasks_are_served_after_the_system_has_refused_threads() {
    is_served_after_faults(drop);
}

#[test]
fn tasks_are_served_after_the_function_that_starts_threads_has_panicked() {
    is_served_after_faults(|_| panic!("a function panics on purpose"));
}

#[test]
fn tasks_are_served_after_threads_have_panicked_before_they_ran_their_worker() {
    is_served_after_faults(|handoff| {
        drop(thread::spawn(move || {
            let _handoff = handoff;
            panic!("a thread panics on purpose");
        }));
    });
}

#[test]
fn tasks_are_served_after_hooks_of_spare_workers_have_panicked() {
    for (policy, workers) in cases() {
        let panics = Arc::new(AtomicUsize::new(0));
        let counts = panics.clone();
        let hook = Arc::new(move || {
            let worker = Handle::current().current_worker();
            if worker.is_some_and(|worker| worker >= workers) && counts.fetch_add(1, SeqCst) < 3 {
                panic!("a hook panics on purpose");
            }
        });
        // The threads end with the panic of the hook.
        let start: StartHandoff = Arc::new(|handoff| drop(thread::spawn(|| handoff.run())));
        let config = Config {
            on_thread_park: Some(hook.clone()),
            on_thread_unpark: Some(hook),
            handoff: Some(start),
            ..config_of(policy, workers)
        };
        let fixture = Fixture::with(config, Handoffs::default());
        let sleeper = Sleeper::on(fixture.handle());
        let _blocked = fixture.block_workers();
        for _ in 0..5 {
            let task = fixture.handle().spawn(async {});
            sleeper.wake_and_wait_for_polls(WAKES, |waker| fixture.events.raise([waker]));
            wait_until(|| task.is_finished());
        }
        assert!(panics.load(SeqCst) >= 3);
        fixture.end();
    }
}

#[test]
fn a_spare_worker_whose_task_blocks_in_place_goes_to_another_thread() {
    for_each_blocked_pool(|fixture| {
        let workers = fixture.handle().workers();
        let in_place = Gate::default();
        let entered = Arc::new(AtomicBool::new(false));
        let (theirs, has_entered) = (in_place.clone(), entered.clone());
        let task = fixture.handle().spawn(async move {
            let before = Handle::current().current_worker();
            block_in_place(|| {
                has_entered.store(true, SeqCst);
                theirs.wait();
            });
            before
        });
        wait_until(|| entered.load(SeqCst));
        let sleeper = Sleeper::on(fixture.handle());
        sleeper.wake_and_wait_for_polls(WAKES, |waker| fixture.events.raise([waker]));
        in_place.open();
        let worker = fixture.handle().block_on(task).unwrap();
        assert!(worker.is_some_and(|worker| worker >= workers));
    });
}

#[test]
fn the_numbers_of_spare_workers_follow_those_of_the_workers() {
    for_each_blocked_pool(|fixture| {
        let workers = fixture.handle().workers();
        let numbers = [(); 10].map(|()| {
            let task = fixture.handle().spawn(async {
                let handle = Handle::current();
                assert_eq!(handle.current_worker(), handle.worker_of_thread());
                handle.current_worker()
            });
            fixture.handle().block_on(task).unwrap().unwrap()
        });
        let metrics = fixture.handle().metrics();
        let all = workers + metrics.made_spare_workers();
        assert!(
            numbers.iter().all(|number| (workers..all).contains(number)),
            "{numbers:?} of {workers} workers and {all} with the spare ones"
        );
        let polls: u64 = (workers..all).map(|it| metrics.worker(it).polls).sum();
        assert!(polls >= 10);
        assert_eq!(metrics.workers(), workers);
    });
}

#[test]
fn tasks_are_counted_right_that_spare_workers_spawn_poll_and_complete() {
    for (policy, workers) in cases() {
        let fixture = Fixture::new(policy, workers);
        let metrics = fixture.handle().metrics();
        let _waits = fixture.handle().spawn(pending::<()>());
        let _blocked = fixture.block_workers();
        let before = metrics.spawned_tasks();
        let tasks = [(); 5].map(|()| {
            fixture.handle().spawn(async {
                let children: Vec<_> = (0..10).map(|_| spawn(async {})).collect();
                drop(spawn(pending::<()>()));
                for child in children {
                    child.await.unwrap();
                }
            })
        });
        for task in tasks {
            fixture.handle().block_on(task).unwrap();
        }
        let spawned = before + 5 * 12;
        assert_eq!(metrics.spawned_tasks(), spawned);
        // The blocked tasks, and those that wait.
        wait_until(|| metrics.alive_tasks() == workers + 1 + 5);
        fixture.gate.open();
        wait_until(|| metrics.alive_tasks() == 1 + 5);
        fixture.end();
        assert_eq!(metrics.spawned_tasks(), spawned);
    }
}

/// Tasks that wait: to be woken, for the driver, in queues. Each is dropped once.
fn spawn_tracked(fixture: &Fixture, tracker: &DropTracker) {
    for _ in 0..10 {
        let tracked = tracker.tracked();
        drop(fixture.handle().spawn(async move {
            let _tracked = tracked;
            pending::<()>().await;
        }));
    }
}

#[test]
fn a_pool_shuts_down_with_spare_workers_in_the_reserve() {
    for (policy, workers) in cases() {
        let fixture = Fixture::new(policy, workers);
        let tracker = DropTracker::default();
        let _blocked = fixture.block_workers();
        // The spare worker runs them first.
        spawn_tracked(&fixture, &tracker);
        wait_until(|| fixture.handle().metrics().injection_depth() == 0);
        fixture.gate.open();
        wait_until(|| fixture.spares() == 0);
        assert!(fixture.handle().metrics().made_spare_workers() > 0);
        spawn_tracked(&fixture, &tracker);
        fixture.end();
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 20));
    }
}

/// Each worker is in a poll that does not return, and the spare worker that has polled the tasks is
/// in the reserve.
#[test]
fn a_shutdown_with_a_limit_drops_the_tasks_of_spare_workers_in_the_reserve() {
    let handoffs = Handoffs::default();
    let config = handoffs.config(config_of(Policy::WorkStealing, 1));
    let start = config.handoff.clone().unwrap();
    let refuses = Arc::new(AtomicBool::new(false));
    let theirs = refuses.clone();
    let handoff: StartHandoff = Arc::new(move |handoff| match theirs.load(SeqCst) {
        true => drop(handoff),
        false => start(handoff),
    });
    let config = Config {
        handoff: Some(handoff),
        ..config
    };
    let mut fixture = Fixture::with(config, handoffs);
    let tracker = DropTracker::default();
    let blocked = fixture.block_workers();
    spawn_tracked(&fixture, &tracker);
    wait_until(|| fixture.handle().metrics().injection_depth() == 0);
    fixture.gate.open();
    wait_until(|| fixture.spares() == 0 && blocked.iter().all(JoinHandle::is_finished));
    refuses.store(true, SeqCst);
    fixture.gate = Gate::default();
    let blocked = fixture.block_workers();
    assert!(!fixture.pool.shutdown(Some(Duration::from_millis(1))));
    wait_until(|| tracker.alive() == 0);
    assert!(blocked.iter().all(|task| !task.is_finished()));
    fixture.end();
}

#[test]
fn a_pool_shuts_down_while_a_spare_worker_waits_in_the_driver() {
    for (policy, workers) in cases() {
        let mut fixture = Fixture::new(policy, workers);
        let tracker = DropTracker::default();
        let sleeper = Sleeper::on(fixture.handle());
        let _blocked = fixture.block_workers();
        sleeper.wake_and_wait_for_polls(WAKES, |waker| fixture.events.raise([waker]));
        spawn_tracked(&fixture, &tracker);
        assert!(fixture.spares() > 0);
        assert!(!fixture.pool.shutdown(Some(Duration::ZERO)));
        // The spare workers leave, and take the tasks with them.
        wait_until(|| fixture.spares() == 0);
        wait_until(|| tracker.alive() == 0);
        fixture.end();
        assert_eq!(tracker.dropped(), 10);
    }
}

#[test]
fn a_pool_shuts_down_while_spare_workers_are_in_polls_that_do_not_return() {
    for (policy, workers) in cases() {
        let mut fixture = Fixture::new(policy, workers);
        let tracker = DropTracker::default();
        let mut blocked = fixture.block_workers();
        blocked.extend(fixture.block(3));
        spawn_tracked(&fixture, &tracker);
        assert!(fixture.spares() >= 3);
        assert!(!fixture.pool.shutdown(Some(Duration::from_millis(1))));
        assert!(blocked.iter().all(|task| !task.is_finished()));
        fixture.gate.open();
        assert!(fixture.pool.shutdown(None));
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 10));
        assert!(blocked.iter().all(JoinHandle::is_finished));
        fixture.end();
    }
}

/// At any time of the start of a spare worker.
#[test]
fn a_pool_shuts_down_while_spare_workers_start_and_leave() {
    for round in 0..60_u64 {
        let (policy, workers) = cases().nth(round as usize % 6).unwrap();
        let fixture = Fixture::new(policy, workers);
        let tracker = DropTracker::default();
        spawn_tracked(&fixture, &tracker);
        let _blocked = fixture.block_workers();
        spawn_tracked(&fixture, &tracker);
        thread::sleep(Duration::from_micros(5_000 + 100 * round));
        let gate = fixture.gate.clone();
        let opens = thread::spawn(move || gate.open());
        drop(fixture.pool);
        opens.join().unwrap();
        fixture.handoffs.join();
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 20), "{policy:?}");
    }
}

#[test]
fn a_pool_is_dropped_by_a_task_that_a_spare_worker_runs() {
    for (policy, workers) in cases() {
        let fixture = Fixture::new(policy, workers);
        let _blocked = fixture.block_workers();
        let Fixture {
            pool,
            events,
            handoffs,
            gate,
        } = fixture;
        let handle = pool.handle().clone();
        let tracker = DropTracker::default();
        let (tracked, other) = (tracker.tracked(), tracker.tracked());
        drop(handle.spawn(async move {
            let _tracked = other;
            pending::<()>().await;
        }));
        let dropped = Arc::new(AtomicUsize::new(usize::MAX));
        let theirs = dropped.clone();
        let pool = Mutex::new(Some(pool));
        drop(handle.spawn(async move {
            let _tracked = tracked;
            let worker = Handle::current().current_worker().unwrap();
            drop(pool.lock().take());
            theirs.store(worker, SeqCst);
        }));
        wait_until(|| dropped.load(SeqCst) != usize::MAX);
        assert!(dropped.load(SeqCst) >= workers);
        gate.open();
        events.wait_for_shutdown();
        handoffs.join();
        wait_until(|| tracker.alive() == 0);
    }
}
