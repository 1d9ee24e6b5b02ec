//! Many spawns, joins and wakes. Every task is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{DropTracker, POLICIES, Signal, pool_of};
use raddle_sched::{spawn, yield_now};

/// One counter per task: how many times it has completed.
fn completions(tasks: usize) -> Arc<[AtomicU32]> {
    (0..tasks).map(|_| AtomicU32::new(0)).collect()
}

fn check_each_completed_once(completions: &[AtomicU32]) {
    for (task, ran) in completions.iter().enumerate() {
        assert_eq!(ran.load(Ordering::SeqCst), 1, "task {task}");
    }
}

/// A task that spawns two tasks of the next level, if any, and joins them.
fn tree(
    id: usize,
    completions: Arc<[AtomicU32]>,
) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let children: Vec<_> = [2 * id + 1, 2 * id + 2]
            .into_iter()
            .filter(|&child| child < completions.len())
            .map(|child| spawn(tree(child, completions.clone())))
            .collect();
        if id % 3 == 0 {
            yield_now().await;
        }
        for child in children {
            child.await.unwrap();
        }
        completions[id].fetch_add(1, Ordering::SeqCst);
    })
}

#[test]
fn trees_of_tasks_all_complete() {
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let pool = pool_of(policy, workers);
            for _ in 0..5 {
                let completions = completions(4000);
                let root = pool.handle().spawn(tree(0, completions.clone()));
                pool.handle().block_on(root).unwrap();
                check_each_completed_once(&completions);
            }
        }
    }
}

/// Several threads spawn from outside, join some tasks and abort others.
#[test]
fn spawns_from_several_threads_all_run() {
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let tracker = DropTracker::default();
            let pool = pool_of(policy, workers);
            let completions = completions(4 * 1000);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let (handle, completions, tracker) = (pool.handle(), &completions, &tracker);
                    scope.spawn(move || {
                        let mut tasks = Vec::new();
                        for task in 0..1000 {
                            let (completions, tracked) = (completions.clone(), tracker.tracked());
                            let id = thread * 1000 + task;
                            tasks.push(handle.spawn(async move {
                                let _tracked = tracked;
                                if id % 2 == 0 {
                                    yield_now().await;
                                }
                                completions[id].fetch_add(1, Ordering::SeqCst);
                            }));
                            if task % 10 == 0 {
                                let tracked = tracker.tracked();
                                let victim = handle.spawn(async move {
                                    let _tracked = tracked;
                                    std::future::pending::<()>().await;
                                });
                                victim.abort();
                            }
                            if task % 50 == 0 {
                                for task in tasks.drain(..) {
                                    handle.block_on(task).unwrap();
                                }
                            }
                        }
                        for task in tasks {
                            handle.block_on(task).unwrap();
                        }
                    });
                }
            });
            check_each_completed_once(&completions);
            drop(pool);
            assert_eq!(tracker.alive(), 0);
        }
    }
}

/// Rings of tasks that wake each other in turn. A lost wake stops a ring.
#[test]
fn wakes_around_a_ring_of_tasks_all_arrive() {
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let pool = pool_of(policy, workers);
            let rings: Vec<Vec<Signal>> = (0..4)
                .map(|_| (0..5).map(|_| Signal::default()).collect())
                .collect();
            let mut tasks = Vec::new();
            for ring in &rings {
                for index in 0..ring.len() {
                    let own = ring[index].clone();
                    let next = ring[(index + 1) % ring.len()].clone();
                    tasks.push(pool.handle().spawn(async move {
                        for _ in 0..300 {
                            own.clone().await;
                            next.set();
                        }
                    }));
                }
            }
            for ring in &rings {
                ring[0].set();
            }
            for task in tasks {
                pool.handle().block_on(task).unwrap();
            }
        }
    }
}

/// tokio 525: tasks are spawned one at a time from outside, while workers go to sleep or have just
/// gone to sleep.
#[test]
fn tasks_that_are_spawned_one_at_a_time_all_run() {
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let pool = pool_of(policy, workers);
            for round in 0..2000 {
                let task = pool.handle().spawn(async move { round });
                assert_eq!(pool.handle().block_on(task).unwrap(), round);
            }
        }
    }
}
