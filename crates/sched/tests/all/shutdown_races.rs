//! Foreign threads wake, abort and spawn while the pool shuts down (async-executor 163). These
//! tests are most useful under a sanitizer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::thread;

use crate::common::{DropTracker, POLICIES, Signal, current_thread, pool_of, wait_until};
use raddle_sched::yield_now;

fn wake_repeatedly(wakers: &[Waker], over: &AtomicBool) {
    while !over.load(Ordering::SeqCst) {
        for waker in wakers {
            waker.wake_by_ref();
            drop(waker.clone());
        }
        thread::yield_now();
    }
}

#[test]
fn wakes_and_spawns_may_race_with_the_shutdown_of_a_pool() {
    for policy in POLICIES {
        for round in 0..60 {
            let tracker = DropTracker::default();
            let pool = pool_of(policy, 1 + round % 3);
            let signals: Vec<_> = (0..8).map(|_| Signal::default()).collect();
            let mut aborts = Vec::new();
            for signal in &signals {
                let (tracked, signal) = (tracker.tracked(), signal.clone());
                let task = pool.handle().spawn(async move {
                    let _tracked = tracked;
                    signal.await;
                });
                aborts.push(task.abort_handle());
            }
            wait_until(|| signals.iter().all(|signal| signal.polls() > 0));
            let wakers: Vec<_> = signals.iter().filter_map(Signal::waker).collect();
            let over = Arc::new(AtomicBool::new(false));
            let mut threads = Vec::new();
            for _ in 0..2 {
                let (wakers, over) = (wakers.clone(), over.clone());
                threads.push(thread::spawn(move || wake_repeatedly(&wakers, &over)));
            }
            let metrics = pool.handle().metrics();
            let (handle, theirs, stop) = (pool.handle().clone(), tracker.clone(), over.clone());
            threads.push(thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let tracked = theirs.tracked();
                    let task = handle.spawn(async move {
                        let _tracked = tracked;
                        yield_now().await;
                    });
                    let _ = handle.block_on(task);
                }
            }));
            threads.push(thread::spawn(move || {
                for abort in aborts.into_iter().skip(4) {
                    abort.abort();
                    thread::yield_now();
                }
            }));
            if round % 2 == 0 {
                thread::yield_now();
            }
            drop(pool);
            over.store(true, Ordering::SeqCst);
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(tracker.alive(), 0, "in round {round}");
            assert_eq!(metrics.alive_tasks(), 0, "in round {round}");
            wakers.iter().for_each(Waker::wake_by_ref);
        }
    }
}

#[test]
fn wakes_and_spawns_may_race_with_the_shutdown_of_a_current_thread() {
    for _ in 0..60 {
        let tracker = DropTracker::default();
        let scheduler = current_thread();
        let metrics = scheduler.handle().metrics();
        let signals: Vec<_> = (0..4).map(|_| Signal::default()).collect();
        for signal in &signals {
            let (tracked, signal) = (tracker.tracked(), signal.clone());
            drop(scheduler.handle().spawn(async move {
                let _tracked = tracked;
                signal.await;
            }));
        }
        scheduler.block_on(async {
            while !signals.iter().all(|signal| signal.polls() > 0) {
                yield_now().await;
            }
        });
        let wakers: Vec<_> = signals.iter().filter_map(Signal::waker).collect();
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| wake_repeatedly(&wakers, &over));
            let handle = scheduler.handle().clone();
            let (tracker, over) = (&tracker, &over);
            scope.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    let tracked = tracker.tracked();
                    drop(handle.spawn(async move { drop(tracked) }));
                    thread::yield_now();
                }
            });
            scheduler.block_on(async {
                for _ in 0..100 {
                    yield_now().await;
                }
            });
            drop(scheduler);
            over.store(true, Ordering::SeqCst);
        });
        assert_eq!((tracker.alive(), metrics.alive_tasks()), (0, 0));
    }
}

#[test]
fn a_thousand_pools_leak_nothing() {
    for policy in POLICIES {
        let tracker = DropTracker::default();
        for round in 0..1000 {
            let pool = pool_of(policy, 1 + round % 2);
            let (first, second) = (tracker.tracked(), tracker.tracked());
            let task = pool.handle().spawn(async move { drop(first) });
            drop(pool.handle().spawn(async move {
                let _second = second;
                std::future::pending::<()>().await;
            }));
            if round % 3 == 0 {
                pool.handle().block_on(task).unwrap();
            }
        }
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 2000));
    }
}
