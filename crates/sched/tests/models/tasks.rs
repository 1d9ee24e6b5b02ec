//! Models of what programs do with tasks, on a whole pool with all lower layers: tasks spawn, join,
//! wake and abort each other, and the pool shuts down at any time.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::gate::{Counted, Gate};
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_sched::{Config, Pool, Step, spawn, yield_now};

/// Bounded to two preemptions; a long run allows three.
fn check(body: impl Fn() + Send + Sync + 'static) {
    Model::new().preemptions(2).branches(20_000).check(body);
}

fn pool() -> Pool {
    Pool::start(Config::default(), None).unwrap()
}

/// Tokio's model multi_spawn: tasks spawn tasks that spawn tasks.
#[test]
fn spawns_within_spawns() {
    check(|| {
        let pool = pool();
        let gate = Arc::new(Gate::default());
        let root = gate.clone();
        drop(pool.handle().spawn(async move {
            let (left, right) = (root.clone(), root.clone());
            drop(spawn(async move {
                let leaf = left.clone();
                drop(spawn(async move { leaf.open() }));
                left.open();
            }));
            drop(spawn(async move { right.open() }));
            root.open();
        }));
        gate.wait_for(4);
    });
}

/// Outputs pass along a chain of tasks. A task may be polled before or after the task that it joins
/// has completed.
#[test]
fn a_chain_of_joins() {
    check(|| {
        let pool = pool();
        let first = pool.handle().spawn(async { 1 });
        let second = pool.handle().spawn(async { first.await.unwrap() + 1 });
        let third = async { second.await.unwrap() + 1 };
        assert_eq!(pool.handle().block_on(third), 3);
    });
}

/// A flag that a task waits for.
#[derive(Default)]
struct Notification {
    is_notified: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Notification {
    fn notify(&self) {
        // ORDERING: Relaxed: the wake that follows makes the store visible.
        self.is_notified.store(true, Ordering::Relaxed);
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn wait(&self) -> impl Future<Output = ()> + '_ {
        poll_fn(|cx| {
            let former = self.waker.lock().replace(cx.waker().clone());
            drop(former);
            match self.is_notified.load(Ordering::Relaxed) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
    }
}

/// The main thread wakes one task, which wakes another, which opens the gate for the main thread.
/// No wake may be lost while the worker goes to sleep.
#[test]
fn a_chain_of_wakes() {
    check(|| {
        let pool = pool();
        let notifications = Arc::new([Notification::default(), Notification::default()]);
        let gate = Arc::new(Gate::default());
        let (mine, last) = (notifications.clone(), gate.clone());
        drop(pool.handle().spawn(async move {
            let theirs = mine.clone();
            drop(spawn(async move {
                theirs[1].wait().await;
                last.open();
            }));
            mine[0].wait().await;
            mine[1].notify();
        }));
        notifications[0].notify();
        gate.wait_for(1);
    });
}

/// A task that yields goes behind a task that is spawned from outside at any time. Both run.
#[test]
fn a_yield_against_a_spawn_from_outside() {
    check(|| {
        let pool = pool();
        let gate = Arc::new(Gate::default());
        let (yielding, other) = (gate.clone(), gate.clone());
        drop(pool.handle().spawn(async move {
            yield_now().await;
            yielding.open();
        }));
        drop(pool.handle().spawn(async move { other.open() }));
        gate.wait_for(2);
    });
}

/// The handle is dropped while its task completes. The handle or the task drops the output.
#[test]
fn a_handle_dropped_against_completion() {
    check(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let pool = pool();
        let output = Counted(drops.clone());
        let handle = pool.handle().spawn(async move { output });
        drop(handle);
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// The abort comes before the task is polled, between its two polls, or after its completion. The
/// join returns which.
#[test]
fn an_abort_against_a_run() {
    check(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let pool = pool();
        let counted = Counted(drops.clone());
        let handle = pool.handle().spawn(async move {
            let _counted = counted;
            yield_now().await;
        });
        handle.abort();
        if let Err(error) = pool.handle().block_on(handle) {
            assert!(error.is_cancelled());
        }
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// Part of a future that records the thread of its drop.
struct DropsOn(Arc<Mutex<Vec<thread::ThreadId>>>);

impl Drop for DropsOn {
    fn drop(&mut self) {
        self.0.lock().push(thread::current_id());
    }
}

/// RUSTSEC-2021-0072: a waiting task is aborted from outside, and its future is dropped where it
/// was polled.
#[test]
fn an_abort_drops_the_future_on_the_worker() {
    check(|| {
        let threads = Arc::new(Mutex::new(Vec::new()));
        let pool = pool();
        let drops_on = DropsOn(threads.clone());
        let polled = threads.clone();
        let handle = pool.handle().spawn(async move {
            let _drops_on = drops_on;
            polled.lock().push(thread::current_id());
            pending::<()>().await;
        });
        handle.abort();
        assert!(pool.handle().block_on(handle).unwrap_err().is_cancelled());
        let threads = threads.lock();
        // The future is dropped on the worker, which may have polled it before.
        let here = thread::current_id();
        assert!(matches!(threads.len(), 1 | 2));
        assert!(threads.iter().all(|thread| *thread != here));
    });
}

/// A task aborts another task of the same worker and joins it, while the main thread wakes that
/// task.
#[test]
fn an_abort_by_a_task_against_a_wake() {
    check(|| {
        let pool = pool();
        let gate = Arc::new(Gate::default());
        let notification = Arc::new(Notification::default());
        let (waits, done) = (notification.clone(), gate.clone());
        drop(pool.handle().spawn(async move {
            let other = spawn(async move { waits.wait().await });
            yield_now().await;
            other.abort();
            let _ = other.await;
            done.open();
        }));
        notification.notify();
        gate.wait_for(1);
    });
}

/// A task spawns another while the pool shuts down. Each of them runs or is dropped, once.
#[test]
fn a_spawn_by_a_task_against_shutdown() {
    check(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let pool = pool();
        let (outer, inner) = (Counted(drops.clone()), Counted(drops.clone()));
        drop(pool.handle().spawn(async move {
            let _outer = outer;
            drop(spawn(async move {
                let _inner = inner;
                pending::<()>().await;
            }));
            pending::<()>().await;
        }));
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

/// tokio 2074: a future that the shutdown drops wakes another task of the pool, which may already
/// be dropped.
#[test]
fn a_drop_that_wakes_against_shutdown() {
    struct Wakes {
        notification: Arc<Notification>,
        _counted: Counted,
    }
    impl Drop for Wakes {
        fn drop(&mut self) {
            self.notification.notify();
        }
    }
    impl Future for Wakes {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }
    }
    check(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let notification = Arc::new(Notification::default());
        let pool = pool();
        let (waits, counted) = (notification.clone(), Counted(drops.clone()));
        drop(pool.handle().spawn(Wakes {
            notification,
            _counted: Counted(drops.clone()),
        }));
        drop(pool.handle().spawn(async move {
            let _counted = counted;
            waits.wait().await;
        }));
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

/// A worker runs the tasks in its queue while another steals from it. Each task runs once. Both are
/// stepped, so that the model contains nothing else.
#[test]
fn a_stealer_against_the_owner_of_the_tasks() {
    check(|| {
        let config = Config {
            workers: 2,
            ..Config::default()
        };
        let (handle, mut workers) = Pool::stepped(config, None);
        let runs = Arc::new(AtomicUsize::new(0));
        let (theirs, inside) = (runs.clone(), handle.clone());
        drop(handle.spawn(async move {
            for _ in 0..3 {
                let run = theirs.clone();
                drop(inside.spawn(async move {
                    run.fetch_add(1, Ordering::Relaxed);
                }));
            }
        }));
        let mut thief = workers.pop().unwrap();
        let mut owner = workers.pop().unwrap();
        assert_eq!(owner.step(), Step::Ran);
        let thief = thread::spawn(move || {
            while thief.step() == Step::Ran {}
            thief
        });
        while owner.step() == Step::Ran {}
        let mut thief = thief.join().unwrap();
        while thief.step() == Step::Ran || owner.step() == Step::Ran {}
        assert_eq!(runs.load(Ordering::Relaxed), 3);
        drop((owner, thief));
    });
}

/// The former owner of a stolen task wakes it, and the task completes on the live list of that
/// owner.
#[test]
fn a_stolen_task_is_joined_by_its_former_owner() {
    check(|| {
        let config = Config {
            workers: 2,
            ..Config::default()
        };
        let (handle, mut workers) = Pool::stepped(config, None);
        let joined = Arc::new(AtomicBool::new(false));
        let (theirs, inside) = (joined.clone(), handle.clone());
        drop(handle.spawn(async move {
            let first = inside.spawn(async { 1 });
            let second = inside.spawn(async { 2 });
            assert_eq!(first.await.unwrap() + second.await.unwrap(), 3);
            theirs.store(true, Ordering::Relaxed);
        }));
        let mut thief = workers.pop().unwrap();
        let mut owner = workers.pop().unwrap();
        assert_eq!(owner.step(), Step::Ran);
        let thief = thread::spawn(move || {
            while thief.step() == Step::Ran {}
            thief
        });
        while owner.step() == Step::Ran {}
        let mut thief = thief.join().unwrap();
        while thief.step() == Step::Ran || owner.step() == Step::Ran {}
        assert!(joined.load(Ordering::Relaxed));
        drop((owner, thief));
    });
}

/// A task that another task spawns does not see what the first spawner does after its spawn.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_a_spawn_is_not_seen_by_a_task_of_the_task() {
    check(|| {
        let pool = pool();
        let race = Race::new();
        let theirs = race.clone();
        drop(pool.handle().spawn(async move {
            drop(spawn(async move { theirs.second() }));
        }));
        race.first();
    });
}
