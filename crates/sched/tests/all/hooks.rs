//! When hooks run, and what still works after a hook or the driver has panicked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{DropTracker, Gate, OnDrop, POLICIES, SHARING, Signal, config_of, wait_until};
use raddle_primitives::sync::{Condvar, Mutex};
use raddle_sched::{Config, CurrentThread, Driver, Handle, Hook, Pool, Step, Unpark, spawn};

/// A hook that panics at its first call.
fn panics_once() -> (Arc<AtomicBool>, Hook) {
    let panicked = Arc::new(AtomicBool::new(false));
    let theirs = panicked.clone();
    let hook: Hook = Arc::new(move || {
        if !theirs.swap(true, Ordering::SeqCst) {
            panic!("a hook panics on purpose");
        }
    });
    (panicked, hook)
}

fn check_pool_works(pool: &Pool) {
    for _ in 0..100 {
        let task = pool.handle().spawn(async {
            let inner = spawn(async { 7 });
            inner.await.unwrap()
        });
        assert_eq!(pool.handle().block_on(task).unwrap(), 7);
    }
}

/// The task is spawned by the hook itself, or by another thread while the hook runs.
#[test]
fn both_park_hooks_run_if_the_park_finds_a_task() {
    for is_outside in [false, true] {
        let spawner = Arc::new(Mutex::new(None::<Handle>));
        let (parks, unparks) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (handle, parked, unparked) = (spawner.clone(), parks.clone(), unparks.clone());
        let config = Config {
            on_thread_park: Some(Arc::new(move || {
                parked.fetch_add(1, Ordering::SeqCst);
                let Some(handle) = handle.lock().take() else {
                    return;
                };
                let spawn = move || drop(handle.spawn(async {}));
                match is_outside {
                    true => std::thread::spawn(spawn).join().unwrap(),
                    false => spawn(),
                }
            })),
            on_thread_unpark: Some(Arc::new(move || {
                unparked.fetch_add(1, Ordering::SeqCst);
            })),
            ..config_of(POLICIES[0], 1)
        };
        let (handle, mut workers) = Pool::stepped(config, None);
        *spawner.lock() = Some(handle);
        assert_eq!(workers[0].begin_park(), None);
        let counts = [&parks, &unparks].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(counts, [1, 1]);
        assert_eq!(workers[0].step(), Step::Ran);
    }
}

#[test]
fn a_panic_of_a_park_hook_retires_one_worker() {
    for policy in SHARING {
        let (panicked, hook) = panics_once();
        let pool = Pool::start(
            Config {
                on_thread_park: Some(hook),
                ..config_of(policy, 2)
            },
            None,
        )
        .unwrap();
        wait_until(|| panicked.load(Ordering::SeqCst));
        check_pool_works(&pool);
    }
}

#[test]
fn a_panic_of_an_unpark_hook_retires_one_worker_and_loses_no_task() {
    for policy in SHARING {
        for _ in 0..20 {
            let (panicked, hook) = panics_once();
            let pool = Pool::start(
                Config {
                    on_thread_unpark: Some(hook),
                    ..config_of(policy, 2)
                },
                None,
            )
            .unwrap();
            let signals: Vec<_> = (0..10).map(|_| Signal::default()).collect();
            let tasks: Vec<_> = signals
                .iter()
                .map(|signal| pool.handle().spawn(signal.clone()))
                .collect();
            wait_until(|| signals.iter().all(|signal| signal.polls() > 0));
            signals.iter().for_each(Signal::set);
            for task in tasks {
                pool.handle().block_on(task).unwrap();
            }
            check_pool_works(&pool);
            drop(pool);
            let _ = panicked;
        }
    }
}

#[test]
fn a_panic_of_the_last_worker_shuts_the_pool_down() {
    for policy in POLICIES {
        let (_, hook) = panics_once();
        let mut pool = Pool::start(
            Config {
                on_thread_park: Some(hook),
                ..config_of(policy, 1)
            },
            None,
        )
        .unwrap();
        let task = pool.handle().spawn(std::future::pending::<()>());
        assert!(pool.handle().block_on(task).unwrap_err().is_cancelled());
        assert!(pool.shutdown(None));
    }
}

/// A driver that, once armed, makes a task ready and panics in `park`.
#[derive(Clone, Default)]
struct PanickingDriver(Arc<PanickingDriverState>);

#[derive(Default)]
struct PanickingDriverState {
    armed: AtomicBool,
    signal: Signal,
    is_unparked: Mutex<bool>,
    changed: Condvar,
    shutdown_panics: AtomicBool,
}

impl Driver for PanickingDriver {
    fn park(&mut self, timeout: Option<Duration>, _limit: usize) {
        let mut is_unparked = self.0.is_unparked.lock();
        while !*is_unparked && timeout.is_none() {
            is_unparked = self.0.changed.wait(is_unparked);
        }
        *is_unparked = false;
        drop(is_unparked);
        if self.0.armed.swap(false, Ordering::SeqCst) {
            self.0.signal.set();
            panic!("a driver panics on purpose");
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(self.clone())
    }

    fn shutdown(&mut self) {
        if self.0.shutdown_panics.load(Ordering::SeqCst) {
            panic!("a driver's shutdown panics on purpose");
        }
    }
}

impl Unpark for PanickingDriver {
    fn unpark(&self) {
        *self.0.is_unparked.lock() = true;
        self.0.changed.notify_all();
    }
}

/// The task in the slot of the panicking worker runs on another worker, which also takes over the
/// driver.
#[test]
fn a_panic_of_the_driver_retires_one_worker_and_loses_no_task() {
    for policy in SHARING {
        for _ in 0..20 {
            let driver = PanickingDriver::default();
            let pool = Pool::start(
                config_of(policy, 2),
                [Box::new(driver.clone()) as Box<dyn Driver>],
            )
            .unwrap();
            let task = pool.handle().spawn(driver.0.signal.clone());
            wait_until(|| driver.0.signal.polls() == 1);
            driver.0.armed.store(true, Ordering::SeqCst);
            driver.unpark();
            pool.handle().block_on(task).unwrap();
            check_pool_works(&pool);
        }
    }
}

#[test]
fn a_panic_of_the_driver_leaves_a_current_thread_scheduler_usable() {
    let driver = PanickingDriver::default();
    let scheduler = CurrentThread::new(Config::default(), Some(Box::new(driver.clone())));
    for _ in 0..3 {
        let task = scheduler.handle().spawn(driver.0.signal.clone());
        driver.0.armed.store(true, Ordering::SeqCst);
        driver.unpark();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            scheduler.block_on(std::future::pending::<()>());
        }));
        assert!(panicked.is_err());
        scheduler.block_on(task).unwrap();
    }
}

#[test]
fn a_panic_in_the_shutdown_of_the_driver_does_not_hang_the_pool() {
    for policy in SHARING {
        let driver = PanickingDriver::default();
        driver.0.shutdown_panics.store(true, Ordering::SeqCst);
        let mut pool =
            Pool::start(config_of(policy, 2), [Box::new(driver) as Box<dyn Driver>]).unwrap();
        assert!(pool.shutdown(None));
    }
}

/// A driver that also panics when it is dropped.
struct PanicsOnDrop(PanickingDriver);

impl Driver for PanicsOnDrop {
    fn park(&mut self, timeout: Option<Duration>, limit: usize) {
        self.0.park(timeout, limit);
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        self.0.unparker()
    }

    fn shutdown(&mut self) {
        self.0.shutdown();
    }
}

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("a driver's drop panics on purpose");
    }
}

#[test]
fn panics_in_the_shutdown_and_the_drop_of_a_driver_are_contained() {
    for policy in SHARING {
        let driver = PanickingDriver::default();
        driver.0.shutdown_panics.store(true, Ordering::SeqCst);
        let driver: Box<dyn Driver> = Box::new(PanicsOnDrop(driver));
        let (handle, mut workers) = Pool::stepped(config_of(policy, 2), Some(driver));
        let tracker = DropTracker::default();
        let tracked = tracker.tracked();
        drop(handle.spawn(async move {
            let _tracked = tracked;
            std::future::pending::<()>().await;
        }));
        assert_eq!(workers[0].step(), Step::Ran);
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(workers)));
        assert!(dropped.is_ok());
        assert_eq!(tracker.alive(), 0);
    }
}

/// `around_worker` surrounds everything that a worker does, with the drops at its shutdown.
#[test]
fn around_worker_also_surrounds_the_drops_of_the_shutdown() {
    for policy in POLICIES {
        thread_local! {
            static INSIDE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
        }
        let tracker = DropTracker::default();
        let around = Arc::new(AtomicUsize::new(0));
        let counted = around.clone();
        let pool = Pool::start(
            Config {
                around_worker: Some(Arc::new(move |_, run| {
                    counted.fetch_add(1, Ordering::SeqCst);
                    INSIDE.set(true);
                    run();
                    INSIDE.set(false);
                })),
                ..config_of(policy, 2)
            },
            None,
        )
        .unwrap();
        let seen = Gate::default();
        let opened = seen.clone();
        let tracked = tracker.tracked();
        let guard = OnDrop(move || {
            let _ = &tracked;
            if INSIDE.get() && Handle::try_current().is_some() {
                opened.open();
            }
        });
        drop(pool.handle().spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        }));
        drop(pool);
        assert_eq!(around.load(Ordering::SeqCst), 2);
        assert_eq!(tracker.dropped(), 1);
        seen.wait();
    }
}

/// If `around_worker` does not call its argument, or panics, the pool loses that worker, and no
/// task hangs.
#[test]
fn a_worker_whose_around_worker_skips_the_loop_is_retired() {
    for policy in SHARING {
        for panics in [false, true] {
            let first = AtomicBool::new(true);
            let pool = Pool::start(
                Config {
                    around_worker: Some(Arc::new(move |_, run| {
                        if !first.swap(false, Ordering::SeqCst) {
                            return run();
                        }
                        assert!(!panics, "around_worker panics on purpose");
                    })),
                    ..config_of(policy, 2)
                },
                None,
            )
            .unwrap();
            check_pool_works(&pool);
        }
    }
}
