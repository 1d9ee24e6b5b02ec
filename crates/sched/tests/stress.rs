//! Storms of spawns, joins and wakes, with every task accounted for.
#![cfg(not(raddle_loom))]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{Census, POLICIES, Signal, pool_of};
use raddle_sched::{spawn, yield_now};

/// One counter for each task: how often it ran to its end.
fn ledger(tasks: usize) -> Arc<[AtomicU32]> {
    (0..tasks).map(|_| AtomicU32::new(0)).collect()
}

fn each_once(ledger: &[AtomicU32]) {
    for (task, ran) in ledger.iter().enumerate() {
        assert_eq!(ran.load(Ordering::SeqCst), 1, "task {task}");
    }
}

/// Tasks that spawn two each, down to a depth, and join them.
fn tree(id: usize, ledger: Arc<[AtomicU32]>) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let children: Vec<_> = [2 * id + 1, 2 * id + 2]
            .into_iter()
            .filter(|&child| child < ledger.len())
            .map(|child| spawn(tree(child, ledger.clone())))
            .collect();
        if id % 3 == 0 {
            yield_now().await;
        }
        for child in children {
            child.await.unwrap();
        }
        ledger[id].fetch_add(1, Ordering::SeqCst);
    })
}

#[test]
fn trees_of_tasks_all_complete() {
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let pool = pool_of(policy, workers);
            for _ in 0..5 {
                let ledger = ledger(4000);
                let root = pool.handle().spawn(tree(0, ledger.clone()));
                pool.handle().block_on(root).unwrap();
                each_once(&ledger);
            }
        }
    }
}

/// Several threads spawn from outside, join some tasks and abort others.
#[test]
fn spawns_from_several_threads_all_run() {
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let census = Census::default();
            let pool = pool_of(policy, workers);
            let ledger = ledger(4 * 1000);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let (handle, ledger, census) = (pool.handle(), &ledger, &census);
                    scope.spawn(move || {
                        let mut tasks = Vec::new();
                        for task in 0..1000 {
                            let (ledger, citizen) = (ledger.clone(), census.citizen());
                            let id = thread * 1000 + task;
                            tasks.push(handle.spawn(async move {
                                let _citizen = citizen;
                                if id % 2 == 0 {
                                    yield_now().await;
                                }
                                ledger[id].fetch_add(1, Ordering::SeqCst);
                            }));
                            if task % 10 == 0 {
                                let citizen = census.citizen();
                                let victim = handle.spawn(async move {
                                    let _citizen = citizen;
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
            each_once(&ledger);
            drop(pool);
            assert_eq!(census.alive(), 0);
        }
    }
}

/// Rings of tasks that pass a turn on, some hops through a foreign thread; a
/// wake that is lost stops a ring.
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
                for place in 0..ring.len() {
                    let own = ring[place].clone();
                    let next = ring[(place + 1) % ring.len()].clone();
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

/// tokio 525: one task at a time from outside, to workers that have just gone to sleep,
/// or are about to.
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
