//! What the system may do to a worker at any moment: wake it without a reason, not run it for a
//! while, or stall its driver. All of this may cost time, but loses no task.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{DropTracker, POLICIES, SHARING, Signal, config_of, wait_until};
use raddle_sched::{AroundWorker, Config, Driver, Handle, Policy, Pool, Unpark, spawn, yield_now};

/// Spawns tasks from outside and inside, wakes and joins them, and checks that each is dropped
/// once.
fn run_tasks(handle: &Handle, rounds: usize) {
    let tracker = DropTracker::default();
    for _ in 0..rounds {
        let tracked = tracker.tracked();
        let signal = Signal::default();
        let waiting = signal.clone();
        let task = handle.spawn(async move {
            let _tracked = tracked;
            let child = spawn(yield_now());
            waiting.await;
            child.await.unwrap();
        });
        signal.set();
        handle.block_on(task).unwrap();
    }
    wait_until(|| tracker.alive() == 0);
    assert_eq!(tracker.dropped(), rounds);
}

/// Runs `body` on each worker's thread, and keeps its result in the list while the worker exists.
fn around<T: Send + 'static>(
    list: &Arc<Mutex<Vec<Option<T>>>>,
    body: impl Fn() -> T + Send + Sync + 'static,
) -> AroundWorker {
    let list = list.clone();
    Arc::new(move |_, run| {
        let index = {
            let mut list = list.lock().unwrap();
            list.push(Some(body()));
            list.len() - 1
        };
        run();
        list.lock().unwrap()[index] = None;
    })
}

/// std's `park` may return at any time, and any code may unpark a thread.
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
            run_tasks(pool.handle(), 300);
            over.store(true, SeqCst);
        });
        // The idle set is still correct: an idle pool runs one task, and then another.
        run_tasks(pool.handle(), 10);
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

/// Suspends worker threads at arbitrary points, for a second in all.
#[test]
fn tasks_complete_though_worker_threads_are_suspended() {
    // SAFETY: the handler calls only functions that are safe in a signal handler.
    unsafe { libc::signal(libc::SIGUSR2, suspend as *const () as libc::sighandler_t) };
    for policy in POLICIES {
        let threads = Arc::new(Mutex::new(Vec::new()));
        // SAFETY: `pthread_self` has no preconditions.
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
                        // SAFETY: a listed thread exists, and the list is locked.
                        unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
                    }
                    thread::sleep(Duration::from_millis(50));
                }
                over.store(true, SeqCst);
            });
            while !over.load(SeqCst) {
                run_tasks(pool.handle(), 5);
            }
        });
        run_tasks(pool.handle(), 10);
    }
}

/// A driver that ignores unparks for a while and dispatches no event.
struct StallingDriver {
    parks: Arc<AtomicUsize>,
}

struct IgnoredUnpark;

impl Unpark for IgnoredUnpark {
    fn unpark(&self) {}
}

impl Driver for StallingDriver {
    fn park(&mut self, timeout: Option<Duration>, _: usize) {
        self.parks.fetch_add(1, SeqCst);
        if timeout != Some(Duration::ZERO) {
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(IgnoredUnpark)
    }

    fn shutdown(&mut self) {}
}

/// The other workers run the tasks; the shutdown waits for the driver to return.
#[test]
fn tasks_complete_on_other_workers_while_the_driver_stalls() {
    for policy in SHARING {
        let parks = Arc::new(AtomicUsize::new(0));
        let driver: Box<dyn Driver> = Box::new(StallingDriver {
            parks: parks.clone(),
        });
        let pool = Pool::start(config_of(policy, 3), [driver]).unwrap();
        wait_until(|| parks.load(SeqCst) > 0);
        run_tasks(pool.handle(), 200);
        let before = parks.load(SeqCst);
        // There are many more tasks than parks, so the tasks did not wait for the driver.
        assert!(before < 100, "{before} parks");
        drop(pool);
    }
}

/// A worker that is alone is late, but makes progress.
#[test]
fn tasks_complete_on_the_only_worker_though_its_driver_stalls() {
    let parks = Arc::new(AtomicUsize::new(0));
    let driver: Box<dyn Driver> = Box::new(StallingDriver {
        parks: parks.clone(),
    });
    let pool = Pool::start(config_of(Policy::WorkStealing, 1), [driver]).unwrap();
    wait_until(|| parks.load(SeqCst) > 0);
    run_tasks(pool.handle(), 2);
}
