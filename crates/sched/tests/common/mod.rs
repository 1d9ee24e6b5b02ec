//! Helpers of the tests, and of the models.
#![allow(dead_code, reason = "each binary of tests uses a part of them")]

pub(crate) mod driver;
pub(crate) mod handoff;
pub(crate) mod sleeper;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Condvar, Mutex};
use raddle_sched::{Config, CurrentThread, Policy, Pool};

pub(crate) fn config(workers: usize) -> Config {
    Config {
        workers,
        ..Config::default()
    }
}

/// A config without spare workers, for a test that counts handoffs: one more would come if a thread
/// did not run for some milliseconds.
pub(crate) fn config_without_spares(workers: usize) -> Config {
    Config {
        max_spare_workers: 0,
        ..config(workers)
    }
}

pub(crate) fn pool(workers: usize) -> Pool {
    Pool::start(config(workers), None).unwrap()
}

/// All policies. A test of what holds under every policy runs under each of them.
pub(crate) const POLICIES: [Policy; 3] = [Policy::WorkStealing, Policy::Shared, Policy::Sharded];

/// The policies under which any worker may run any task.
pub(crate) const SHARING: [Policy; 2] = [Policy::WorkStealing, Policy::Shared];

pub(crate) fn config_of(policy: Policy, workers: usize) -> Config {
    Config {
        policy,
        ..config(workers)
    }
}

pub(crate) fn pool_of(policy: Policy, workers: usize) -> Pool {
    Pool::start(config_of(policy, workers), None).unwrap()
}

pub(crate) fn current_thread() -> CurrentThread {
    CurrentThread::new(Config::default(), None)
}

/// Waits until the condition holds. The limit only keeps a failing test from hanging.
#[track_caller]
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    let mut pause = Duration::from_micros(10);
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "the condition did not hold within 30 s"
        );
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(1));
    }
}

/// Returns the message with which `f` panics.
pub(crate) fn message_of(f: impl FnOnce()) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_err();
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast::<&str>().unwrap().to_string(),
    }
}

/// A gate that one thread opens once and others wait at.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub(crate) fn open(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }

    pub(crate) fn wait(&self) {
        let mut open = self.0.0.lock();
        while !*open {
            open = self.0.1.wait(open);
        }
    }
}

/// Counts how many values are alive and how many were dropped, and records the thread of each drop.
#[derive(Clone, Default)]
pub(crate) struct DropTracker(Arc<DropTrackerState>);

#[derive(Default)]
struct DropTrackerState {
    made: AtomicUsize,
    dropped: AtomicUsize,
    threads: Mutex<Vec<ThreadId>>,
}

impl DropTracker {
    pub(crate) fn tracked(&self) -> Tracked {
        self.0.made.fetch_add(1, Ordering::SeqCst);
        Tracked(self.clone())
    }

    pub(crate) fn dropped(&self) -> usize {
        self.0.dropped.load(Ordering::SeqCst)
    }

    pub(crate) fn alive(&self) -> usize {
        self.0.made.load(Ordering::SeqCst) - self.dropped()
    }

    pub(crate) fn drop_threads(&self) -> Vec<ThreadId> {
        self.0.threads.lock().clone()
    }
}

/// A value that a [`DropTracker`] counts.
pub(crate) struct Tracked(DropTracker);

impl Drop for Tracked {
    fn drop(&mut self) {
        self.0.0.threads.lock().push(thread::current().id());
        self.0.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Runs a function when dropped.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Wakes itself at every poll, without end. Counts its polls.
pub(crate) struct SelfWaking(pub(crate) Arc<AtomicUsize>);

impl Future for SelfWaking {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// A future that is ready once it is set. Counts its polls.
#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<Mutex<SignalState>>);

#[derive(Default)]
struct SignalState {
    set: bool,
    polls: usize,
    waker: Option<Waker>,
}

impl Signal {
    pub(crate) fn set(&self) {
        let waker = {
            let mut state = self.0.lock();
            state.set = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Sets the signal, and returns the waker for a driver to call.
    pub(crate) fn prepare(&self) -> Option<Waker> {
        let mut state = self.0.lock();
        state.set = true;
        state.waker.take()
    }

    pub(crate) fn polls(&self) -> usize {
        self.0.lock().polls
    }

    pub(crate) fn waker(&self) -> Option<Waker> {
        self.0.lock().waker.clone()
    }
}

/// Becomes ready once the signal is set, and clears it.
impl Future for Signal {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut state = self.0.lock();
        state.polls += 1;
        if std::mem::take(&mut state.set) {
            return Poll::Ready(());
        }
        let old = state.waker.replace(waker);
        drop(state);
        drop(old);
        Poll::Pending
    }
}
