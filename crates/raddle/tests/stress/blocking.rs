//! The blocking pool with few threads, and `block_in_place`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use raddle::runtime::{Handle, Policy};
use raddle::task::{block_in_place, spawn_blocking, yield_now};

use crate::ledger::Ledger;
use crate::random::Random;

/// Few threads, which exit at about the time of the next job. Jobs are joined, detached, aborted,
/// or left to the shutdown.
pub(crate) fn pool(random: &mut Random) {
    let mut builder = random.builder();
    builder.max_blocking_threads(random.within(1, 3));
    builder.thread_keep_alive(Duration::from_micros(random.below(300) as u64));
    let runtime = builder.build().unwrap();
    let ledger = Ledger::default();
    let ran = Arc::new(AtomicUsize::new(0));
    let job = |random: &mut Random| {
        let (ticket, ran) = (ledger.ticket(), ran.clone());
        let pause = random.once_in(3).then(|| random.micros(300));
        move || {
            if let Some(pause) = pause {
                thread::sleep(pause);
            }
            ran.fetch_add(1, SeqCst);
            ticket.done();
        }
    };
    runtime.block_on(async {
        for _ in 0..random.within(20, 200) {
            match random.below(4) {
                // Just when a thread becomes idle or exits.
                0 => spawn_blocking(job(random)).await.unwrap(),
                1 => drop(spawn_blocking(job(random))),
                2 => {
                    let task = spawn_blocking(job(random));
                    task.abort();
                    if let Err(error) = task.await {
                        assert!(error.is_cancelled(), "{error}");
                    }
                }
                _ => {
                    let tasks: Vec<_> = (0..random.within(1, 8))
                        .map(|_| spawn_blocking(job(random)))
                        .collect();
                    for task in tasks {
                        task.await.unwrap();
                    }
                }
            }
        }
    });
    // Some of these tasks are dropped with the runtime.
    for _ in 0..random.below(20) {
        drop(runtime.spawn_blocking(job(random)));
    }
    drop(runtime);
    ledger.check(ran.load(SeqCst));
}

/// Workers change threads in the middle of polls, while their tasks run.
pub(crate) fn in_place(random: &mut Random) {
    let mut builder = random.multi_thread();
    builder.scheduler(match random.below(3) {
        0 => Policy::Shared,
        _ => Policy::WorkStealing,
    });
    let runtime = builder.build().unwrap();
    let ledger = Ledger::default();
    let count = random.within(1, 60);
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let (outer, inner) = (ledger.ticket(), ledger.ticket());
            let (before, after) = (random.below(3), random.below(3));
            let joins = random.once_in(2);
            let pause = random.micros(500);
            runtime.spawn(async move {
                for _ in 0..before {
                    yield_now().await;
                }
                block_in_place(move || {
                    let task = raddle::spawn(async move {
                        yield_now().await;
                        inner.done();
                    });
                    if joins {
                        Handle::current().block_on(task).unwrap();
                    } else {
                        thread::sleep(pause);
                    }
                });
                for _ in 0..after {
                    yield_now().await;
                }
                outer.done();
            })
        })
        .collect();
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
        while ledger.done() < 2 * count {
            yield_now().await;
        }
    });
    drop(runtime);
    ledger.check(2 * count);
}
