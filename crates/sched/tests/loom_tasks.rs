//! Models of what programs do with tasks, on a whole pool with every layer under
//! it: spawn from within, join, wake each other, abort, and end at any time.
#![cfg(raddle_loom)]

#[path = "common/gate.rs"]
mod gate;

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use gate::{Counted, Gate};
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_sched::{Config, Pool, Step, spawn, yield_now};

/// Bounded at two preemptions, at three in a long run.
fn check(body: impl Fn() + Send + Sync + 'static) {
    Model::new().preemptions(2).branches(20_000).check(body);
}

fn pool() -> Pool {
    Pool::start(Config::default(), None).unwrap()
}

/// The tree that Tokio calls multi_spawn: tasks that spawn tasks that spawn.
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

/// Outputs go from task to task, each of which may be polled before or after the
/// one that it waits for has completed.
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

/// A task waits here until its turn comes.
#[derive(Default)]
struct Turn {
    has_come: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Turn {
    fn come(&self) {
        // ORDERING: the wake makes it visible.
        self.has_come.store(true, Ordering::Relaxed);
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn wait(&self) -> impl Future<Output = ()> + '_ {
        poll_fn(|cx| {
            let former = self.waker.lock().replace(cx.waker().clone());
            drop(former);
            match self.has_come.load(Ordering::Relaxed) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
    }
}

/// The outside tells one task, which tells another, which tells the outside: no
/// link of the chain may be lost while the worker goes to sleep.
#[test]
fn a_chain_of_wakes() {
    check(|| {
        let pool = pool();
        let turns = Arc::new([Turn::default(), Turn::default()]);
        let gate = Arc::new(Gate::default());
        let (mine, last) = (turns.clone(), gate.clone());
        drop(pool.handle().spawn(async move {
            let theirs = mine.clone();
            drop(spawn(async move {
                theirs[1].wait().await;
                last.open();
            }));
            mine[0].wait().await;
            mine[1].come();
        }));
        turns[0].come();
        gate.wait_for(1);
    });
}

/// A task that yields stands behind one that comes from outside at any time, and
/// both run.
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

/// The handle goes while its task completes: one of the two drops the output.
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

/// An abort comes before the task is polled, between its two polls, or after it
/// has completed; the join says which.
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

/// A future that remembers which thread dropped it.
struct DropsOn(Arc<Mutex<Vec<thread::ThreadId>>>);

impl Drop for DropsOn {
    fn drop(&mut self) {
        self.0.lock().push(thread::current_id());
    }
}

/// RUSTSEC-2021-0072: a task that waits is aborted from outside, and its future
/// is dropped where it was polled.
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
        // It was dropped; where it was polled, if it was.
        let here = thread::current_id();
        assert!(matches!(threads.len(), 1 | 2));
        assert!(threads.iter().all(|thread| *thread != here));
    });
}

/// A task aborts another of the same worker and waits for it, while the outside
/// wakes that one.
#[test]
fn an_abort_by_a_task_against_a_wake() {
    check(|| {
        let pool = pool();
        let gate = Arc::new(Gate::default());
        let turn = Arc::new(Turn::default());
        let (waits, done) = (turn.clone(), gate.clone());
        drop(pool.handle().spawn(async move {
            let other = spawn(async move { waits.wait().await });
            yield_now().await;
            other.abort();
            let _ = other.await;
            done.open();
        }));
        turn.come();
        gate.wait_for(1);
    });
}

/// A task spawns another while the pool ends: each runs, or is dropped, once.
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

/// tokio 2074: a future that is dropped at the end wakes another task of the
/// pool, which may have been dropped before.
#[test]
fn a_drop_that_wakes_against_shutdown() {
    struct Wakes {
        turn: Arc<Turn>,
        _counted: Counted,
    }
    impl Drop for Wakes {
        fn drop(&mut self) {
            self.turn.come();
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
        let turn = Arc::new(Turn::default());
        let pool = pool();
        let (waits, counted) = (turn.clone(), Counted(drops.clone()));
        drop(pool.handle().spawn(Wakes {
            turn,
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

/// One worker runs what is in its queue while another steals from it: each task
/// runs once. Both are stepped, so that nothing else is in the model.
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

/// A task that the thief has taken is woken by its former owner, and completes
/// on the list of that one.
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

/// What a spawner does after its spawn is not seen by a task that its task spawns.
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
