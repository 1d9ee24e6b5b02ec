//! A poll that does not return blocks one worker and nothing else.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::with_policy;
use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::TcpListener;
use raddle::runtime::Policy;
use raddle::time::{sleep, sleep_until};

const ROUNDS: usize = 20;

/// Blocks the thread until `count` reaches `target`; panics after a limit, so that a failing test
/// does not hang.
fn block_until(count: &AtomicUsize, target: usize) {
    let start = Instant::now();
    while count.load(SeqCst) < target {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "the count was not reached within 30 seconds"
        );
        thread::sleep(Duration::from_micros(100));
    }
}

/// tokio 4730.
#[test]
fn timers_fire_while_a_worker_is_stuck() {
    for policy in [Policy::WorkStealing, Policy::Shared] {
        let runtime = with_policy(policy).worker_threads(2).build().unwrap();
        let ticks = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&ticks);
        runtime.spawn(async move {
            loop {
                sleep(Duration::from_millis(1)).await;
                ticks.fetch_add(1, SeqCst);
            }
        });
        // Twice, so that either worker may be the stuck one.
        for round in 1..=2 {
            let seen = Arc::clone(&seen);
            let stuck = runtime.spawn(async move {
                sleep(Duration::from_millis(2)).await;
                block_until(&seen, round * ROUNDS);
            });
            runtime.block_on(stuck).unwrap();
        }
    }
}

/// tokio 6315.
#[test]
fn sockets_are_served_while_a_worker_is_stuck() {
    for policy in [Policy::WorkStealing, Policy::Shared] {
        let runtime = with_policy(policy).worker_threads(2).build().unwrap();
        let (echoes, accepted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (seen, opened) = (Arc::clone(&echoes), Arc::clone(&accepted));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                accepted.fetch_add(1, SeqCst);
                raddle::spawn(async move {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).await.is_ok() {
                        stream.write_all(&byte).await.unwrap();
                    }
                });
            }
        });
        let client = thread::spawn(move || {
            // One connection a round, so that both the listener and the streams are used.
            for _ in 0..2 * ROUNDS {
                let mut stream = std::net::TcpStream::connect(address).unwrap();
                let mut byte = [7];
                stream.write_all(&byte).unwrap();
                stream.read_exact(&mut byte).unwrap();
                echoes.fetch_add(1, SeqCst);
            }
        });
        for round in 1..=2 {
            let seen = Arc::clone(&seen);
            let stuck = runtime.spawn(async move { block_until(&seen, round * ROUNDS) });
            runtime.block_on(stuck).unwrap();
        }
        client.join().unwrap();
        assert_eq!(opened.load(SeqCst), 2 * ROUNDS);
    }
}

#[test]
fn tasks_behind_the_first_stuck_poll_run() {
    let runtime = with_policy(Policy::WorkStealing)
        .worker_threads(2)
        .build()
        .unwrap();
    for _ in 0..3 {
        let smooth = runtime.spawn(async {
            for _ in 0..5 * ROUNDS {
                sleep(Duration::from_millis(1)).await;
            }
        });
        runtime.block_on(smooth).unwrap();
        let due = raddle::time::Instant::now() + Duration::from_millis(5);
        let ran = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let ran = Arc::clone(&ran);
                runtime.spawn(async move {
                    sleep_until(due).await;
                    if ran.fetch_add(1, SeqCst) == 0 {
                        block_until(&ran, 4);
                    }
                })
            })
            .collect();
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
    }
}
