//! When the scheduler polls its driver, and what the driver's events do.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::driver::Events;
use crate::common::{OnDrop, POLICIES, SHARING, SelfWaking, Signal, config_of, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{
    Config, CurrentThread, Driver, Policy, Pool, UnhandledPanic, Unpark, spawn, yield_now,
};

fn with_driver(config: Config) -> (Arc<Events>, Pool) {
    let events = Events::new();
    let pool = Pool::start(config, Some(Events::driver(&events))).unwrap();
    (events, pool)
}

#[test]
fn a_spawn_ends_the_park_in_the_driver() {
    for policy in SHARING {
        for workers in [1, 2] {
            let (events, pool) = with_driver(config_of(policy, workers));
            for round in 0..100 {
                if round % 10 == 0 {
                    let parks = events.with(|state| state.parks);
                    wait_until(|| parks == 0 || events.with(|state| state.parks) >= parks);
                }
                let task = pool.handle().spawn(async {});
                pool.handle().block_on(task).unwrap();
            }
        }
    }
}

#[test]
fn events_wake_tasks() {
    for policy in SHARING {
        for workers in [1, 2, 4] {
            let (events, pool) = with_driver(config_of(policy, workers));
            let signals: Vec<_> = (0..8).map(|_| Signal::default()).collect();
            for signal in &signals {
                drop(pool.handle().spawn(signal.clone()));
            }
            for round in 1..=50 {
                for signal in &signals {
                    wait_until(|| signal.polls() == round);
                    events.raise(signal.waker());
                }
            }
            for signal in &signals {
                wait_until(|| signal.polls() == 51);
            }
        }
    }
}

/// tokio 8410: more events at once than the local queue holds.
#[test]
fn a_batch_of_events_fits_into_the_queue() {
    for policy in POLICIES {
        for busy in [false, true] {
            let (events, pool) = with_driver(config_of(policy, 1));
            let signals: Vec<_> = (0..1024).map(|_| Signal::default()).collect();
            for signal in &signals {
                drop(pool.handle().spawn(signal.clone()));
            }
            for signal in &signals {
                wait_until(|| signal.polls() == 1);
            }
            if busy {
                drop(pool.handle().spawn(SelfWaking(Arc::default())));
            }
            events.raise(signals.iter().map(|signal| signal.waker().unwrap()));
            for signal in &signals {
                wait_until(|| signal.polls() == 2);
            }
            let (batch, limit) = events.with(|state| (state.largest_batch, state.largest_limit));
            assert!(limit <= 256 && batch <= limit, "{batch} of {limit}");
        }
    }
}

/// tokio 8212.
#[test]
fn a_park_hook_that_always_spawns_does_not_prevent_driver_polls() {
    for policy in POLICIES {
        let signal = Signal::default();
        let hooked = signal.clone();
        let (events, pool) = with_driver(Config {
            on_thread_park: Some(Arc::new(move || {
                if let Some(waker) = hooked.waker() {
                    waker.wake();
                }
            })),
            ..config_of(policy, 1)
        });
        drop(pool.handle().spawn(signal.clone()));
        let event = Signal::default();
        drop(pool.handle().spawn(event.clone()));
        for round in 1..=20 {
            wait_until(|| event.polls() == round);
            events.raise(event.waker());
        }
        wait_until(|| event.polls() == 21);
        assert!(signal.polls() > 1);
    }
}

#[test]
fn a_park_hook_may_spawn() {
    for policy in POLICIES {
        let (spawned, ran) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let (hooked, theirs) = (spawned.clone(), ran.clone());
        let (_events, _pool) = with_driver(Config {
            on_thread_park: Some(Arc::new(move || {
                if !hooked.swap(true, Ordering::SeqCst) {
                    let ran = theirs.clone();
                    drop(spawn(async move { ran.store(true, Ordering::SeqCst) }));
                }
            })),
            ..config_of(policy, 1)
        });
        wait_until(|| ran.load(Ordering::SeqCst));
    }
}

/// tokio 8372: a driver that returns without a reason.
#[test]
fn spurious_returns_of_the_driver_lose_no_task() {
    for policy in SHARING {
        for workers in [1, 2, 4] {
            let (events, pool) = with_driver(config_of(policy, workers));
            for round in 0..200 {
                events.with(|state| state.spurious = round % 7);
                Unpark::unpark(&*events);
                let task = pool
                    .handle()
                    .spawn(async { spawn(async {}).await.unwrap() });
                pool.handle().block_on(task).unwrap();
            }
        }
    }
}

#[test]
fn the_driver_is_shut_down_once_after_the_tasks() {
    for policy in SHARING {
        for workers in [1, 3] {
            let (events, pool) = with_driver(config_of(policy, workers));
            let shutdowns = Arc::new(AtomicUsize::new(usize::MAX));
            let (theirs, seen) = (events.clone(), shutdowns.clone());
            let guard = OnDrop(move || {
                seen.store(theirs.with(|state| state.shutdowns), Ordering::SeqCst);
            });
            drop(pool.handle().spawn(async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }));
            drop(pool);
            assert_eq!(shutdowns.load(Ordering::SeqCst), 0);
            assert_eq!(events.with(|state| state.shutdowns), 1);
        }
        let events = Events::new();
        let driver = Events::driver(&events);
        let mut scheduler = CurrentThread::new(Config::default(), Some(driver));
        scheduler.block_on(async {});
        scheduler.shutdown();
        scheduler.shutdown();
        drop(scheduler);
        assert_eq!(events.with(|state| state.shutdowns), 1);
    }
}

#[test]
fn the_current_thread_parks_in_the_driver() {
    let events = Events::new();
    let driver = Events::driver(&events);
    let scheduler = CurrentThread::new(Config::default(), Some(driver));
    let signal = Signal::default();
    let task = scheduler.handle().spawn(signal.clone());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until(|| signal.polls() == 1);
            events.with(|state| state.spurious = 3);
            events.raise(signal.waker());
            wait_until(|| signal.polls() == 2);
            signal.set();
        });
        scheduler.block_on(task).unwrap();
    });
    assert!(events.with(|state| state.parks) > 0);
}

/// Issue 31: a system call each time, for a thread that did not wait.
#[test]
fn a_future_or_task_that_the_driver_wakes_does_not_unpark_the_driver() {
    let events = Events::new();
    let driver = Events::driver(&events);
    let scheduler = CurrentThread::new(Config::default(), Some(driver));
    scheduler.block_on(wait_for_events(events.clone(), 10));
    let unparks = events.with(|state| state.unparks);
    assert_eq!(unparks, 0, "the future of block_on");
    let task = scheduler
        .handle()
        .spawn(wait_for_events(events.clone(), 10));
    scheduler.block_on(task).unwrap();
    let unparks = events.with(|state| state.unparks);
    assert_eq!(unparks, 0, "a task");
}

/// The hook runs after the last check of the future, and the driver would wait without a limit.
#[test]
fn a_future_that_a_park_hook_wakes_is_polled() {
    for has_driver in [false, true] {
        let woken = Arc::new(Mutex::new(None::<Waker>));
        let hooked = woken.clone();
        let config = Config {
            on_thread_park: Some(Arc::new(move || {
                let waker = hooked.lock().take();
                if let Some(waker) = waker {
                    waker.wake();
                }
            })),
            ..Config::default()
        };
        let driver = has_driver.then(|| Events::driver(&Events::new()));
        let scheduler = CurrentThread::new(config, driver);
        let mut polls = 0;
        scheduler.block_on(poll_fn(|cx| {
            polls += 1;
            *woken.lock() = Some(cx.waker().clone());
            if polls > 10 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
    }
}

/// Waits `count` times for an event that the driver dispatches.
async fn wait_for_events(events: Arc<Events>, count: usize) {
    for _ in 0..count {
        let mut is_raised = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut is_raised, true) {
                return Poll::Ready(());
            }
            events.raise([cx.waker().clone()]);
            Poll::Pending
        })
        .await;
    }
}

#[test]
fn a_worker_with_yielding_tasks_only_polls_the_driver_before_it_runs_them_again() {
    for policy in POLICIES {
        let (events, pool) = with_driver(config_of(policy, 1));
        let task = pool.handle().spawn(yields_until_woken(events.clone()));
        let rounds = pool.handle().block_on(task).unwrap();
        assert!(rounds <= 3, "{rounds} rounds on {policy:?}");
    }
}

#[test]
fn a_current_thread_with_a_yielding_future_only_polls_the_driver() {
    let events = Events::new();
    let driver = Events::driver(&events);
    let scheduler = CurrentThread::new(Config::default(), Some(driver));
    let task = scheduler.handle().spawn(yields_until_woken(events.clone()));
    let rounds = scheduler.block_on(task).unwrap();
    assert!(rounds <= 3, "{rounds} rounds of a task");
    let rounds = scheduler.block_on(yields_until_woken(events));
    assert!(rounds <= 3, "{rounds} rounds of the future");
}

#[test]
fn tasks_that_use_up_their_budget_do_not_prevent_driver_polls() {
    let (events, pool) = with_driver(config_of(Policy::WorkStealing, 1));
    let seen = Flag::raised_by(&events);
    let task = pool.handle().spawn(async move {
        let mut units = 0;
        while !seen.is_set() {
            raddle_leaf::coop::consume_budget().await;
            units += 1;
        }
        units
    });
    let units = pool.handle().block_on(task).unwrap();
    assert!(units <= 3 * 128, "{units} units");
}

#[test]
fn many_yielding_tasks_cause_no_more_driver_polls_than_the_event_interval() {
    let (events, pool) = with_driver(config_of(Policy::WorkStealing, 1));
    let handle = pool.handle().clone();
    let root = pool.handle().spawn(async move {
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                handle.spawn(async {
                    for _ in 0..50 {
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    let before = events.with(|state| state.parks);
    let start = Instant::now();
    pool.handle().block_on(root).unwrap();
    let driver_polls = events.with(|state| state.parks) - before;
    // 10,000 polls, one driver poll for each 61 of them, and some for tasks that begin and end.
    let due = 10_000 / 61 + 70;
    // A slow machine adds at most one driver poll every millisecond.
    let by_time = usize::try_from(start.elapsed().as_millis()).unwrap();
    assert!(driver_polls <= due + by_time, "{driver_polls} driver polls");
}

/// Yields until the driver has been polled, and returns the number of yields.
async fn yields_until_woken(events: Arc<Events>) -> usize {
    let seen = Flag::raised_by(&events);
    let mut rounds = 0;
    while !seen.is_set() {
        yield_now().await;
        rounds += 1;
    }
    rounds
}

/// Is set when the driver has dispatched an event.
#[derive(Clone)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn raised_by(events: &Events) -> Self {
        let flag = Self(Arc::new(AtomicBool::new(false)));
        events.raise([Waker::from(Arc::new(flag.clone()))]);
        flag
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Without an `event_interval`, several workers poll the driver about once in a millisecond: less
/// often than after a fixed number of short polls, and still often enough.
#[test]
fn busy_workers_poll_the_driver_about_once_in_a_millisecond() {
    let (events, pool) = with_driver(config_of(Policy::WorkStealing, 2));
    let is_wanted = Arc::new(AtomicBool::new(true));
    let polls = Arc::new(AtomicUsize::new(0));
    for _ in 0..4 {
        let (is_wanted, polls) = (is_wanted.clone(), polls.clone());
        // The tasks do not yield: after that the driver would be polled.
        drop(pool.handle().spawn(poll_fn(move |cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            cx.waker().wake_by_ref();
            match is_wanted.load(Ordering::Relaxed) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            }
        })));
    }
    let start = Instant::now();
    let before = events.with(|state| state.parks);
    for _ in 0..20 {
        let flag = Flag::raised_by(&events);
        wait_until(|| flag.is_set());
    }
    wait_until(|| polls.load(Ordering::Relaxed) > 200_000);
    let driver_polls = events.with(|state| state.parks) - before;
    let most = 2 * (start.elapsed().as_millis() as usize + 1) + 20;
    is_wanted.store(false, Ordering::Relaxed);
    assert!(
        driver_polls <= most,
        "{driver_polls} driver polls, of at most {most}"
    );
}

/// Each poll takes longer than the time that may pass between two driver polls.
#[test]
fn slow_polls_on_pool_threads_shorten_the_interval_of_driver_polls() {
    const POLLS: usize = 16;
    for policy in POLICIES {
        let config = Config {
            event_interval: Some(4),
            ..config_of(policy, 1)
        };
        let (events, pool) = with_driver(config);
        let mut polls = 0;
        let events_of_task = events.clone();
        let task = pool.handle().spawn(poll_fn(move |cx| {
            polls += 1;
            std::thread::sleep(Duration::from_millis(4));
            // The task does not yield: after a yield the driver would be polled.
            cx.waker().wake_by_ref();
            match polls {
                POLLS => Poll::Ready(events_of_task.with(|state| state.parks)),
                _ => Poll::Pending,
            }
        }));
        let driver_polls = pool.handle().block_on(task).unwrap();
        assert!(
            driver_polls >= POLLS - 6,
            "{driver_polls} driver polls under {policy:?}"
        );
    }
}

/// A caller that has parked a worker without blocking may let a thread run it.
/// A driver each of whose parks takes a few milliseconds.
struct SlowDriver(Box<dyn Driver>);

impl Driver for SlowDriver {
    fn park(&mut self, timeout: Option<Duration>, limit: usize) {
        thread::sleep(Duration::from_millis(3));
        self.0.park(timeout, limit);
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        self.0.unparker()
    }

    fn shutdown(&mut self) {
        self.0.shutdown();
    }
}

#[test]
fn a_driver_that_takes_long_is_not_polled_before_each_task() {
    let events = Events::new();
    let driver = SlowDriver(Events::driver(&events));
    let config = config_of(Policy::WorkStealing, 1);
    let pool = Pool::start(config, Some(Box::new(driver) as Box<dyn Driver>)).unwrap();
    let polls = Arc::new(AtomicUsize::new(0));
    drop(pool.handle().spawn(SelfWaking(polls.clone())));
    wait_until(|| polls.load(Ordering::SeqCst) >= 2000);
    let driver_polls = events.with(|state| state.parks);
    assert!(driver_polls < 1000, "{driver_polls} driver polls");
}

/// Behind many tasks in slow polls it would wait for all of them.
#[test]
fn a_task_that_an_event_wakes_goes_before_tasks_in_slow_polls() {
    let (events, pool) = with_driver(config_of(Policy::WorkStealing, 1));
    let signal = Signal::default();
    drop(pool.handle().spawn(signal.clone()));
    wait_until(|| signal.polls() == 1);
    let polls = Arc::new(AtomicUsize::new(0));
    let is_done = Arc::new(AtomicBool::new(false));
    let tasks = [(); 20].map(|()| {
        let (polls, is_done) = (polls.clone(), is_done.clone());
        pool.handle().spawn(poll_fn(move |cx| {
            if is_done.load(Ordering::SeqCst) {
                return Poll::Ready(());
            }
            thread::sleep(Duration::from_millis(2));
            polls.fetch_add(1, Ordering::SeqCst);
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
    });
    // The worker knows by then that the polls are slow.
    wait_until(|| polls.load(Ordering::SeqCst) >= 100);
    let mut shortest = usize::MAX;
    for round in 2..10 {
        let before = polls.load(Ordering::SeqCst);
        events.raise(signal.waker());
        wait_until(|| signal.polls() == round);
        shortest = shortest.min(polls.load(Ordering::SeqCst) - before);
    }
    is_done.store(true, Ordering::SeqCst);
    for task in tasks {
        pool.handle().block_on(task).unwrap();
    }
    assert!(shortest < 10, "the woken task waits for {shortest} polls");
}

#[test]
fn a_parked_worker_that_is_run_leaves_its_park() {
    for policy in POLICIES {
        let events = Events::new();
        let config = Config {
            unhandled_panic: UnhandledPanic::ShutdownRuntime,
            ..config_of(policy, 1)
        };
        let driver = Events::driver(&events);
        let (handle, mut workers) = Pool::stepped(config, Some(driver));
        let mut worker = workers.pop().unwrap();
        assert!(worker.begin_park().unwrap().in_driver);
        let theirs = handle.clone();
        let runner = std::thread::spawn(move || {
            let _current = theirs.enter();
            worker.run();
        });
        // The worker waits in the driver again.
        wait_until(|| events.with(|state| state.parks) > 0);
        drop(handle.spawn(async {
            std::panic::resume_unwind(Box::new(()));
        }));
        runner.join().unwrap();
        assert_eq!(events.with(|state| state.shutdowns), 1, "{policy:?}");
    }
}
