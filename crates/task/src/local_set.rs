//! A set of tasks that stay on one thread, and are polled as one future.

mod executor;
mod shared;
mod woken_flag;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Resource;

use self::executor::{Entered, Executor, Poller};
use self::woken_flag::FlagWaker;
use crate::{JoinHandle, box_if_large};

/// Tasks that run on one thread, so that they need not be `Send`.
///
/// They run while the set is polled: in [`run_until`](Self::run_until), or when the set itself is
/// awaited, which waits until all of them have completed. Code inside the set adds tasks with
/// [`CurrentLocalSet`].
///
/// Wakers may be used on any thread. Tasks run in the order in which they become ready, whether
/// they were woken on this thread or on another. One poll of the set runs at most 61 tasks, and
/// then yields to its executor. The future of [`run_until`](Self::run_until) is polled again after
/// the tasks that are ready, and those that they spawn and wake, have run once.
///
/// Dropping the set drops the futures of its tasks; awaiting their handles returns an error that
/// [`is_cancelled`](crate::JoinError::is_cancelled).
///
/// ```
/// use std::rc::Rc;
/// use raddle_task::{CurrentLocalSet, LocalSet};
///
/// let text = Rc::new("not Send");
/// let set = LocalSet::new(|| true);
/// let length = raddle_testing::block_on(set.run_until(async move {
///     let set = CurrentLocalSet::get().unwrap();
///     set.spawn_local(async move { text.len() }).await.unwrap()
/// }));
/// assert_eq!(length, 8);
/// ```
pub struct LocalSet {
    executor: Rc<Executor>,
    /// `Some` while the set itself is awaited.
    poller: Option<Poller>,
}

impl LocalSet {
    /// Makes an empty set for the calling thread.
    ///
    /// A poll of the set calls `may_poll` before each task except the first, and returns early if
    /// that is false. So a scheduler can count the set's tasks as its own, and poll its driver in
    /// time.
    pub fn new(may_poll: fn() -> bool) -> Self {
        Self {
            executor: Executor::new(may_poll),
            poller: None,
        }
    }

    /// Spawns a task in the set. It runs when the set is polled next.
    ///
    /// A panic ends only that task: awaiting the handle returns it in a
    /// [`JoinError`](crate::JoinError).
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        box_if_large!(future: F, Box::pin => self.executor.spawn(future))
    }

    /// Runs `future` and the tasks of the set concurrently, until `future` is ready. Tasks that
    /// have not completed by then stay in the set.
    ///
    /// # Cancel safety
    ///
    /// The same as for `future` itself. The tasks stay in the set.
    pub fn run_until<'a, F: Future>(
        &'a self,
        future: F,
    ) -> impl Future<Output = F::Output> + use<'a, F> {
        RunUntil {
            set: self,
            poller: None,
            flag_waker: None,
            future,
        }
    }

    /// Sets whether a panic of a task shuts the set down, from now on. Default: false.
    ///
    /// If it does, the set drops its other tasks, cancels those that are spawned later, and panics
    /// wherever it is polled.
    pub fn shut_down_on_panic(&mut self, shuts_down: bool) {
        self.executor.shuts_down_on_panic.set(shuts_down);
    }

    /// Returns the number of tasks that have not completed.
    pub fn len(&self) -> usize {
        self.executor.len()
    }

    /// Returns whether every task has completed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes this the [current](CurrentLocalSet) set until the guard is dropped. The tasks do not
    /// run before the set is polled.
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard {
            _entered: Entered::enter(Rc::clone(&self.executor)),
        }
    }
}

/// Runs the tasks until all have completed.
impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { executor, poller } = self.get_mut();
        poller.get_or_insert_with(|| Poller::new(executor)).poll(
            cx.waker(),
            || None::<()>,
            || false,
        );
        if executor.len() > 0 {
            raddle_leaf::wait::note(cx, "LocalSet", None, Resource::Unknown);
            return Poll::Pending;
        }
        ready!(raddle_leaf::coop::poll_consume_budget(cx));
        *poller = None;
        Poll::Ready(())
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        self.executor.close();
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet")
            .field("len", &self.len())
            .finish()
    }
}

/// Keeps a set current on this thread; from [`LocalSet::enter`]. Dropping the guard restores the
/// former set. Guards must be dropped in the reverse order of their creation.
///
/// A task that is spawned while the guard exists, but after the set was dropped, is cancelled at
/// once.
#[must_use = "the set is current only while the guard lives"]
pub struct LocalEnterGuard {
    _entered: Entered,
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish_non_exhaustive()
    }
}

/// The current [`LocalSet`] of a thread: the set whose task or [`run_until`](LocalSet::run_until)
/// future the thread runs, or that was [entered](LocalSet::enter) last.
///
/// ```
/// use raddle_task::{CurrentLocalSet, LocalSet};
///
/// assert!(CurrentLocalSet::get().is_none());
/// let set = LocalSet::new(|| true);
/// let guard = set.enter();
/// assert!(!CurrentLocalSet::get().unwrap().is_polled(), "it is only entered");
/// drop(guard);
/// raddle_testing::block_on(set.run_until(async {
///     let current = CurrentLocalSet::get().unwrap();
///     assert!(current.is_polled());
///     assert_eq!(current.spawn_local(async { 42 }).await.unwrap(), 42);
/// }));
/// ```
pub struct CurrentLocalSet(Rc<Executor>);

impl CurrentLocalSet {
    /// Returns the current set, if there is one.
    pub fn get() -> Option<Self> {
        executor::current().map(Self)
    }

    /// Spawns a task in the set, like [`LocalSet::spawn_local`].
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        box_if_large!(future: F, Box::pin => self.0.spawn(future))
    }

    /// Returns whether this thread is polling any set: also one that is not current because another
    /// was entered inside it. If the thread blocks, the tasks of that set wait.
    pub fn is_any_polled() -> bool {
        executor::is_any_polled()
    }

    /// Returns whether this thread is polling the set, and has not only entered it.
    pub fn is_polled(&self) -> bool {
        self.0.is_driven()
    }
}

impl fmt::Debug for CurrentLocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CurrentLocalSet")
            .field("len", &self.0.len())
            .finish()
    }
}

pin_project! {
    /// The future of [`LocalSet::run_until`].
    #[project(!Unpin)]
    struct RunUntil<'a, F> {
        set: &'a LocalSet,
        // `Some` from the first poll on.
        poller: Option<Poller>,
        // The waker with which `future` is polled.
        flag_waker: Option<FlagWaker>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let flag_waker = FlagWaker::prepare(this.flag_waker, cx.waker());
        let waker = flag_waker.waker();
        let poll = || this.future.poll(&mut Context::from_waker(waker));
        let first = || match raddle_leaf::coop::with_waker(waker.data().addr(), poll) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        };
        let is_woken = || flag_waker.is_woken();
        let poller = this
            .poller
            .get_or_insert_with(|| Poller::new(&this.set.executor));
        let polled = poller.poll(cx.waker(), first, is_woken);
        if polled.is_none() {
            raddle_leaf::wait::note(cx, "LocalSet", None, Resource::Unknown);
        }
        polled.map_or(Poll::Pending, Poll::Ready)
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
