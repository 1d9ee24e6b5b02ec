//! The shutdown of a pool while tasks block in place. It waits for their polls, and drops every
//! task once.

use std::cell::Cell;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::driver::Events;
use crate::common::handoff::Handoffs;
use crate::common::{DropTracker, Gate, OnDrop, Signal, config, config_without_spares, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{
    Config, Handle, Handoff, Pool, StartHandoff, TaskHook, TaskHooks, TaskMeta, UnhandledPanic,
    block_in_place, spawn,
};

/// Only a failing test waits this long.
const LIMIT: Duration = Duration::from_secs(20);

/// What the poll does after the blocking function has returned.
#[derive(Clone, Copy, Debug)]
enum Then {
    Completes,
    Waits,
    WakesItself,
    Panics,
}

impl Then {
    const ALL: [Self; 4] = [
        Self::Completes,
        Self::Waits,
        Self::WakesItself,
        Self::Panics,
    ];

    async fn continue_poll(self) {
        match self {
            Self::Completes => {}
            Self::Waits => pending().await,
            Self::WakesItself => raddle_sched::yield_now().await,
            Self::Panics => std::panic::resume_unwind(Box::new("planted")),
        }
    }
}

/// A pool with a task that blocks in place until the gate opens, and another task.
struct BlockedPool {
    pool: Pool,
    handoffs: Handoffs,
    tracker: DropTracker,
    gate: Gate,
}

impl BlockedPool {
    fn new(workers: usize, then: Then) -> Self {
        let handoffs = Handoffs::default();
        let pool = handoffs.pool(config(workers));
        let (tracker, gate) = (DropTracker::default(), Gate::default());
        let (theirs, tracked, other) = (gate.clone(), tracker.tracked(), tracker.tracked());
        let beside = Signal::default();
        let waits = beside.clone();
        drop(pool.handle().spawn(async move {
            let _tracked = tracked;
            drop(spawn(async move {
                let _other = other;
                waits.await;
            }));
            block_in_place(|| theirs.wait());
            then.continue_poll().await;
        }));
        // Another thread drives the worker once this condition holds.
        wait_until(|| beside.polls() == 1);
        Self {
            pool,
            handoffs,
            tracker,
            gate,
        }
    }
}

#[test]
fn shutdown_waits_for_the_function() {
    for then in Then::ALL {
        for workers in [1, 2] {
            let BlockedPool {
                mut pool,
                handoffs,
                tracker,
                gate,
            } = BlockedPool::new(workers, then);
            assert!(!pool.shutdown(Some(Duration::ZERO)));
            assert!(!pool.shutdown(Some(Duration::from_millis(5))));
            // The function may be waiting for the drop of the other task.
            wait_until(|| tracker.dropped() == 1);
            gate.open();
            assert!(pool.shutdown(None));
            assert_eq!(tracker.alive(), 0, "{then:?}");
            assert_eq!(tracker.dropped(), 2);
            // Bug: own (a task that the closed injection queue refused was counted for good).
            assert_eq!(pool.handle().metrics().alive_tasks(), 0, "{then:?}");
            drop(pool);
            handoffs.join();
        }
    }
}

#[test]
fn dropping_the_pool_waits_for_the_function() {
    for then in Then::ALL {
        let BlockedPool {
            pool,
            handoffs,
            tracker,
            gate,
        } = BlockedPool::new(1, then);
        let opener = thread::spawn(move || {
            thread::sleep(Duration::from_millis(2));
            gate.open();
        });
        drop(pool);
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 2));
        opener.join().unwrap();
        handoffs.join();
    }
}

/// The shutdown does not wait for the poll that drops the pool, neither inside nor after the
/// function.
#[test]
fn a_pool_that_is_dropped_inside_the_function_shuts_down_after_it() {
    for inside in [true, false] {
        let handoffs = Handoffs::default();
        let pool = Arc::new(Mutex::new(None::<Pool>));
        let (tracker, ended) = (DropTracker::default(), Arc::new(AtomicBool::new(false)));
        let (theirs, tracked) = (pool.clone(), tracker.tracked());
        *pool.lock() = Some(handoffs.pool(config(1)));
        let handle = pool.lock().as_ref().unwrap().handle().clone();
        let end = ended.clone();
        let task = handle.spawn(async move {
            let _tracked = tracked;
            let gate = Gate::default();
            let open = gate.clone();
            drop(spawn(async move { open.open() }));
            let drop_pool = || {
                let pool = theirs.lock().take();
                drop(pool);
                end.store(true, SeqCst);
            };
            block_in_place(|| {
                gate.wait();
                if inside {
                    drop_pool();
                }
            });
            if !inside {
                drop_pool();
            }
            pending::<()>().await;
        });
        wait_until(|| ended.load(SeqCst) && task.is_finished());
        wait_until(|| tracker.dropped() == 1);
        handoffs.join();
    }
}

/// The same for a hook, and for the drop of a task during the shutdown, which keep their worker.
#[test]
fn a_pool_that_is_dropped_inside_a_hook_or_a_drop_shuts_down_after_it() {
    for in_hook in [true, false] {
        let kept = Arc::new(Mutex::new(None::<Pool>));
        let (theirs, gone) = (kept.clone(), Gate::default());
        let opens = gone.clone();
        let drop_pool = move || {
            let pool = theirs.lock().take();
            if pool.is_some() {
                block_in_place(|| drop(pool));
                opens.open();
            }
        };
        let mut before_poll = None;
        let mut guard = None;
        match in_hook {
            true => before_poll = Some(Arc::new(move |_: &TaskMeta<'_>| drop_pool()) as TaskHook),
            false => guard = Some(OnDrop(drop_pool)),
        }
        let config = Config {
            unhandled_panic: UnhandledPanic::ShutdownRuntime,
            task_hooks: TaskHooks {
                before_poll,
                ..TaskHooks::default()
            },
            ..config(1)
        };
        let pool = Pool::start(config, None).unwrap();
        let handle = pool.handle().clone();
        *kept.lock() = Some(pool);
        let signal = Signal::default();
        let waits = signal.clone();
        drop(handle.spawn(async move {
            let _guard = guard;
            waits.await;
        }));
        if !in_hook {
            wait_until(|| signal.polls() == 1);
            drop(handle.spawn(async { panic!("a task panics on purpose") }));
        }
        gone.wait();
    }
}

/// No thread drives the worker when the scheduler shuts down.
#[test]
fn shutdown_does_not_wait_for_a_handoff_that_never_arrives() {
    for runs_late in [true, false] {
        let kept = Arc::new(Mutex::new(Vec::<Handoff>::new()));
        let theirs = kept.clone();
        let config = Config {
            handoff: Some(Arc::new(move |handoff| theirs.lock().push(handoff))),
            ..config_without_spares(1)
        };
        let mut pool = Pool::start(config, None).unwrap();
        let (tracker, gate, entered) = (DropTracker::default(), Gate::default(), Gate::default());
        let (tracked, theirs, inside) = (tracker.tracked(), gate.clone(), entered.clone());
        drop(pool.handle().spawn(async move {
            let _tracked = tracked;
            block_in_place(|| {
                inside.open();
                theirs.wait();
            });
            pending::<()>().await;
        }));
        entered.wait();
        assert!(!pool.shutdown(Some(Duration::ZERO)));
        if runs_late {
            // The handoff finds that the scheduler has shut down, and retires the worker.
            let handoff = kept.lock().pop().unwrap();
            handoff.run();
        }
        assert!(!pool.shutdown(Some(Duration::ZERO)));
        gate.open();
        assert!(pool.shutdown(None));
        assert_eq!(tracker.dropped(), 1);
        kept.lock().drain(..).for_each(Handoff::run);
    }
}

/// At the shutdown one thread drives all workers.
#[test]
fn a_future_that_shutdown_drops_may_block_in_place() {
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(config_without_spares(2));
    let signal = Signal::default();
    let waits = signal.clone();
    drop(pool.handle().spawn(async move {
        let _blocks = OnDrop(|| {
            let handle = Handle::current();
            block_in_place(|| handle.block_on(async {}));
        });
        waits.await;
    }));
    wait_until(|| signal.polls() == 1);
    drop(pool);
    assert_eq!(handoffs.count(), 0);
}

/// Blocking functions begin, run and return while the pool shuts down.
#[test]
fn shutdown_may_begin_while_functions_begin_and_return() {
    for round in 0..200 {
        let handoffs = Handoffs::default();
        let pool = handoffs.pool(config(1 + round % 2));
        let tracker = DropTracker::default();
        for number in 0..8 {
            let tracked = tracker.tracked();
            drop(pool.handle().spawn(async move {
                let _tracked = tracked;
                for _ in 0..number {
                    block_in_place(thread::yield_now);
                    raddle_sched::yield_now().await;
                }
                Then::ALL[number % 3].continue_poll().await;
            }));
        }
        for _ in 0..round {
            thread::yield_now();
        }
        drop(pool);
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 8));
        handoffs.join();
    }
}

/// A pool with a driver. Tasks may wait for the shutdown of the driver.
fn pool_with_driver(config: Config) -> (Pool, raddle_primitives::sync::Arc<Events>) {
    let events = Events::new();
    let driver = Events::driver(&events);
    (Pool::start(config, Some(driver)).unwrap(), events)
}

/// Keeps each handoff: no thread drives the worker, but none refuses it either.
fn keep_handoffs() -> StartHandoff {
    let kept = Mutex::new(Vec::new());
    Arc::new(move |handoff| kept.lock().push(handoff))
}

#[test]
fn a_worker_that_no_thread_drives_is_retired_by_the_shutdown() {
    let config = Config {
        handoff: Some(keep_handoffs()),
        ..config(1)
    };
    let (mut pool, events) = pool_with_driver(config);
    let entered = Gate::default();
    let inside = entered.clone();
    drop(pool.handle().spawn(async move {
        block_in_place(|| {
            inside.open();
            events.wait_for_shutdown();
        });
    }));
    entered.wait();
    assert!(pool.shutdown(Some(LIMIT)));
}

thread_local! {
    /// Whether the worker of this thread must panic when it parks.
    static PANICS_ON_PARK: Cell<bool> = const { Cell::new(false) };
}

/// The shutdown has already retired the undriven workers. Then it drops a task of a retired worker,
/// and that drop lets the blocking function begin.
#[test]
fn a_worker_that_is_left_during_the_shutdown_is_retired_by_it() {
    let retired = Gate::default();
    let retires = retired.clone();
    let config = Config {
        handoff: Some(keep_handoffs()),
        on_thread_park: Some(Arc::new(|| {
            assert!(!PANICS_ON_PARK.replace(false), "a hook panics on purpose");
        })),
        around_worker: Some(Arc::new(move |_, run| {
            let _opens = OnDrop(|| {
                if thread::panicking() {
                    retires.open();
                }
            });
            run();
        })),
        ..config(2)
    };
    let (mut pool, events) = pool_with_driver(config);
    let begins = Gate::default();
    let lets_begin = begins.clone();
    drop(pool.handle().spawn(async move {
        let _lets_begin = OnDrop(|| lets_begin.open());
        PANICS_ON_PARK.set(true);
        pending::<()>().await;
    }));
    retired.wait();
    let entered = Gate::default();
    let inside = entered.clone();
    drop(pool.handle().spawn(async move {
        inside.open();
        begins.wait();
        block_in_place(|| events.wait_for_shutdown());
    }));
    entered.wait();
    let start = Instant::now();
    assert!(pool.shutdown(Some(LIMIT)));
    // The handoff wakes the shutdown; it does not wait for the time-out.
    assert!(start.elapsed() < LIMIT);
}

/// Another thread was requested for the worker before the shutdown and has not come. The shutdown
/// has already searched for undriven workers.
#[test]
fn a_worker_that_is_left_again_during_the_shutdown_is_retired_by_it() {
    let config = Config {
        handoff: Some(keep_handoffs()),
        ..config(1)
    };
    let (mut pool, events) = pool_with_driver(config);
    let (entered, begins) = (Gate::default(), Gate::default());
    let (inside, waits) = (entered.clone(), begins.clone());
    drop(pool.handle().spawn(async move {
        block_in_place(|| ());
        inside.open();
        waits.wait();
        block_in_place(|| events.wait_for_shutdown());
    }));
    entered.wait();
    let shutdown = thread::spawn(move || {
        let start = Instant::now();
        pool.shutdown(Some(LIMIT)) && start.elapsed() < LIMIT
    });
    thread::sleep(Duration::from_millis(50));
    begins.open();
    assert!(shutdown.join().unwrap(), "the worker is not retired");
}

/// The handoff comes when no thread waits for the shutdown.
#[test]
fn a_worker_whose_handoff_is_dropped_after_the_shutdown_is_retired() {
    let config = Config {
        handoff: Some(Arc::new(drop)),
        ..config(1)
    };
    let (mut pool, events) = pool_with_driver(config);
    let (entered, begins) = (Gate::default(), Gate::default());
    let (inside, waits) = (entered.clone(), begins.clone());
    let task = pool.handle().spawn(async move {
        inside.open();
        waits.wait();
        block_in_place(|| events.wait_for_shutdown());
    });
    entered.wait();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    begins.open();
    wait_until(|| task.is_finished());
    assert!(pool.shutdown(Some(LIMIT)));
}

/// The shutdown does not take the worker, although it waits for no other worker.
#[test]
fn a_worker_for_which_no_threads_are_configured_keeps_its_poll() {
    let mut pool = Pool::start(config(1), None).unwrap();
    let handle = pool.handle().clone();
    let (entered, gate) = (Gate::default(), Gate::default());
    let (inside, waits) = (entered.clone(), gate.clone());
    let task = handle.clone().spawn(async move {
        block_in_place(|| {
            inside.open();
            waits.wait();
        });
        handle.current_worker()
    });
    entered.wait();
    assert!(!pool.shutdown(Some(Duration::ZERO)));
    gate.open();
    assert!(pool.shutdown(Some(LIMIT)));
    assert_eq!(pool.handle().block_on(task).unwrap(), Some(0));
}

/// Two tasks block in place, and one waits for the drop of the other. The last worker has retired,
/// so no worker takes the other task from its queue.
#[test]
fn a_function_may_wait_for_the_drop_of_a_task_in_another_function() {
    let handoffs = Handoffs::default();
    let (mut pool, events) = pool_with_driver(handoffs.config(config(1)));
    let (first, second, dropped) = (Gate::default(), Gate::default(), Gate::default());
    let (inside, drops) = (first.clone(), dropped.clone());
    drop(pool.handle().spawn(async move {
        let _drops = OnDrop(|| drops.open());
        block_in_place(|| {
            inside.open();
            events.wait_for_shutdown();
        });
        pending::<()>().await;
    }));
    first.wait();
    let inside = second.clone();
    drop(pool.handle().spawn(async move {
        block_in_place(|| {
            inside.open();
            dropped.wait();
        });
    }));
    second.wait();
    assert!(pool.shutdown(Some(LIMIT)));
    handoffs.join();
}

/// A task blocks in place. The worker retires when a hook panics, so the scheduler shuts down
/// before the function returns. The other task is dropped and counted, and what its drop spawns is
/// cancelled at once.
#[test]
fn the_last_worker_shuts_down_while_a_function_runs() {
    let armed = Arc::new(AtomicBool::new(false));
    let panics = armed.clone();
    let config = Config {
        handoff: Some(Arc::new(|handoff: Handoff| {
            thread::spawn(move || handoff.run());
        })),
        on_thread_park: Some(Arc::new(move || {
            assert!(!panics.load(SeqCst), "a hook panics on purpose");
        })),
        ..config(1)
    };
    let (mut pool, events) = pool_with_driver(config);
    let spawned = Arc::new(Mutex::new(None));
    let (signal, spawns) = (Signal::default(), spawned.clone());
    let waits = signal.clone();
    drop(pool.handle().spawn(async move {
        let _spawns = OnDrop(|| *spawns.lock() = Some(spawn(async {}).is_finished()));
        waits.await;
    }));
    wait_until(|| signal.polls() == 1);
    let task = pool.handle().spawn(async move {
        armed.store(true, SeqCst);
        block_in_place(|| events.wait_for_shutdown());
    });
    wait_until(|| task.is_finished());
    assert_eq!(*spawned.lock(), Some(true));
    assert!(pool.shutdown(Some(LIMIT)));
    assert_eq!(pool.handle().metrics().alive_tasks(), 0);
}
