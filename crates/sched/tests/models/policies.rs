//! Models of pools under the policies `Shared` and `Sharded`, with all lower layers.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{self, Model, Race};
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread;
use raddle_sched::{Config, Policy, Pool, Step, spawn_local};

fn check(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    Model::new()
        .preemptions(preemptions)
        .branches(20_000)
        .check(body);
}

fn config(policy: Policy, workers: usize) -> Config {
    Config {
        workers,
        policy,
        ..Config::default()
    }
}

fn pool(policy: Policy, workers: usize) -> Pool {
    Pool::start(config(policy, workers), None).unwrap()
}

/// A gate that tasks open and threads wait at.
#[derive(Default)]
struct Gate {
    opened: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.opened.lock() += 1;
        self.changed.notify_all();
    }

    fn has_opened(&self, count: usize) -> bool {
        *self.opened.lock() >= count
    }

    fn wait_for(&self, count: usize) {
        let mut opened = self.opened.lock();
        while *opened < count {
            opened = self.changed.wait(opened);
        }
    }
}

/// A cell for which the model reports a race if two threads access it at once.
struct RaceDetector(UnsafeCell<u32>);

// SAFETY: shared on purpose; the model checks which thread accesses it when.
unsafe impl Sync for RaceDetector {}
// SAFETY: as above.
unsafe impl Send for RaceDetector {}

impl RaceDetector {
    fn touch(&self) {
        // SAFETY: the model reports a concurrent access.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }
}

#[test]
fn a_spawn_from_outside_against_two_workers_of_a_shared_queue() {
    check(2, || {
        let pool = pool(Policy::Shared, 2);
        let gate = Arc::new(Gate::default());
        let inside = gate.clone();
        drop(pool.handle().spawn(async move { inside.open() }));
        gate.wait_for(1);
        model::stop_exploring();
    });
}

/// The first task blocks its worker until the task that it spawned has run, so the push must wake
/// the other worker. One worker never sleeps, which leaves fewer interleavings.
#[test]
fn a_spawn_by_a_worker_of_a_shared_queue_reaches_the_other() {
    check(2, || {
        let (handle, mut workers) = Pool::stepped(config(Policy::Shared, 2), None);
        let gate = Arc::new(Gate::default());
        let stop = Arc::new(AtomicBool::new(false));
        let other = {
            let (mut worker, stop) = (workers.remove(1), stop.clone());
            thread::spawn(move || {
                while !stop.load(Ordering::Acquire) {
                    if worker.step() == Step::Idle {
                        worker.park();
                    }
                }
            })
        };
        let (first, second) = (gate.clone(), gate.clone());
        let spawner = handle.clone();
        drop(handle.spawn(async move {
            drop(spawner.spawn(async move { second.open() }));
            first.wait_for(1);
            first.open();
        }));
        let mut worker = workers.remove(0);
        while !gate.has_opened(2) {
            if worker.step() == Step::Idle {
                thread::yield_now();
            }
        }
        model::stop_exploring();
        drop(worker);
        drop(handle.spawn(async move { stop.store(true, Ordering::Release) }));
        other.join().unwrap();
    });
}

/// A task of one shard wakes a task of the other, whose worker goes to sleep or shuts down.
#[test]
fn a_wake_across_shards() {
    check(2, || {
        let pool = pool(Policy::Sharded, 2);
        let gate = Arc::new(Gate::default());
        let waker = Arc::new(Mutex::new((false, None::<Waker>)));
        let detector = Arc::new(RaceDetector(UnsafeCell::new(0)));
        let (inside, theirs) = (gate.clone(), waker.clone());
        drop(pool.handle().spawn_on(0, move || {
            // Every poll accesses the detector, so polls on two threads at once are a race.
            let polls = detector.clone();
            poll_fn(move |cx| {
                polls.touch();
                let mut waiting = theirs.lock();
                if waiting.0 {
                    inside.open();
                    return Poll::Ready(());
                }
                waiting.1 = Some(cx.waker().clone());
                Poll::Pending
            })
        }));
        drop(pool.handle().spawn_on(1, move || async move {
            let woken = {
                let mut waiting = waker.lock();
                waiting.0 = true;
                waiting.1.take()
            };
            if let Some(woken) = woken {
                woken.wake();
            }
        }));
        gate.wait_for(1);
        model::stop_exploring();
    });
}

/// A task that stays on its worker is woken from outside while the pool shuts down. Its future is
/// dropped once, and not during a poll.
#[test]
fn a_foreign_wake_of_a_local_task_against_shutdown() {
    check(2, || {
        struct OnDrop(Arc<RaceDetector>, Arc<AtomicUsize>);
        impl Drop for OnDrop {
            fn drop(&mut self) {
                self.0.touch();
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
        let drops = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(Gate::default());
        let waker = Arc::new(Mutex::new(None));
        let pool = pool(Policy::Sharded, 1);
        let (inside, slot, counted) = (gate.clone(), waker.clone(), drops.clone());
        drop(pool.handle().spawn_on(0, move || async move {
            let detector = Arc::new(RaceDetector(UnsafeCell::new(0)));
            let bound = OnDrop(detector, counted);
            drop(spawn_local(poll_fn(move |cx| {
                bound.0.touch();
                if slot.lock().replace(cx.waker().clone()).is_none() {
                    inside.open();
                }
                Poll::<()>::Pending
            })));
        }));
        gate.wait_for(1);
        let foreign: Waker = waker.lock().take().unwrap();
        let foreign = thread::spawn(move || foreign.wake());
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        foreign.join().unwrap();
    });
}

/// A task of a shard does not see what its spawner does after the spawn.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_a_spawn_is_not_seen_by_the_shard() {
    check(2, || {
        let pool = pool(Policy::Sharded, 1);
        let race = Race::new();
        let theirs = race.clone();
        let spawned = pool
            .handle()
            .spawn_on(0, move || async move { theirs.second() });
        drop(spawned);
        race.first();
    });
}
