//! What several tests need.
#![allow(dead_code)]

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

pub(crate) fn pool(workers: usize) -> Pool {
    Pool::start(config(workers), None).unwrap()
}

/// What must hold of every policy is tested under each.
pub(crate) const POLICIES: [Policy; 3] = [Policy::WorkStealing, Policy::Shared, Policy::Sharded];

/// Those under which any worker may run any task.
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

/// Waits for what must come; the limit only keeps a test that fails from
/// hanging.
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(30), "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The message of a panic.
pub(crate) fn message_of(f: impl FnOnce()) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_err();
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast::<&str>().unwrap().to_string(),
    }
}

/// A gate that is opened once and that threads wait at.
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

/// Counts values that are there and values that were dropped, and remembers on
/// which threads.
#[derive(Clone, Default)]
pub(crate) struct Census(Arc<CensusState>);

#[derive(Default)]
struct CensusState {
    made: AtomicUsize,
    dropped: AtomicUsize,
    threads: Mutex<Vec<ThreadId>>,
}

impl Census {
    pub(crate) fn citizen(&self) -> Citizen {
        self.0.made.fetch_add(1, Ordering::SeqCst);
        Citizen(self.clone())
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

/// One value of a [`Census`].
pub(crate) struct Citizen(Census);

impl Drop for Citizen {
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

/// Wakes itself at each poll, for ever; counts the polls.
pub(crate) struct SelfWaking(pub(crate) Arc<AtomicUsize>);

impl Future for SelfWaking {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Waits until it is set, and counts its polls.
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

    pub(crate) fn polls(&self) -> usize {
        self.0.lock().polls
    }

    pub(crate) fn waker(&self) -> Option<Waker> {
        self.0.lock().waker.clone()
    }
}

/// Ready once the signal is set, which it clears.
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
