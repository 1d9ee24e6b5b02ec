//! The barrier.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::{Resource, ResourceSpan};
use raddle_primitives::sync::{Mutex, Rank};

use crate::wait_list::{Node, WaitList};
use crate::wakers::Wakers;

/// A point at which a number of tasks wait for one another.
///
/// It can be reused: a task that calls `wait` after the barrier has opened waits for the next
/// opening.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::Barrier;
/// use std::sync::Arc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let barrier = Arc::new(Barrier::new(3));
/// let tasks: Vec<_> = (0..3)
///     .map(|_| {
///         let barrier = Arc::clone(&barrier);
///         raddle::spawn(async move { barrier.wait().await.is_leader() })
///     })
///     .collect();
/// let mut leaders = 0;
/// for task in tasks {
///     leaders += usize::from(task.await?);
/// }
/// assert_eq!(leaders, 1);
/// # Ok(())
/// # }) }
/// ```
pub struct Barrier {
    size: usize,
    /// The span that tokio-console shows.
    _span: ResourceSpan,
    state: Mutex<State>,
}

struct State {
    /// The number of tasks that have arrived since the barrier last opened.
    arrived: usize,
    /// The arrived tasks that wait; released when the barrier opens.
    waiters: WaitList<Waker, ()>,
}

/// The result of [`Barrier::wait`]: whether this task is the leader, which opened the barrier.
#[derive(Clone, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns true for exactly one of the tasks that were released together: the last to arrive.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Makes a barrier that opens when `n` tasks have arrived. With 0 or 1 no task waits.
    #[track_caller]
    pub fn new(n: usize) -> Self {
        Self {
            size: n.max(1),
            _span: ResourceSpan::new("Barrier", "Sync"),
            state: Mutex::ranked(
                Rank::leaf("barrier"),
                State {
                    arrived: 0,
                    waiters: WaitList::new(),
                },
            ),
        }
    }

    /// Waits until all tasks that the barrier expects have arrived.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: once the future has been polled, the task is counted as waiting, even if
    /// the future is dropped before the barrier opens.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        raddle_leaf::wait::located(
            "Barrier::wait",
            Resource::Notification(ptr::from_ref(self).addr()),
            async move {
                Wait {
                    barrier: self,
                    node: Node::new(),
                }
                .await
            },
        )
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of [`Barrier::wait`].
    struct Wait<'a> {
        barrier: &'a Barrier,
        // Idle until the task has arrived.
        #[pin]
        node: Node<Waker, ()>,
    }

    impl PinnedDrop for Wait<'_> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.node.is_idle() || this.node.as_mut().take_verdict().is_some() {
                return;
            }
            // The task still counts as arrived.
            let waker = this.barrier.state.lock().waiters.remove(this.node);
            drop(waker);
        }
    }
}

impl Wait<'_> {
    fn come(self: Pin<&mut Self>, waker: &Waker) -> Poll<BarrierWaitResult> {
        // Cloned before the lock and dropped after it: both call the executor's code.
        let waker = waker.clone();
        let this = self.project();
        let mut state = this.barrier.state.lock();
        state.arrived += 1;
        if state.arrived < this.barrier.size {
            state.waiters.push_back(this.node, waker);
            return Poll::Pending;
        }
        state.arrived = 0;
        let mut wakers = Wakers::default();
        while let Some(waker) = state.waiters.release_first(()) {
            wakers.push(waker);
        }
        drop(state);
        wakers.wake_all();
        Poll::Ready(BarrierWaitResult(true))
    }

    fn poll_again(self: Pin<&mut Self>, waker: &Waker) -> Poll<BarrierWaitResult> {
        let mut this = self.project();
        if this.node.as_mut().take_verdict().is_some() {
            return Poll::Ready(BarrierWaitResult(false));
        }
        // Cloned before the lock and dropped after it.
        let mut waker = waker.clone();
        let mut state = this.barrier.state.lock();
        match state.waiters.get_mut(this.node) {
            Some(registered) => {
                mem::swap(registered, &mut waker);
                Poll::Pending
            }
            None => Poll::Ready(BarrierWaitResult(false)),
        }
    }
}

impl Future for Wait<'_> {
    type Output = BarrierWaitResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        let result = if self.node.is_idle() {
            self.come(cx.waker())
        } else {
            self.poll_again(cx.waker())
        };
        if result.is_ready() {
            coop.made_progress();
        }
        result
    }
}
