//! Senders that wait for the receiver to close.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker, ready};

use raddle_std::WakerBatch;
use raddle_std::sync::Mutex;

use crate::wait_list::WaitList;

/// Those who wait. A waker is taken out when it is woken, its place is kept
/// until the wait has noticed.
#[derive(Debug)]
pub(super) struct ClosedWaiters(Mutex<WaitList<Option<Waker>>>);

impl ClosedWaiters {
    pub(super) fn new() -> Self {
        Self(Mutex::new(WaitList::new()))
    }

    /// Waits until `is_closed`, which [`wake_all`](Self::wake_all) follows.
    pub(super) async fn wait(&self, is_closed: impl Fn() -> bool) {
        let mut wait = Wait {
            waiters: self,
            key: None,
        };
        poll_fn(|cx| {
            let coop = ready!(raddle_coop::poll_proceed(cx));
            if !is_closed() {
                ready!(wait.poll(cx, &is_closed));
            }
            coop.made_progress();
            Poll::Ready(())
        })
        .await;
    }

    /// Wakes everybody, after the channel was closed.
    pub(super) fn wake_all(&self) {
        WakeAll(self).run();
    }
}

/// Wakes everybody, also if wakers panic: the first of the panics goes on.
struct WakeAll<'a>(&'a ClosedWaiters);

impl WakeAll<'_> {
    fn run(&self) {
        loop {
            let mut batch = WakerBatch::new();
            let mut waiters = self.0.0.lock();
            while !batch.is_full()
                && let Some(first) = waiters.first()
            {
                waiters.unqueue(first);
                if let Some(waker) = waiters.get_mut(first).take() {
                    batch.push(waker);
                }
            }
            drop(waiters);
            if batch.is_empty() {
                return;
            }
            batch.wake_all();
        }
    }
}

impl Drop for WakeAll<'_> {
    fn drop(&mut self) {
        while catch_unwind(AssertUnwindSafe(|| self.run())).is_err() {}
    }
}

/// One wait, from its first poll that is not ready.
struct Wait<'a> {
    waiters: &'a ClosedWaiters,
    key: Option<usize>,
}

impl Wait<'_> {
    fn poll(&mut self, cx: &mut Context<'_>, is_closed: impl Fn() -> bool) -> Poll<()> {
        // Dropped after the lock, as is a waker that it replaces.
        let mut waker = Some(cx.waker().clone());
        let mut waiters = self.waiters.0.lock();
        if is_closed() {
            return Poll::Ready(());
        }
        match self.key {
            None => self.key = Some(waiters.push_back(waker.take())),
            Some(key) => std::mem::swap(waiters.get_mut(key), &mut waker),
        }
        drop(waiters);
        Poll::Pending
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let mut waiters = self.waiters.0.lock();
            let waker = waiters.remove(key);
            drop(waiters);
            drop(waker);
        }
    }
}
