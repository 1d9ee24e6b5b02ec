//! Runtimes that shut down while sockets, timers, wakers and blocking work are in use.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use raddle::runtime::{Handle, Runtime};
use raddle::task::yield_now;
use raddle::time::{interval, sleep};

use crate::ledger::Ledger;
use crate::random::Random;

type Wakers = Arc<Mutex<Vec<Waker>>>;

/// Spawns tasks that each wait for one event that never happens.
fn arm(handle: &Handle, ledger: &Ledger, wakers: &Wakers, random: &mut Random) {
    let _guard = handle.enter();
    for _ in 0..random.within(1, 40) {
        let ticket = ledger.ticket();
        match random.below(6) {
            0 => drop(handle.spawn(async move {
                let _ticket = ticket;
                sleep(Duration::from_secs(3600)).await;
            })),
            1 => {
                let period = Duration::from_micros(random.within(1, 2000) as u64);
                drop(handle.spawn(async move {
                    let _ticket = ticket;
                    let mut ticks = interval(period);
                    loop {
                        ticks.tick().await;
                    }
                }));
            }
            2 => {
                let wakers = wakers.clone();
                drop(handle.spawn(async move {
                    let _ticket = ticket;
                    poll_fn(|cx| {
                        let waker = cx.waker().clone();
                        let mut all = wakers.lock().unwrap();
                        if all.len() < 100 {
                            all.push(waker);
                        }
                        Poll::<()>::Pending
                    })
                    .await;
                }));
            }
            3 => drop(handle.spawn(async move {
                let _ticket = ticket;
                loop {
                    yield_now().await;
                }
            })),
            4 => drop(handle.spawn_blocking(move || ticket.done())),
            _ => {
                #[cfg(unix)]
                crate::sockets::wait_for_ever(handle, ticket);
                #[cfg(not(unix))]
                drop(ticket);
            }
        }
    }
}

fn end(runtime: Runtime, random: &mut Random) {
    match random.below(6) {
        0 => runtime.shutdown_background(),
        1 => runtime.shutdown_timeout(random.micros(3000)),
        2 => {
            let other = random.runtime();
            let task = other.spawn(async move { drop(runtime) });
            other.block_on(task).unwrap();
        }
        3 => {
            let handle = runtime.handle().clone();
            let work = handle.spawn_blocking(move || drop(runtime));
            drop(work);
        }
        _ => drop(runtime),
    }
}

/// Shuts a runtime down while tasks wait for sockets, timers, wakers and blocking work. Other
/// threads wake and spawn tasks before, during and after the shutdown.
pub(crate) fn armed(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let wakers = Wakers::default();
    let over = Arc::new(AtomicBool::new(false));
    let foreign: Vec<_> = (0..random.below(3))
        .map(|_| {
            let handle = runtime.handle().clone();
            let (ledger, wakers, over) = (ledger.clone(), wakers.clone(), over.clone());
            let mut random = random.split();
            thread::spawn(move || {
                while !over.load(SeqCst) {
                    let waker = wakers.lock().unwrap().pop();
                    if let Some(waker) = waker {
                        waker.wake_by_ref();
                        drop(waker.clone());
                        waker.wake();
                    }
                    if random.once_in(4) {
                        arm(&handle, &ledger, &wakers, &mut random);
                    }
                    let ticket = ledger.ticket();
                    let task = handle.spawn(async move { ticket.done() });
                    if random.once_in(8) {
                        let _ = handle.block_on(task);
                    }
                }
            })
        })
        .collect();
    arm(runtime.handle(), &ledger, &wakers, random);
    let pause = random.micros(3000);
    runtime.block_on(async {
        for _ in 0..random.below(20) {
            yield_now().await;
        }
        sleep(pause).await;
    });
    end(runtime, random);
    over.store(true, SeqCst);
    for thread in foreign {
        thread.join().unwrap();
    }
    // Wakers that are used after the shutdown keep no future alive.
    for waker in std::mem::take(&mut *wakers.lock().unwrap()) {
        waker.wake_by_ref();
        waker.wake();
    }
    // Not every kind of shutdown waits until all tasks are dropped.
    ledger.await_returned();
}

/// tokio 2535, 3477: many runtimes in a row, each dropped shortly after it was built.
pub(crate) fn short(random: &mut Random) {
    let ledger = Ledger::default();
    for _ in 0..random.within(5, 20) {
        let runtime = random.runtime();
        let wakers = Wakers::default();
        for _ in 0..random.below(4) {
            arm(runtime.handle(), &ledger, &wakers, random);
        }
        if random.once_in(2) {
            runtime.block_on(async { yield_now().await });
        }
        drop(runtime);
        drop(wakers);
        ledger.check_returned();
    }
}
