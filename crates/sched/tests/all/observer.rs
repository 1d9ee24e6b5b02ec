//! Which calls an observer gets, and in which order.

use std::future::{pending, poll_fn, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use crate::common::handoff::Handoffs;
use crate::common::{Gate, POLICIES, config, config_of, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{
    Config, CurrentThread, Driver, EndReason, Handle, MonitorAction, Observer, Policy, PollResult,
    Pool, SpawnedTask, Step, TaskRef, Turn, UnhandledPanic, Unpark, block_in_place, spawn,
    take_ended_poll, yield_now,
};
use raddle_task::Id;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Started(usize),
    ShutdownStarted,
    WorkerStarted(usize),
    WorkerStopped(usize),
    HandedOff(usize),
    Spawned {
        task: Id,
        line: u32,
        name: Option<String>,
        parent: Option<Id>,
    },
    Woken {
        task: Id,
        by: Option<Id>,
    },
    Polls {
        worker: usize,
        task: Id,
        line: u32,
    },
    Polled(Option<usize>, Id, PollResult),
    Ended(Id, EndReason),
    RootPolls(Option<usize>),
    RootPolled(Option<usize>, bool),
    Parked(usize),
    Unparked(usize),
    Searches(usize),
    Stole {
        worker: usize,
        victim: usize,
        count: usize,
    },
    DriverStarted(usize, Option<Duration>),
    DriverFinished(usize, Turn),
    Acted(usize, MonitorAction),
}
use Event::*;

/// Records the events. Panics after each record if `panics` is set.
#[derive(Default)]
struct Log {
    events: Mutex<Vec<Event>>,
    panics: bool,
    is_without_locations: bool,
}

impl Log {
    fn push(&self, event: Event) {
        self.events.lock().push(event);
        assert!(!self.panics, "planted");
    }

    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.events.lock())
    }

    /// Takes the events of tasks: no parks, searches or driver polls.
    fn take_of_tasks(&self) -> Vec<Event> {
        let is_of_task = |event: &Event| {
            matches!(
                event,
                Spawned { .. } | Woken { .. } | Polls { .. } | Polled(..) | Ended(..)
            )
        };
        self.take().into_iter().filter(is_of_task).collect()
    }

    fn has(&self, predicate: impl Fn(&Event) -> bool) -> bool {
        self.events.lock().iter().any(predicate)
    }

    fn count(&self, event: &Event) -> usize {
        self.events.lock().iter().filter(|e| *e == event).count()
    }

    fn config(self: &Arc<Self>, config: Config) -> Config {
        Config {
            observer: Some(self.clone()),
            ..config
        }
    }
}

impl Observer for Log {
    fn needs_locations(&self) -> bool {
        !self.is_without_locations
    }
    fn started(&self, workers: usize) {
        self.push(Started(workers));
    }
    fn shutdown_started(&self) {
        self.push(ShutdownStarted);
    }
    fn worker_started(&self, worker: usize) {
        self.push(WorkerStarted(worker));
    }
    fn worker_stopped(&self, worker: usize) {
        self.push(WorkerStopped(worker));
    }
    fn worker_handed_off(&self, worker: usize) {
        self.push(HandedOff(worker));
    }
    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        assert!(task.location().file().ends_with("observer.rs"));
        self.push(Spawned {
            task: task.id(),
            line: task.location().line(),
            name: task.name().map(str::to_owned),
            parent: raddle_task::try_id(),
        });
    }
    fn task_woken(&self, task: Id) {
        self.push(Woken {
            task,
            by: raddle_task::try_id(),
        });
    }
    fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
        assert_eq!(raddle_task::try_id(), None);
        self.push(Polls {
            worker,
            task: task.id(),
            line: match self.is_without_locations {
                true => 0,
                false => task.location().line(),
            },
        });
    }
    fn poll_finished(&self, worker: Option<usize>, task: Id, result: PollResult) {
        assert_eq!(raddle_task::try_id(), None);
        self.push(Polled(worker, task, result));
    }
    fn task_ended(&self, task: Id, reason: EndReason) {
        self.push(Ended(task, reason));
    }
    fn root_poll_started(&self, worker: Option<usize>) {
        self.push(RootPolls(worker));
    }
    fn root_poll_finished(&self, worker: Option<usize>, is_ready: bool) {
        self.push(RootPolled(worker, is_ready));
    }
    fn worker_parked(&self, worker: usize) {
        self.push(Parked(worker));
    }
    fn worker_unparked(&self, worker: usize) {
        self.push(Unparked(worker));
    }
    fn search_started(&self, worker: usize) {
        self.push(Searches(worker));
    }
    fn tasks_stolen(&self, worker: usize, victim: usize, count: usize) {
        self.push(Stole {
            worker,
            victim,
            count,
        });
    }
    fn driver_started(&self, worker: usize, timeout: Option<Duration>) {
        self.push(DriverStarted(worker, timeout));
    }
    fn driver_finished(&self, worker: usize, turn: Turn) {
        self.push(DriverFinished(worker, turn));
    }
    fn monitor_acted(&self, stuck: usize, action: MonitorAction) {
        self.push(Acted(stuck, action));
    }
}

fn polls(task: Id, line: u32) -> Event {
    Polls {
        worker: 0,
        task,
        line,
    }
}

fn polled(task: Id, result: PollResult) -> Event {
    Polled(Some(0), task, result)
}

fn spawned(task: Id, line: u32, parent: Option<Id>) -> Event {
    Spawned {
        task,
        line,
        name: None,
        parent,
    }
}

/// A future that stores its waker, and can be woken by it.
#[derive(Clone, Default)]
struct StoredWaker(Arc<Mutex<Option<Waker>>>);

impl StoredWaker {
    async fn wait(self) {
        let mut has_waited = false;
        poll_fn(move |cx| match std::mem::replace(&mut has_waited, true) {
            true => Poll::Ready(()),
            false => {
                *self.0.lock() = Some(cx.waker().clone());
                Poll::Pending
            }
        })
        .await;
    }

    fn wake(&self) {
        let waker = self.0.lock().take();
        waker.expect("the task has waited").wake();
    }
}

fn with_and_without_locations() -> impl Iterator<Item = (Policy, bool)> {
    POLICIES
        .into_iter()
        .flat_map(|policy| [false, true].map(|is_without| (policy, is_without)))
}

#[test]
fn each_event_of_a_task_is_observed() {
    for (policy, is_without_locations) in with_and_without_locations() {
        let log = Arc::new(Log {
            is_without_locations,
            ..Log::default()
        });
        let config = log.config(config_of(policy, 1));
        let (handle, mut workers) = Pool::stepped(config, None);
        assert_eq!(log.take(), [Started(1)]);
        let _current = handle.enter();
        let stored = StoredWaker::default();
        let future = {
            let stored = stored.clone();
            async move {
                yield_now().await;
                stored.wait().await;
            }
        };
        let (task, line) = (handle.spawn(future), line!());
        let id = task.id();
        assert_eq!(log.take_of_tasks(), [spawned(id, line, None)]);
        let line = match is_without_locations {
            true => 0,
            false => line,
        };
        assert_eq!(workers[0].step(), Step::Ran);
        let expected = [polls(id, line), polled(id, PollResult::Rescheduled)];
        assert_eq!(log.take_of_tasks(), expected);
        assert_eq!(workers[0].step(), Step::Ran);
        let expected = [polls(id, line), polled(id, PollResult::Pending)];
        assert_eq!(log.take_of_tasks(), expected);
        stored.wake();
        assert_eq!(log.take_of_tasks(), [Woken { task: id, by: None }]);
        assert_eq!(workers[0].step(), Step::Ran);
        let expected = [
            polls(id, line),
            polled(id, PollResult::Ended),
            Ended(id, EndReason::Completed),
        ];
        assert_eq!(log.take_of_tasks(), expected);
    }
}

/// Counts the `poll_started` calls that could read the location of the task.
#[derive(Default)]
struct Located<const NEEDED: bool>(AtomicUsize);

impl Observer for Located<true> {
    fn poll_started(&self, _worker: usize, task: TaskRef<'_>) {
        assert!(task.location().file().ends_with("observer.rs"));
        self.0.fetch_add(1, SeqCst);
    }
}

impl Observer for Located<false> {
    fn needs_locations(&self) -> bool {
        false
    }
    fn poll_started(&self, _worker: usize, task: TaskRef<'_>) {
        let _location = task.location();
        self.0.fetch_add(1, SeqCst);
    }
}

/// Takes the ends of polls at the start of the next event.
#[derive(Default)]
struct Starts {
    log: Log,
    calls: AtomicUsize,
}

impl Starts {
    fn take_end(&self) {
        if let Some((task, result, reason)) = take_ended_poll() {
            self.log.push(polled(task, result));
            if result == PollResult::Ended {
                self.log.push(Ended(task, reason));
            }
        }
    }
}

impl Observer for Starts {
    fn needs_poll_ends(&self) -> bool {
        false
    }
    fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
        self.take_end();
        self.log.poll_started(worker, task);
    }
    fn poll_finished(&self, worker: Option<usize>, task: Id, result: PollResult) {
        self.calls.fetch_add(1, SeqCst);
        self.log.poll_finished(worker, task, result);
    }
    fn task_ended(&self, task: Id, reason: EndReason) {
        self.log.task_ended(task, reason);
    }
    fn root_poll_started(&self, _: Option<usize>) {
        self.take_end();
    }
    fn worker_parked(&self, _: usize) {
        self.take_end();
    }
    fn worker_stopped(&self, _: usize) {
        self.take_end();
    }
}

#[test]
fn an_observer_without_calls_at_the_ends_of_polls_takes_them() {
    let log = Arc::new(Starts::default());
    let scheduler = CurrentThread::new(
        Config {
            observer: Some(log.clone()),
            ..Config::default()
        },
        None,
    );
    let (first, line) = (scheduler.handle().spawn(yield_now()), line!());
    let second = scheduler.handle().spawn(async { panic!("planted") });
    let ids = [first.id(), second.id()];
    let joined = scheduler.block_on(async { [first.await.is_ok(), second.await.is_ok()] });
    assert_eq!(joined, [true, false]);
    drop(scheduler);
    let mut events = log.log.take();
    events.retain(|event| matches!(event, Polls { .. } | Polled(..) | Ended(..)));
    let expected = [
        polls(ids[0], line),
        polled(ids[0], PollResult::Rescheduled),
        polls(ids[1], line + 1),
        polled(ids[1], PollResult::Ended),
        Ended(ids[1], EndReason::Panicked),
        polls(ids[0], line),
        polled(ids[0], PollResult::Ended),
        Ended(ids[0], EndReason::Completed),
    ];
    assert_eq!(events, expected);
    assert_eq!(log.calls.load(SeqCst), 0);

    // Any time may pass between the steps of a worker.
    let config = Config {
        observer: Some(log.clone()),
        ..config_of(Policy::default(), 1)
    };
    let (handle, mut workers) = Pool::stepped(config, None);
    let task = handle.spawn(async {});
    while workers[0].step() == Step::Ran {}
    assert!(task.is_finished());
    assert_eq!(log.calls.load(SeqCst), 1);
    assert_eq!(take_ended_poll(), None);
}

#[test]
fn a_polled_task_has_a_location_unless_the_observer_needs_none() {
    fn polls_with_location<const NEEDED: bool>(policy: Policy) -> usize
    where
        Located<NEEDED>: Observer,
    {
        let located = Arc::new(Located::<NEEDED>::default());
        let config = Config {
            observer: Some(located.clone()),
            ..config_of(policy, 1)
        };
        let (handle, mut workers) = Pool::stepped(config, None);
        let task = handle.spawn(ready(()));
        assert_eq!(workers[0].step(), Step::Ran);
        assert!(task.is_finished());
        located.0.load(SeqCst)
    }
    for policy in POLICIES {
        assert_eq!(polls_with_location::<true>(policy), 1, "{policy:?}");
        // Asking for the location panics; the scheduler contains the panic.
        assert_eq!(polls_with_location::<false>(policy), 0, "{policy:?}");
    }
}

#[test]
fn the_reason_why_a_task_ended_is_observed() {
    for (policy, is_without_locations) in with_and_without_locations() {
        let log = Arc::new(Log {
            is_without_locations,
            ..Log::default()
        });
        let config = log.config(config_of(policy, 1));
        let (handle, mut workers) = Pool::stepped(config, None);
        let _current = handle.enter();
        let mut run = |is_aborted: bool, panics: bool| {
            let task = handle.spawn(async move {
                assert!(!panics, "a task panics on purpose");
            });
            if is_aborted {
                task.abort();
            }
            assert_eq!(workers[0].step(), Step::Ran);
            (task.id(), log.take_of_tasks().pop())
        };
        for (is_aborted, panics, reason) in [
            (false, false, EndReason::Completed),
            (true, false, EndReason::Cancelled),
            (false, true, EndReason::Panicked),
            (false, false, EndReason::Completed),
        ] {
            let (id, last) = run(is_aborted, panics);
            assert_eq!(last, Some(Ended(id, reason)), "{policy:?}");
        }
        // The abort of a waiting task wakes it, and its next run drops it.
        let task = handle.spawn(pending::<()>());
        assert_eq!(workers[0].step(), Step::Ran);
        log.take();
        task.abort();
        let id = task.id();
        assert_eq!(log.take(), [Woken { task: id, by: None }]);
        // At the shutdown tasks are dropped without a poll. Tasks that are spawned later are
        // dropped at once.
        let queued = handle.spawn(pending::<()>()).id();
        log.take();
        drop(workers);
        let late = handle.spawn(pending::<()>()).id();
        let ended = log.take_of_tasks();
        for id in [id, queued, late] {
            assert!(
                ended.contains(&Ended(id, EndReason::Cancelled)),
                "{ended:?}"
            );
        }
    }
}

#[test]
fn parents_names_and_wakers_are_observed() {
    let log = Arc::new(Log::default());
    let (handle, mut workers) = Pool::stepped(log.config(config(1)), None);
    let _current = handle.enter();
    let stored = StoredWaker::default();
    let child = stored.clone();
    let parent = handle.spawn(async move {
        let named = raddle_task::name_next(Some("child"));
        let (task, line) = (spawn(child.clone().wait()), line!());
        drop(named);
        yield_now().await;
        child.wake();
        (task.id(), line, spawn(ready(())).id())
    });
    let id = parent.id();
    while workers[0].step() == Step::Ran {}
    let (child, line, unnamed) = handle.block_on(parent).unwrap();
    let events = log.take_of_tasks();
    let expected = Spawned {
        task: child,
        line,
        name: Some("child".to_owned()),
        parent: Some(id),
    };
    assert!(events.contains(&expected), "{events:?}");
    let by = Some(id);
    assert!(events.contains(&Woken { task: child, by }), "{events:?}");
    let is_unnamed =
        |event: &Event| matches!(event, Spawned { task, name: None, .. } if *task == unnamed);
    assert!(events.iter().any(is_unnamed), "{events:?}");
}

#[test]
fn a_search_and_a_steal_are_observed() {
    for (victim, worker) in [(0, 1), (1, 0)] {
        let log = Arc::new(Log::default());
        let (handle, mut workers) = Pool::stepped(log.config(config(2)), None);
        let _current = handle.enter();
        // The victim gets the tasks, one of them in its slot.
        drop(handle.spawn(async {
            for _ in 0..9 {
                drop(spawn(ready(())));
            }
        }));
        assert_eq!(workers[victim].step(), Step::Ran);
        log.take();
        assert_eq!(workers[worker].step(), Step::Ran);
        let events = log.take();
        let stole = Stole {
            worker,
            victim,
            count: 4,
        };
        assert_eq!(events[..2], [Searches(worker), stole], "{events:?}");
        assert!(
            matches!(events[2], Polls { worker: polls, .. } if polls == worker),
            "{events:?}"
        );
    }
}

/// A driver that reports events and timers forevery park.
struct BusyDriver;

impl Driver for BusyDriver {
    fn park(&mut self, _: Option<Duration>, _: usize) {}

    fn last_turn(&self) -> Turn {
        Turn {
            events: 3,
            timers: 5,
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(NoUnpark)
    }

    fn shutdown(&mut self) {}
}

struct NoUnpark;

impl Unpark for NoUnpark {
    fn unpark(&self) {}
}

#[test]
fn parks_and_driver_polls_are_observed() {
    let log = Arc::new(Log::default());
    let driver: Box<dyn Driver> = Box::new(BusyDriver);
    let (handle, mut workers) = Pool::stepped(log.config(config(1)), [driver]);
    let _current = handle.enter();
    log.take();
    assert_eq!(workers[0].step(), Step::Idle);
    assert!(workers[0].begin_park().unwrap().in_driver);
    assert!(workers[0].resume_park().is_none());
    let turn = Turn {
        events: 3,
        timers: 5,
    };
    let expected = [
        Parked(0),
        DriverStarted(0, Some(Duration::ZERO)),
        DriverFinished(0, turn),
        Unparked(0),
    ];
    let events = log.take();
    assert_eq!(events[events.len() - 4..], expected, "{events:?}");
    let task = handle.spawn(async {
        for _ in 0..200 {
            yield_now().await;
        }
    });
    while !task.is_finished() {
        assert_eq!(workers[0].step(), Step::Ran);
    }
    // A busy worker polls the driver between polls of tasks.
    assert!(log.count(&DriverStarted(0, Some(Duration::ZERO))) >= 3);
}

#[test]
fn root_polls_are_observed() {
    let log = Arc::new(Log::default());
    let scheduler = CurrentThread::new(log.config(Config::default()), None);
    scheduler.block_on(yield_now());
    let is_of_root = |event: &Event| {
        matches!(
            event,
            RootPolls(..) | RootPolled(..) | WorkerStarted(..) | WorkerStopped(..)
        )
    };
    let events: Vec<_> = log.take().into_iter().filter(is_of_root).collect();
    let expected = [
        WorkerStarted(0),
        RootPolls(Some(0)),
        RootPolled(Some(0), false),
        RootPolls(Some(0)),
        RootPolled(Some(0), true),
        WorkerStopped(0),
    ];
    assert_eq!(events, expected);

    let log = Arc::new(Log::default());
    let (handle, _workers) = Pool::stepped(log.config(config(1)), None);
    log.take();
    handle.block_on(ready(()));
    assert_eq!(log.take(), [RootPolls(None), RootPolled(None, true)]);
    let panicking = || handle.block_on(async { panic!("a future panics on purpose") });
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking)).is_err());
    assert_eq!(log.take(), [RootPolls(None), RootPolled(None, false)]);
}

#[test]
fn a_handoff_is_observed_on_the_thread_that_takes_over() {
    let log = Arc::new(Log::default());
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(log.config(config(1)));
    let task = pool.handle().spawn(async {
        block_in_place(|| {
            let handle = Handle::current();
            handle.block_on(handle.spawn(async {})).unwrap();
        });
    });
    let id = task.id();
    pool.handle().block_on(task).unwrap();
    wait_until(|| log.has(|event| *event == Ended(id, EndReason::Completed)));
    drop(pool);
    handoffs.join();
    let events = log.take();
    let place = |event: &Event| events.iter().position(|e| e == event);
    let taken_over = place(&HandedOff(0)).expect("the worker was handed off");
    assert_eq!(events.iter().filter(|e| **e == WorkerStarted(0)).count(), 2);
    let others = events[taken_over..].iter();
    assert!(others.clone().any(|event| *event == WorkerStarted(0)));
    // The thread that has lost the worker finishes its poll, but does not stop the worker.
    assert!(
        place(&Polled(None, id, PollResult::Ended)) > Some(taken_over),
        "{events:?}"
    );
    assert_eq!(events.iter().filter(|e| **e == WorkerStopped(0)).count(), 1);
}

#[test]
fn the_actions_of_the_monitor_are_observed() {
    let log = Arc::new(Log::default());
    let pool = Pool::start(log.config(config(2)), None).unwrap();
    let is_parked = || {
        let metrics = pool.handle().metrics();
        (0..2).all(|worker| metrics.worker(worker).parks > 0)
    };
    wait_until(is_parked);
    let took = |event: &Event| matches!(event, Acted(_, MonitorAction::TookNextTask));
    // A worker that was woken together with the worker of the task may still search, and then takes
    // the task itself.
    for _ in 0..100 {
        let task = pool.handle().spawn(async {
            let gate = Gate::default();
            let theirs = gate.clone();
            // The task goes to the slot of this worker, whose poll does not return before that task
            // has run.
            drop(spawn(async move { theirs.open() }));
            gate.wait();
        });
        pool.handle().block_on(task).unwrap();
        if log.has(took) {
            break;
        }
    }
    assert!(log.has(took), "{:?}", log.take());
}

#[test]
fn one_shutdown_is_observed() {
    for policy in POLICIES {
        let log = Arc::new(Log::default());
        let mut pool = Pool::start(log.config(config_of(policy, 3)), None).unwrap();
        assert_eq!(log.count(&Started(3)), 1);
        assert_eq!(log.count(&ShutdownStarted), 0);
        assert!(pool.shutdown(None));
        drop(pool);
        assert_eq!(log.count(&ShutdownStarted), 1, "{policy:?}");
        for worker in 0..3 {
            let started = log.count(&WorkerStarted(worker));
            // A thread that starts after the shutdown does not drive its worker.
            assert_eq!(log.count(&WorkerStopped(worker)), started);
        }
    }
    let log = Arc::new(Log::default());
    let mut scheduler = CurrentThread::new(log.config(Config::default()), None);
    scheduler.shutdown();
    drop(scheduler);
    assert_eq!(log.take(), [Started(1), ShutdownStarted]);

    let log = Arc::new(Log::default());
    let config = Config {
        unhandled_panic: UnhandledPanic::ShutdownRuntime,
        ..log.config(config_of(Policy::Sharded, 2))
    };
    let pool = Pool::start(config, None).unwrap();
    let task = pool
        .handle()
        .spawn(async { panic!("a task panics on purpose") });
    wait_until(|| task.is_finished());
    drop(pool);
    assert_eq!(log.count(&ShutdownStarted), 1);
}

/// The hook and the histogram each work without the other.
#[test]
fn hooks_and_the_histogram_see_a_poll_that_is_observed() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counts = calls.clone();
    let mut hooked = config(1);
    hooked.task_hooks.before_poll = Some(Arc::new(move |_: &raddle_sched::TaskMeta<'_>| {
        counts.fetch_add(1, SeqCst);
    }));
    let timed = Config {
        poll_time_histogram: Some(raddle_sched::HistogramConfiguration::default()),
        ..config(1)
    };
    for (config, expected) in [(hooked, (1, 0)), (timed, (1, 1))] {
        let (handle, mut workers) = Pool::stepped(Arc::new(Log::default()).config(config), None);
        let _current = handle.enter();
        drop(handle.spawn(async {}));
        assert_eq!(workers[0].step(), Step::Ran);
        let metrics = handle.metrics();
        let timed = metrics.poll_times(0).map_or(0, |times| {
            (0..times.num_buckets())
                .map(|bucket| times.count(bucket))
                .sum()
        });
        assert_eq!((calls.load(SeqCst), timed), expected);
    }
}

#[test]
fn a_panic_of_an_observer_ends_only_its_own_call() {
    let log = Arc::new(Log {
        panics: true,
        ..Log::default()
    });
    let pool = Pool::start(log.config(config(2)), None).unwrap();
    let task = pool.handle().spawn(async {
        let task = spawn(async {
            yield_now().await;
            21
        });
        2 * task.await.unwrap()
    });
    let id = task.id();
    assert_eq!(pool.handle().block_on(task).unwrap(), 42);
    drop(pool);
    assert!(log.has(|event| *event == Ended(id, EndReason::Completed)));
    assert!(log.has(|event| *event == ShutdownStarted));
}

/// The observer runs outside the worker's loop, but the thread keeps the worker.
#[test]
fn block_in_place_in_an_observer_does_not_hand_the_worker_off() {
    struct Blocks(Arc<Log>);

    impl Observer for Blocks {
        fn worker_handed_off(&self, worker: usize) {
            self.0.worker_handed_off(worker);
        }
        fn task_spawned(&self, _: &SpawnedTask<'_>) {
            block_in_place(|| thread::sleep(Duration::from_millis(1)));
        }
        fn poll_started(&self, _: usize, _: TaskRef<'_>) {
            block_in_place(|| thread::sleep(Duration::from_millis(1)));
        }
        fn poll_finished(&self, _: Option<usize>, _: Id, _: PollResult) {
            block_in_place(|| thread::sleep(Duration::from_millis(1)));
        }
        fn worker_parked(&self, _: usize) {
            block_in_place(|| thread::sleep(Duration::from_millis(1)));
        }
    }

    let log = Arc::new(Log::default());
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(Config {
        observer: Some(Arc::new(Blocks(log.clone()))),
        ..config(1)
    });
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            pool.handle().spawn(async {
                spawn(yield_now()).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        pool.handle().block_on(task).unwrap();
    }
    drop(pool);
    handoffs.join();
    assert_eq!(log.count(&HandedOff(0)), 0);
}
