//! The shutdown of a pool: every future is dropped once, on a worker.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{
    DropTracker, Gate, OnDrop, POLICIES, SHARING, SelfWaking, Signal, config_of, message_of,
    pool_of, wait_until,
};
use raddle_primitives::sync::Mutex;
use raddle_sched::{
    Config, Driver, Handle, Policy, Pool, Step, UnhandledPanic, Unpark, spawn, yield_now,
};

#[test]
fn tasks_in_every_state_are_dropped_on_a_worker() {
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let tracker = DropTracker::default();
            let pool = pool_of(policy, workers);
            let ids = Arc::new(Mutex::new(Vec::new()));
            let (gate, stuck) = (Gate::default(), Gate::default());
            // Tasks that wait, tasks that wake themselves, and tasks that join others.
            let mut signals = Vec::new();
            for _ in 0..20 {
                let (tracked, signal) = (tracker.tracked(), Signal::default());
                signals.push(signal.clone());
                drop(pool.handle().spawn(async move {
                    let _tracked = tracked;
                    signal.await;
                }));
                let tracked = tracker.tracked();
                drop(pool.handle().spawn(async move {
                    let _tracked = tracked;
                    SelfWaking(Arc::default()).await;
                }));
                let (tracked, inner) = (tracker.tracked(), tracker.tracked());
                drop(pool.handle().spawn(async move {
                    let _tracked = tracked;
                    let _ = spawn(async move {
                        let _inner = inner;
                        std::future::pending::<()>().await;
                    })
                    .await;
                }));
            }
            wait_until(|| signals.iter().all(|signal| signal.polls() == 1));
            // Every worker is inside a poll, so the tasks spawned below stay queued.
            let entered = Arc::new(AtomicUsize::new(0));
            for count in 1..=workers {
                let (gate, here, ids) = (gate.clone(), entered.clone(), ids.clone());
                drop(pool.handle().spawn(async move {
                    ids.lock().push(std::thread::current().id());
                    here.fetch_add(1, Ordering::SeqCst);
                    gate.wait();
                    yield_now().await;
                }));
                // Spawn one at a time. If a worker took two in one batch, the second would wait
                // behind the first: the other workers are busy with the self-waking tasks and do
                // not steal.
                wait_until(|| entered.load(Ordering::SeqCst) == count);
            }
            for _ in 0..1000 {
                let tracked = tracker.tracked();
                drop(pool.handle().spawn(async move { drop(tracked) }));
            }
            let queued = tracker.alive();
            assert!(queued >= 1000);
            let opener = {
                let mut pool = pool;
                let stuck = stuck.clone();
                std::thread::spawn(move || {
                    assert!(!pool.shutdown(Some(Duration::ZERO)));
                    stuck.open();
                    assert!(pool.shutdown(None));
                })
            };
            stuck.wait();
            gate.open();
            opener.join().unwrap();
            assert_eq!(tracker.alive(), 0);
            let ids = ids.lock();
            assert!(tracker.drop_threads().iter().all(|id| ids.contains(id)));
        }
    }
}

#[test]
fn join_handles_of_dropped_tasks_return_cancelled() {
    for policy in POLICIES {
        let mut pool = pool_of(policy, 2);
        let tasks: Vec<_> = (0..100)
            .map(|_| pool.handle().spawn(std::future::pending::<()>()))
            .collect();
        assert!(pool.shutdown(None));
        for task in tasks {
            assert!(task.is_finished());
            assert!(pool.handle().block_on(task).unwrap_err().is_cancelled());
        }
    }
}

/// A `block_on` that joins a task returns an error, since there will be no output.
#[test]
fn a_thread_that_joins_a_task_is_woken() {
    for policy in POLICIES {
        let pool = pool_of(policy, 1);
        let signal = Signal::default();
        let task = pool.handle().spawn(signal.clone());
        let handle = pool.handle().clone();
        let joiner = std::thread::spawn(move || handle.block_on(task).unwrap_err().is_cancelled());
        wait_until(|| signal.polls() == 1);
        drop(pool);
        assert!(joiner.join().unwrap());
    }
}

/// tokio 2074: the drop of one task wakes another, and takes a lock that the drop of the other
/// takes too.
#[test]
fn a_dropped_future_may_use_other_tasks() {
    for policy in POLICIES {
        for workers in [1, 2, 3] {
            let tracker = DropTracker::default();
            let pool = pool_of(policy, workers);
            let signals: Vec<_> = (0..30).map(|_| Signal::default()).collect();
            let lock = Arc::new(Mutex::new(()));
            for place in 0..signals.len() {
                let (own, next) = (
                    signals[place].clone(),
                    signals[(place + 1) % signals.len()].clone(),
                );
                let (tracked, lock) = (tracker.tracked(), lock.clone());
                let guard = OnDrop(move || {
                    let _tracked = &tracked;
                    let _lock = lock.lock();
                    next.set();
                });
                drop(pool.handle().spawn(async move {
                    let _guard = guard;
                    loop {
                        own.clone().await;
                    }
                }));
            }
            wait_until(|| signals.iter().all(|signal| signal.polls() == 1));
            drop(pool);
            assert_eq!((tracker.alive(), tracker.dropped()), (0, 30));
        }
    }
}

/// A drop may spawn. The task is cancelled at once, and its drop may spawn again.
#[test]
fn a_dropped_future_may_spawn() {
    for policy in POLICIES {
        for workers in [1, 2] {
            let tracker = DropTracker::default();
            let pool = pool_of(policy, workers);
            let cancelled = Arc::new(AtomicUsize::new(0));
            for _ in 0..10 {
                let (first, second) = (tracker.tracked(), tracker.tracked());
                let (counted, mut parts) = (cancelled.clone(), Some((first, second)));
                let guard = OnDrop(move || {
                    let (first, second) = parts.take().unwrap();
                    let task = spawn(async move {
                        let _first = first;
                        let _guard = OnDrop(|| ());
                    });
                    assert!(task.is_finished());
                    counted.fetch_add(1, Ordering::SeqCst);
                    let nested = OnDrop(move || {
                        let _second = &second;
                        drop(Handle::current().spawn(async {}));
                    });
                    drop(spawn(async move { drop(nested) }));
                });
                drop(pool.handle().spawn(async move {
                    let _guard = guard;
                    std::future::pending::<()>().await;
                }));
            }
            drop(pool);
            assert_eq!(cancelled.load(Ordering::SeqCst), 10);
            assert_eq!((tracker.alive(), tracker.dropped()), (0, 20));
        }
    }
}

#[test]
fn a_drop_that_panics_does_not_prevent_the_others() {
    for policy in POLICIES {
        let tracker = DropTracker::default();
        let mut pool = pool_of(policy, 2);
        for place in 0..20 {
            let tracked = tracker.tracked();
            let guard = OnDrop(move || {
                let _tracked = &tracked;
                assert!(place % 2 == 0, "a drop panics on purpose");
            });
            drop(pool.handle().spawn(async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }));
        }
        assert!(pool.shutdown(None));
        assert_eq!(tracker.alive(), 0);
    }
}

#[test]
fn a_shutdown_returns_after_its_timeout() {
    for policy in POLICIES {
        let tracker = DropTracker::default();
        let mut pool = pool_of(policy, 2);
        let (gate, entered) = (Gate::default(), Gate::default());
        let (inside, open, tracked) = (gate.clone(), entered.clone(), tracker.tracked());
        drop(pool.handle().spawn(async move {
            let _tracked = tracked;
            open.open();
            inside.wait();
            yield_now().await;
        }));
        entered.wait();
        assert!(!pool.shutdown(Some(Duration::ZERO)));
        assert!(!pool.shutdown(Some(Duration::from_millis(20))));
        assert_eq!(tracker.alive(), 1);
        // The drop does not wait for the task after that.
        drop(pool);
        gate.open();
        wait_until(|| tracker.alive() == 0);
    }
}

/// The shutdown waits for a poll. Meanwhile no worker would drop the task.
#[test]
fn a_spawn_during_shutdown_is_cancelled_at_once() {
    for policy in POLICIES {
        let mut pool = pool_of(policy, 1);
        let (gate, entered) = (Gate::default(), Gate::default());
        let (inside, open) = (gate.clone(), entered.clone());
        drop(pool.handle().spawn(async move {
            open.open();
            inside.wait();
        }));
        entered.wait();
        assert!(!pool.shutdown(Some(Duration::ZERO)));
        let handle = pool.handle().clone();
        let _current = handle.enter();
        assert!(spawn(async {}).is_finished());
        assert!(handle.spawn(async {}).is_finished());
        gate.open();
        assert!(pool.shutdown(None));
        assert_eq!(handle.metrics().alive_tasks(), 0);
    }
}

#[test]
fn a_shutdown_in_the_background_completes() {
    for policy in POLICIES {
        for _ in 0..50 {
            let tracker = DropTracker::default();
            let mut pool = pool_of(policy, 2);
            for _ in 0..10 {
                let tracked = tracker.tracked();
                drop(pool.handle().spawn(async move {
                    let _tracked = tracked;
                    std::future::pending::<()>().await;
                }));
            }
            pool.shutdown(Some(Duration::ZERO));
            drop(pool);
            wait_until(|| tracker.alive() == 0);
        }
    }
}

/// The drop must not wait for its own worker.
#[test]
fn a_task_may_drop_its_own_pool() {
    for policy in POLICIES {
        for polled in [true, false] {
            let tracker = DropTracker::default();
            let pool = pool_of(policy, 2);
            let (handle, tracked, dropped) = (
                pool.handle().clone(),
                tracker.tracked(),
                Arc::new(AtomicBool::new(false)),
            );
            let reports_drop = dropped.clone();
            let task = handle.spawn(async move {
                let _tracked = tracked;
                let pool = pool;
                if polled {
                    drop(pool);
                    reports_drop.store(true, Ordering::SeqCst);
                } else {
                    std::future::pending::<()>().await;
                }
            });
            if !polled {
                // The task owns the pool, so its abort drops the pool.
                task.abort();
            }
            wait_until(|| tracker.alive() == 0);
            assert_eq!(dropped.load(Ordering::SeqCst), polled);
        }
    }
}

#[test]
fn wakers_and_handles_may_be_used_after_shutdown() {
    for policy in POLICIES {
        let signal = Signal::default();
        let pool = pool_of(policy, 1);
        let task = pool.handle().spawn(signal.clone());
        let (abort, handle) = (task.abort_handle(), pool.handle().clone());
        wait_until(|| signal.polls() == 1);
        let waker = signal.waker().unwrap();
        drop(pool);
        waker.wake_by_ref();
        abort.abort();
        drop(task);
        waker.wake_by_ref();
        drop(handle);
        waker.wake();
        drop(signal);
        abort.abort();
    }
}

/// A poll may wait for the drop of a task that waits behind it, in the slot or the queue of its
/// worker.
#[test]
fn tasks_queued_behind_a_running_poll_are_dropped_before_it_returns() {
    for policy in SHARING {
        for count in [1, 3] {
            // No worker takes a task out of another's slot before the shutdown.
            let config = Config {
                has_monitor: false,
                ..config_of(policy, 2)
            };
            let mut pool = Pool::start(config, None).unwrap();
            let (entered, closed) = (Gate::default(), Gate::default());
            let (inside, end) = (entered.clone(), closed.clone());
            drop(pool.handle().spawn(async move {
                let (sender, receiver) = mpsc::channel::<()>();
                for _ in 0..count {
                    let sender = sender.clone();
                    drop(spawn(async move {
                        let _sender = sender;
                        std::future::pending::<()>().await;
                    }));
                }
                drop(sender);
                inside.open();
                end.wait();
                assert!(receiver.recv().is_err());
            }));
            entered.wait();
            assert!(!pool.shutdown(Some(Duration::ZERO)));
            closed.open();
            assert!(pool.shutdown(Some(Duration::from_secs(30))), "{policy:?}");
        }
    }
}

/// A poll waits for the drop of a task that the other worker has polled. The other worker retires
/// when the pool is closed.
#[test]
fn a_worker_that_retires_drops_the_tasks_that_the_poll_of_another_waits_for() {
    for round in 0..8 {
        let mut pool = pool_of(SHARING[round % 2], 2);
        let (sender, receiver) = mpsc::channel::<()>();
        let (entered, polled) = (Gate::default(), Gate::default());
        let inside = entered.clone();
        drop(pool.handle().spawn(async move {
            inside.open();
            assert!(receiver.recv().is_err());
        }));
        entered.wait();
        let inside = polled.clone();
        drop(pool.handle().spawn(async move {
            let _sender = sender;
            inside.open();
            std::future::pending::<()>().await;
        }));
        polled.wait();
        // Shut down with one call: a second call would itself drop the tasks of the retired worker.
        assert!(pool.shutdown(Some(Duration::from_secs(30))));
    }
}

/// A worker that shuts down does not hand its tasks to the others, unlike a worker that retires
/// early.
#[test]
fn tasks_queued_on_a_worker_that_shuts_down_are_not_injected() {
    for policy in POLICIES {
        let mut pool = pool_of(policy, 1);
        let (entered, closed) = (Gate::default(), Gate::default());
        let (inside, end) = (entered.clone(), closed.clone());
        drop(pool.handle().spawn(async move {
            for _ in 0..3 {
                drop(spawn(async {}));
            }
            inside.open();
            end.wait();
        }));
        entered.wait();
        assert!(!pool.shutdown(Some(Duration::ZERO)));
        closed.open();
        assert!(pool.shutdown(None));
        let metrics = pool.handle().metrics();
        assert_eq!(metrics.remote_schedules(), 1, "{policy:?}");
        assert_eq!((metrics.spawned_tasks(), metrics.alive_tasks()), (4, 0));
    }
}

thread_local! {
    static PANICS_ON_PARK: Cell<bool> = const { Cell::new(false) };
}

/// The destructors of thread-local variables run last on a worker's thread.
#[test]
fn a_second_shutdown_waits_for_the_destructors_of_thread_locals() {
    struct SlowDestructor(Arc<AtomicUsize>);
    impl Drop for SlowDestructor {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_millis(50));
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    thread_local! {
        static SLOW_DESTRUCTOR: std::cell::RefCell<Option<SlowDestructor>> = const { std::cell::RefCell::new(None) };
    }
    for policy in POLICIES {
        let destroyed = Arc::new(AtomicUsize::new(0));
        let mut pool = pool_of(policy, 1);
        let (entered, gate) = (Gate::default(), Gate::default());
        let (inside, waits, slow) = (
            entered.clone(),
            gate.clone(),
            SlowDestructor(destroyed.clone()),
        );
        drop(pool.handle().spawn(async move {
            SLOW_DESTRUCTOR.set(Some(slow));
            inside.open();
            waits.wait();
        }));
        entered.wait();
        assert!(!pool.shutdown(Some(Duration::ZERO)));
        gate.open();
        assert!(pool.shutdown(None));
        assert_eq!(destroyed.load(Ordering::SeqCst), 1, "{policy:?}");
    }
}

/// Bug: own (a limited shutdown waited for hooks and destructors without a limit).
#[test]
fn a_limited_shutdown_does_not_wait_for_the_end_of_a_thread() {
    /// Waits in its drop.
    struct WaitsAtEnd(Gate);
    impl Drop for WaitsAtEnd {
        fn drop(&mut self) {
            self.0.wait();
        }
    }
    thread_local! {
        static AT_END: Cell<Option<WaitsAtEnd>> = const { Cell::new(None) };
    }
    for (policy, in_hook) in POLICIES.into_iter().flat_map(|p| [(p, true), (p, false)]) {
        let gate = Gate::default();
        let waits = in_hook.then(|| gate.clone());
        let config = Config {
            around_worker: Some(Arc::new(move |_, run| {
                run();
                if let Some(gate) = &waits {
                    gate.wait();
                }
            })),
            ..config_of(policy, 2)
        };
        let mut pool = Pool::start(config, None).unwrap();
        let at_end = (!in_hook).then(|| WaitsAtEnd(gate.clone()));
        let task = pool.handle().spawn(async move { AT_END.set(at_end) });
        pool.handle().block_on(task).unwrap();
        for wait in [Duration::ZERO, Duration::from_millis(5)] {
            assert!(!pool.shutdown(Some(wait)), "{policy:?}");
        }
        gate.open();
        assert!(pool.shutdown(Some(Duration::from_secs(30))), "{policy:?}");
        assert!(pool.shutdown(Some(Duration::ZERO)), "it has ended");
    }
}

/// The thread must not wait for itself in the hook around its worker.
#[test]
fn a_hook_around_a_worker_may_drop_its_pool() {
    for policy in POLICIES {
        let (pool, left) = (Arc::new(Mutex::new(None::<Pool>)), Gate::default());
        let (kept, opens) = (pool.clone(), left.clone());
        let config = Config {
            unhandled_panic: UnhandledPanic::ShutdownRuntime,
            around_worker: Some(Arc::new(move |_, run| {
                run();
                let pool = kept.lock().take();
                if pool.is_some() {
                    drop(pool);
                    opens.open();
                }
            })),
            ..config_of(policy, 2)
        };
        let started = Pool::start(config, None).unwrap();
        let handle = started.handle().clone();
        *pool.lock() = Some(started);
        drop(handle.spawn(async { panic!("a task panics on purpose") }));
        left.wait();
    }
}

/// The same with a task whose worker has already retired because a hook panicked. That worker drops
/// the task, or another worker does, or, if there is none, the thread that shuts down.
#[test]
fn tasks_of_a_retired_worker_are_dropped_before_the_last_poll_returns() {
    // The shutdown may begin at any time while the worker retires.
    for round in 0..20 {
        let (policy, workers) = (SHARING[round % 2], 2 + round / 2 % 2);
        let left = Gate::default();
        let leaves = left.clone();
        let config = Config {
            on_thread_park: Some(Arc::new(move || {
                if PANICS_ON_PARK.replace(false) {
                    leaves.open();
                    panic!("a hook panics on purpose");
                }
            })),
            ..config_of(policy, workers)
        };
        let mut pool = Pool::start(config, None).unwrap();
        let (sender, receiver) = mpsc::channel::<()>();
        drop(pool.handle().spawn(async move {
            let _sender = sender;
            PANICS_ON_PARK.set(true);
            std::future::pending::<()>().await;
        }));
        left.wait();
        let entered = Gate::default();
        let inside = entered.clone();
        drop(pool.handle().spawn(async move {
            inside.open();
            assert!(receiver.recv().is_err());
        }));
        entered.wait();
        assert!(pool.shutdown(Some(Duration::from_secs(30))), "{policy:?}");
    }
}

/// Dropping a parked worker ends its park, which calls the hook.
#[test]
fn a_stepped_worker_whose_hook_panics_when_it_is_dropped_is_retired() {
    for policy in SHARING {
        let panics = Arc::new(AtomicBool::new(false));
        let theirs = panics.clone();
        let config = Config {
            on_thread_unpark: Some(Arc::new(move || {
                assert!(!theirs.load(Ordering::SeqCst), "a hook panics on purpose");
            })),
            ..config_of(policy, 2)
        };
        let (handle, mut workers) = Pool::stepped(config, None);
        let (tracker, signal) = (DropTracker::default(), Signal::default());
        let (tracked, waits) = (tracker.tracked(), signal.clone());
        drop(handle.spawn(async move {
            let _tracked = tracked;
            waits.await;
        }));
        assert_eq!(workers[0].step(), Step::Ran);
        assert!(workers[0].begin_park().is_some());
        panics.store(true, Ordering::SeqCst);
        let first = workers.remove(0);
        message_of(|| drop(first));
        panics.store(false, Ordering::SeqCst);
        drop(workers);
        assert_eq!(tracker.alive(), 0);
    }
}

type AtThreadExit = OnDrop<Box<dyn FnMut()>>;

thread_local! {
    /// Is dropped when its thread exits.
    static AT_THREAD_EXIT: Cell<Option<AtThreadExit>> = const { Cell::new(None) };
}

/// The thread must not wait for itself after its worker has shut down.
#[test]
#[cfg_attr(
    windows,
    ignore = "on Windows, a thread that exits must not wait for another: see LocalKey"
)]
fn a_thread_local_of_a_worker_may_drop_its_pool() {
    for policy in POLICIES {
        let config = Config {
            unhandled_panic: UnhandledPanic::ShutdownRuntime,
            ..config_of(policy, 2)
        };
        let pool = Pool::start(config, None).unwrap();
        let handle = pool.handle().clone();
        let (kept, dropped) = (Arc::new(Mutex::new(Some(pool))), Gate::default());
        let opens = dropped.clone();
        drop(handle.spawn(async move {
            AT_THREAD_EXIT.set(Some(OnDrop(Box::new(move || {
                let pool = kept.lock().take();
                drop(pool);
                opens.open();
            }))));
            panic!("a task panics on purpose");
        }));
        dropped.wait();
    }
}

/// Stepped workers are dropped one after the other, on several threads.
#[test]
fn dropping_the_last_stepped_worker_shuts_the_pool_down() {
    for policy in SHARING {
        let tracker = DropTracker::default();
        let (handle, mut workers) = Pool::stepped(config_of(policy, 3), None);
        for _ in 0..100 {
            let tracked = tracker.tracked();
            drop(handle.spawn(async move {
                let _tracked = tracked;
                std::future::pending::<()>().await;
            }));
        }
        for worker in &mut workers {
            assert_eq!(worker.step(), Step::Ran);
        }
        drop(workers.remove(1));
        let first = workers.remove(0);
        std::thread::spawn(move || drop(first)).join().unwrap();
        assert_eq!(tracker.alive(), 100);
        drop(workers);
        assert_eq!(tracker.alive(), 0);
    }
}

/// A driver that records whether a scheduler is current while it is shut down.
struct RecordsCurrent(Arc<Mutex<Vec<bool>>>);

impl Driver for RecordsCurrent {
    fn park(&mut self, _: Option<Duration>, _: usize) {}

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(RecordsCurrent(self.0.clone()))
    }

    fn shutdown(&mut self) {
        self.0.lock().push(Handle::try_current().is_some());
    }
}

impl Unpark for RecordsCurrent {
    fn unpark(&self) {}
}

#[test]
fn no_scheduler_is_current_while_the_driver_is_shut_down() {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let driver: Box<dyn Driver> = Box::new(RecordsCurrent(recorded.clone()));
    let (handle, workers) = Pool::stepped(config_of(Policy::WorkStealing, 2), [driver]);
    drop((handle, workers));
    assert_eq!(*recorded.lock(), [false]);
}
