//! What the system may do to a worker at any moment: wake it without a reason, not
//! run it for a while, or let its driver stall. All of it may cost time, and no
//! task.
#![cfg(all(unix, not(raddle_loom)))]
#![allow(clippy::disallowed_types, reason = "never modelled")]

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use common::{Census, POLICIES, SHARING, Signal, config_of, wait_until};
use raddle_sched::{AroundWorker, Config, Driver, Handle, Policy, Pool, Unpark, spawn, yield_now};

/// Spawns from outside and inside, wakes and joins, and accounts for it all.
fn work(handle: &Handle, rounds: usize) {
    let census = Census::default();
    for _ in 0..rounds {
        let citizen = census.citizen();
        let signal = Signal::default();
        let waiting = signal.clone();
        let task = handle.spawn(async move {
            let _citizen = citizen;
            let child = spawn(yield_now());
            waiting.await;
            child.await.unwrap();
        });
        signal.set();
        handle.block_on(task).unwrap();
    }
    wait_until(|| census.alive() == 0);
    assert_eq!(census.dropped(), rounds);
}

/// Runs `body` on each worker's thread, and keeps what it gives for as long as the
/// worker is there.
fn around<T: Send + 'static>(
    list: &Arc<Mutex<Vec<Option<T>>>>,
    body: impl Fn() -> T + Send + Sync + 'static,
) -> AroundWorker {
    let list = list.clone();
    Arc::new(move |_, run| {
        let place = {
            let mut list = list.lock().unwrap();
            list.push(Some(body()));
            list.len() - 1
        };
        run();
        list.lock().unwrap()[place] = None;
    })
}

/// std's `park` may return at any time, and anybody may unpark a thread.
#[test]
fn tasks_complete_though_threads_are_unparked_spuriously() {
    for policy in POLICIES {
        let threads = Arc::new(Mutex::new(Vec::new()));
        let config = Config {
            around_worker: Some(around(&threads, thread::current)),
            ..config_of(policy, 3)
        };
        let pool = Pool::start(config, None).unwrap();
        let over = AtomicBool::new(false);
        let main = thread::current();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(SeqCst) {
                    main.unpark();
                    for thread in threads.lock().unwrap().iter().flatten() {
                        thread.unpark();
                    }
                    thread::yield_now();
                }
            });
            work(pool.handle(), 300);
            over.store(true, SeqCst);
        });
        // The books are in order: an idle pool takes one task, and the next.
        work(pool.handle(), 10);
    }
}

extern "C" fn suspend(_: libc::c_int) {
    let duration = libc::timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    // SAFETY: a signal handler may sleep.
    unsafe { libc::nanosleep(&duration, std::ptr::null_mut()) };
}

/// A worker whose thread does not run, wherever it is, for a second in all.
#[test]
fn tasks_complete_though_worker_threads_are_suspended() {
    // SAFETY: the handler calls nothing but what a handler may call.
    unsafe { libc::signal(libc::SIGUSR2, suspend as *const () as libc::sighandler_t) };
    for policy in POLICIES {
        let threads = Arc::new(Mutex::new(Vec::new()));
        // SAFETY: it has no conditions.
        let of_thread = || unsafe { libc::pthread_self() } as usize;
        let config = Config {
            around_worker: Some(around(&threads, of_thread)),
            ..config_of(policy, 3)
        };
        let pool = Pool::start(config, None).unwrap();
        wait_until(|| threads.lock().unwrap().len() == 3);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..20 {
                    {
                        let threads = threads.lock().unwrap();
                        let there: Vec<usize> = threads.iter().flatten().copied().collect();
                        let thread = there[round % there.len()] as libc::pthread_t;
                        // SAFETY: the thread is there while it is listed, and the
                        // list is locked.
                        unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
                    }
                    thread::sleep(Duration::from_millis(50));
                }
                over.store(true, SeqCst);
            });
            while !over.load(SeqCst) {
                work(pool.handle(), 5);
            }
        });
        work(pool.handle(), 10);
    }
}

/// A driver that does not hear of an unpark for a while, and finds no event.
struct Stalls {
    turns: Arc<AtomicUsize>,
}

struct Deaf;

impl Unpark for Deaf {
    fn unpark(&self) {}
}

impl Driver for Stalls {
    fn park(&mut self, timeout: Option<Duration>, _: usize) {
        self.turns.fetch_add(1, SeqCst);
        if timeout != Some(Duration::ZERO) {
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(Deaf)
    }

    fn shutdown(&mut self) {}
}

/// The other workers do what there is; the end comes when the driver comes back.
#[test]
fn tasks_complete_on_other_workers_while_the_driver_stalls() {
    for policy in SHARING {
        let turns = Arc::new(AtomicUsize::new(0));
        let driver: Box<dyn Driver> = Box::new(Stalls {
            turns: turns.clone(),
        });
        let pool = Pool::start(config_of(policy, 3), [driver]).unwrap();
        wait_until(|| turns.load(SeqCst) > 0);
        work(pool.handle(), 200);
        let before = turns.load(SeqCst);
        // Many more tasks than turns: they did not wait for the driver.
        assert!(before < 100, "{before} turns");
        drop(pool);
    }
}

/// Alone, a worker is late, but goes on.
#[test]
fn tasks_complete_on_the_only_worker_though_its_driver_stalls() {
    let turns = Arc::new(AtomicUsize::new(0));
    let driver: Box<dyn Driver> = Box::new(Stalls {
        turns: turns.clone(),
    });
    let pool = Pool::start(config_of(Policy::WorkStealing, 1), [driver]).unwrap();
    wait_until(|| turns.load(SeqCst) > 0);
    work(pool.handle(), 2);
}
