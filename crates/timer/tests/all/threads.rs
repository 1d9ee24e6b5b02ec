//! Real threads and the real clock: a driver, and others that use its timers.

use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_testing::block_on;
use raddle_timer::{Handle, Instant, Timers, sleep, sleep_until, timeout};

/// Runs `f` on four threads, which have a shard each, or one for all, while a fifth drives the
/// timers.
fn with_driver(f: fn(u64)) {
    for shards in [1, 4] {
        with_driver_of(shards, f);
    }
}

fn with_driver_of(shards: usize, f: fn(u64)) {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = std::sync::mpsc::channel::<Vec<Handle>>();
    let stopped = Arc::clone(&stop);
    let driver = thread::spawn(move || {
        let thread = thread::current();
        let mut timers = Timers::sharded(shards, Arc::new(move || thread.unpark()));
        let handles = timers.handles().collect();
        sender.send(handles).expect("the test waits for them");
        while !stopped.load(Ordering::Acquire) {
            match timers.next_deadline() {
                Some(deadline) => thread::park_timeout(deadline - timers.now()),
                None => thread::park(),
            }
            timers.fire_due();
        }
    });
    let handles = receiver.recv().expect("the driver sends its handles");
    let users: Vec<_> = (0..4)
        .map(|seed| {
            let handle = handles[seed as usize % shards].clone();
            thread::spawn(move || {
                let _entered = handle.enter();
                f(seed);
            })
        })
        .collect();
    for user in users {
        user.join().expect("no user of the timers panics");
    }
    stop.store(true, Ordering::Release);
    driver.thread().unpark();
    driver.join().expect("the driver ends");
}

#[test]
fn sleeps_of_several_threads_end() {
    with_driver(|seed| {
        for round in 0..50 {
            let start = Instant::now();
            let duration = Duration::from_micros((seed * 977 + round * 331) % 3_000);
            block_on(sleep(duration));
            assert!(start.elapsed() >= duration);
        }
    });
}

#[test]
fn timers_are_dropped_and_reset_while_they_fire() {
    with_driver(|seed| {
        let mut random = seed * 2 + 1;
        for _ in 0..300 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let choice = random >> 40;
            let mut first = Box::pin(sleep(Duration::from_micros(choice % 2_000)));
            let mut cx = Context::from_waker(Waker::noop());
            let _ = first.as_mut().poll(&mut cx);
            for _ in 0..choice % 300 {
                std::hint::spin_loop();
            }
            match choice % 4 {
                0 => drop(first),
                1 => {
                    first.as_mut().reset(Instant::now());
                    block_on(first);
                }
                2 => {
                    let later = first.deadline() + Duration::from_millis(1);
                    first.as_mut().reset(later);
                    block_on(first);
                }
                _ => {
                    let sooner = sleep_until(first.deadline());
                    let _ = block_on(timeout(Duration::from_secs(10), sooner));
                }
            }
        }
    });
}
