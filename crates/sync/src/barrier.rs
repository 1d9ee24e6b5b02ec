//! The barrier.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use raddle_std::sync::{Mutex, Rank};

use crate::wait_list::WaitList;
use crate::wakers::Wakers;

/// A point at which a number of tasks wait for one another.
///
/// It can be used again at once: who comes after it has opened waits for the
/// next time.
///
/// # Examples
///
/// ```
/// # #[cfg(not(raddle_loom))]
/// # futures_lite::future::block_on(async {
/// use raddle_sync::Barrier;
///
/// let barrier = Barrier::new(2);
/// let (one, other) = futures_lite::future::zip(barrier.wait(), barrier.wait()).await;
/// assert_ne!(one.is_leader(), other.is_leader());
/// # });
/// ```
pub struct Barrier {
    size: usize,
    state: Mutex<State>,
}

struct State {
    /// How many have come since it last opened, and have not gone.
    arrived: usize,
    /// How often it has opened.
    opened: usize,
    waiters: WaitList<Waiter>,
}

struct Waiter {
    /// What `opened` was when it came: once that has changed, it may go.
    came: usize,
    waker: Waker,
}

/// Whether a task was the one that opened a [`Barrier`].
#[derive(Clone, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// True for exactly one of the tasks that passed together: the last to come.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier that opens when `n` tasks have come. None is as good as one:
    /// nobody waits.
    #[track_caller]
    pub fn new(n: usize) -> Self {
        Self {
            size: n.max(1),
            state: Mutex::ranked(
                Rank::leaf("barrier"),
                State {
                    arrived: 0,
                    opened: 0,
                    waiters: WaitList::new(),
                },
            ),
        }
    }

    /// Comes to the barrier, and waits until as many have come as it needs.
    ///
    /// # Cancel safety
    ///
    /// Dropped before the barrier has opened, it is as if the task had never
    /// come. Dropped after that, but before it was polled again, it has taken
    /// part.
    pub async fn wait(&self) -> BarrierWaitResult {
        Wait {
            barrier: self,
            key: None,
        }
        .await
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// The future of [`Barrier::wait`].
struct Wait<'a> {
    barrier: &'a Barrier,
    /// Its place among the waiters, while it waits.
    key: Option<usize>,
}

impl Wait<'_> {
    fn poll_first(&mut self, waker: &Waker) -> Poll<BarrierWaitResult> {
        // Before the lock, and dropped after it: that is the executor's code.
        let mut waker = Some(waker.clone());
        let mut state = self.barrier.state.lock();
        let came = state.opened;
        if state.arrived + 1 == self.barrier.size {
            state.arrived = 0;
            state.opened = came.wrapping_add(1);
            let mut wakers = Wakers::default();
            while let Some(key) = state.waiters.first() {
                let waiter = state.waiters.get_mut(key);
                wakers.push(mem::replace(&mut waiter.waker, Waker::noop().clone()));
                state.waiters.unqueue(key);
            }
            drop(state);
            wakers.wake_all();
            return Poll::Ready(BarrierWaitResult(true));
        }
        if let Some(waker) = waker.take() {
            state.arrived += 1;
            self.key = Some(state.waiters.push_back(Waiter { came, waker }));
        }
        Poll::Pending
    }

    fn poll_again(&mut self, key: usize, waker: &Waker) -> Poll<BarrierWaitResult> {
        // Before the lock, and dropped after it.
        let mut waker = waker.clone();
        let mut state = self.barrier.state.lock();
        let opened = state.opened;
        let waiter = state.waiters.get_mut(key);
        if waiter.came == opened {
            mem::swap(&mut waiter.waker, &mut waker);
            return Poll::Pending;
        }
        self.key = None;
        let waiter = state.waiters.remove(key);
        drop(state);
        drop(waiter);
        Poll::Ready(BarrierWaitResult(false))
    }
}

impl Future for Wait<'_> {
    type Output = BarrierWaitResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let coop = ready!(raddle_coop::poll_proceed(cx));
        let this = self.get_mut();
        let result = match this.key {
            None => this.poll_first(cx.waker()),
            Some(key) => this.poll_again(key, cx.waker()),
        };
        if result.is_ready() {
            coop.made_progress();
        }
        result
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        let mut state = self.barrier.state.lock();
        let waiter = state.waiters.remove(key);
        if waiter.came == state.opened {
            state.arrived -= 1;
        }
        drop(state);
    }
}
