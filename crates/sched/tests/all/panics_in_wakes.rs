//! Wakes that panic: after the wake owns the task and before a queue does, or right after.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::common::{DropTracker, POLICIES, Signal, config_of, message_of, pool_of, wait_until};
use raddle_primitives::sync::{Condvar, Mutex, Rank};
use raddle_sched::{Driver, Handle, Policy, Pool, Unpark};

/// Runs `test` on its own thread and checks that it ends.
fn check_ends(test: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = channel();
    let thread = thread::spawn(move || {
        test();
        sender.send(()).unwrap();
    });
    let ended = receiver.recv_timeout(Duration::from_secs(30));
    assert_eq!(ended, Ok(()), "the test hangs, or it panicked");
    thread.join().unwrap();
}

/// Spawns a task that waits for `signal`. Under `Sharded` it runs on worker 0.
fn spawn_waiting(handle: &Handle, policy: Policy, signal: &Signal, tracker: &DropTracker) {
    let (waits, tracked) = (signal.clone(), tracker.tracked());
    match policy {
        Policy::Sharded => drop(handle.spawn_on(0, move || async move {
            let not_send = std::rc::Rc::new(tracked);
            waits.await;
            drop(not_send);
        })),
        _ => drop(handle.spawn(async move {
            let _tracked = tracked;
            waits.await;
        })),
    }
    wait_until(|| signal.polls() == 1);
}

/// A task is woken under a lock under which no other lock may be taken, which a debug assertion
/// reports. The panic must not drop the task on the wrong thread, and the pool must not wait for
/// the task forever.
#[test]
fn a_wake_under_a_leaf_panics_and_leaves_the_task_to_its_worker() {
    if !cfg!(debug_assertions) {
        return;
    }
    for policy in POLICIES {
        let (tracker, signal) = (DropTracker::default(), Signal::default());
        let pool = pool_of(policy, 2);
        spawn_waiting(pool.handle(), policy, &signal, &tracker);
        let lock = Mutex::ranked(Rank::leaf("a lock of the test"), ());
        let waker = signal.waker().unwrap();
        let held = lock.lock();
        let message = message_of(|| {
            // While the task's poll has not returned, a wake takes no lock, and the task is polled
            // again.
            wait_until(|| {
                // The unwinding drops this waker's reference to the task.
                let by_value = waker.clone();
                by_value.wake();
                false
            });
        });
        assert!(message.contains("is taken under the lock \"a lock of the test\""));
        drop((held, waker));
        check_ends(move || drop(pool));
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 1), "{policy:?}");
        assert_ne!(
            tracker.drop_threads(),
            [thread::current().id()],
            "{policy:?}"
        );
    }
}

/// The same inside a task, whose worker's queue overflows into the injection queue.
#[test]
fn wakes_under_a_leaf_on_a_worker_lose_no_task() {
    if !cfg!(debug_assertions) {
        return;
    }
    const TASKS: usize = 1_000;
    for policy in POLICIES {
        let tracker = DropTracker::default();
        let pool = pool_of(policy, 1);
        let signals: Vec<_> = (0..TASKS).map(|_| Signal::default()).collect();
        for signal in &signals {
            spawn_waiting(pool.handle(), policy, signal, &tracker);
        }
        let wakers: Vec<_> = signals
            .iter()
            .map(|signal| signal.waker().unwrap())
            .collect();
        let waking = pool.handle().spawn(async move {
            let lock = Mutex::ranked(Rank::leaf("a lock of the test"), ());
            let _held = lock.lock();
            for waker in wakers {
                let wake = std::panic::AssertUnwindSafe(|| waker.wake());
                let _ = std::panic::catch_unwind(wake);
            }
        });
        pool.handle().block_on(waking).unwrap();
        check_ends(move || drop(pool));
        assert_eq!(
            (tracker.alive(), tracker.dropped()),
            (0, TASKS),
            "{policy:?}"
        );
        assert!(!tracker.drop_threads().contains(&thread::current().id()));
    }
}

/// A driver whose unparker wakes the worker and then panics.
#[derive(Clone, Default)]
struct PanickingUnpark(Arc<UnparkState>);

#[derive(Default)]
struct UnparkState {
    panics: AtomicBool,
    unparks: AtomicUsize,
    /// Whether a worker waits in the driver.
    waits: AtomicBool,
    unparked: Mutex<bool>,
    changed: Condvar,
}

impl Driver for PanickingUnpark {
    fn park(&mut self, timeout: Option<Duration>, _: usize) {
        let mut unparked = self.0.unparked.lock();
        while !*unparked && timeout.is_none() {
            self.0.waits.store(true, SeqCst);
            unparked = self.0.changed.wait(unparked);
        }
        self.0.waits.store(false, SeqCst);
        *unparked = false;
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(self.clone())
    }

    fn shutdown(&mut self) {}
}

impl Unpark for PanickingUnpark {
    fn unpark(&self) {
        *self.0.unparked.lock() = true;
        self.0.changed.notify_all();
        self.0.unparks.fetch_add(1, SeqCst);
        if self.0.panics.load(SeqCst) {
            std::panic::resume_unwind(Box::new("planted"));
        }
    }
}

#[test]
fn an_unparker_that_panics_loses_no_task_and_no_wake() {
    for policy in POLICIES {
        let (tracker, driver) = (DropTracker::default(), PanickingUnpark::default());
        let workers = match policy {
            // Each worker has its own driver.
            Policy::Sharded => 1,
            _ => 2,
        };
        let config = config_of(policy, workers);
        let pool = Pool::start(config, [Box::new(driver.clone()) as Box<dyn Driver>]).unwrap();
        let signals: Vec<_> = (0..10).map(|_| Signal::default()).collect();
        for signal in &signals {
            spawn_waiting(pool.handle(), policy, signal, &tracker);
        }
        driver.0.panics.store(true, SeqCst);
        for (index, signal) in signals[..5].iter().enumerate() {
            signal.set();
            wait_until(|| tracker.dropped() == index + 1);
        }
        // When all workers are idle, one waits in the driver, and the shutdown must unpark it.
        wait_until(|| driver.0.waits.load(SeqCst));
        // The shutdown wakes the workers and drops the other tasks.
        check_ends(move || drop(pool));
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 10), "{policy:?}");
        assert!(driver.0.unparks.load(SeqCst) > 0);
        assert!(!tracker.drop_threads().contains(&thread::current().id()));
    }
}
