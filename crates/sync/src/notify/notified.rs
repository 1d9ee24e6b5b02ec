//! The futures that wait for a notification.

use std::mem;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::{Caller, Resource};

use super::Notify;
use super::state::{Calls, ToWaiting};
use crate::wait_list::Node;

/// The item of a node in the list of waiters: the waker, or `None` if the future was only enabled.
pub(super) type Waiter = Option<Waker>;

/// The kind of call that has notified a waiter; the waiter's drop passes it on in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotifiedBy {
    /// `notify_one`: the first waiter in the queue.
    First,
    /// `notify_last`: the last waiter in the queue.
    Last,
    /// `notify_waiters`.
    All,
}

pin_project! {
    /// The future of [`Notify::notified`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Notified<'a> {
        notify: &'a Notify,
        caller: Caller,
        #[pin]
        progress: Progress,
    }

    impl PinnedDrop for Notified<'_> {
        #[inline]
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            this.progress.cancel(this.notify);
        }
    }
}

pin_project! {
    /// The future of [`Notify::notified_owned`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct OwnedNotified {
        notify: Arc<Notify>,
        caller: Caller,
        #[pin]
        progress: Progress,
    }

    impl PinnedDrop for OwnedNotified {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            this.progress.cancel(this.notify);
        }
    }
}

pin_project! {
    #[derive(Debug)]
    struct Progress {
        stage: Stage,
        #[pin]
        node: Node<Waiter, NotifiedBy>,
    }
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Not in the list yet. Contains the number of calls of `notify_waiters` when the future was
    /// made.
    Made(Calls),
    /// In the list, or removed from it with a notification.
    Listed,
    Done,
}

impl Progress {
    #[inline]
    fn new(notify: &Notify) -> Self {
        Self {
            stage: Stage::Made(notify.state.calls()),
            node: Node::new(),
        }
    }

    /// Waits, with the waker of `cx` if there is one.
    #[inline]
    fn poll(self: Pin<&mut Self>, notify: &Notify, cx: Option<&mut Context<'_>>) -> Poll<()> {
        let waker = cx.map(|cx| cx.waker());
        let this = self.project();
        let poll = match *this.stage {
            Stage::Made(calls) => poll_made(this.node, notify, calls, waker),
            Stage::Listed => poll_listed(this.node, notify, waker),
            Stage::Done => Poll::Ready(()),
        };
        *this.stage = match poll {
            Poll::Ready(()) => Stage::Done,
            Poll::Pending => Stage::Listed,
        };
        poll
    }

    #[inline]
    fn poll_charged(
        self: Pin<&mut Self>,
        notify: &Notify,
        caller: Caller,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        if self.poll(notify, Some(cx)).is_pending() {
            let resource = Resource::Notification(ptr::from_ref(notify).addr());
            raddle_leaf::wait::note(cx, "Notify::notified", Some(caller), resource);
            return Poll::Pending;
        }
        coop.made_progress();
        Poll::Ready(())
    }

    /// Leaves the list, and passes on a notification that the future was given.
    #[inline]
    fn cancel(self: Pin<&mut Self>, notify: &Notify) {
        let this = self.project();
        if !this.node.is_idle() {
            cancel_listed(this.node, notify);
        }
    }
}

#[inline]
fn poll_made(
    node: Pin<&mut Node<Waiter, NotifiedBy>>,
    notify: &Notify,
    calls: Calls,
    waker: Option<&Waker>,
) -> Poll<()> {
    if notify.state.try_take(calls) {
        return Poll::Ready(());
    }
    // Cloned before the lock and dropped after it: both call the executor's code.
    let waker = waker.cloned();
    let mut waiters = notify.waiters.lock();
    match notify.state.transition_to_waiting(calls) {
        ToWaiting::Queue => {
            waiters.push_back(node, waker);
            Poll::Pending
        }
        ToWaiting::Done => Poll::Ready(()),
    }
}

#[inline]
fn poll_listed(
    mut node: Pin<&mut Node<Waiter, NotifiedBy>>,
    notify: &Notify,
    waker: Option<&Waker>,
) -> Poll<()> {
    if node.as_mut().take_verdict().is_some() {
        return Poll::Ready(());
    }
    poll_queued(node, notify, waker)
}

#[cold]
fn poll_queued(
    mut node: Pin<&mut Node<Waiter, NotifiedBy>>,
    notify: &Notify,
    waker: Option<&Waker>,
) -> Poll<()> {
    // A waker that is replaced is dropped after the lock.
    let mut fresh = None;
    loop {
        let mut waiters = notify.waiters.lock();
        let Some(registered) = waiters.get_mut(node.as_mut()) else {
            let _ = node.take_verdict();
            return Poll::Ready(());
        };
        let kept = match (&registered, waker) {
            (_, None) => true,
            (Some(old), Some(waker)) => old.will_wake(waker),
            (None, Some(_)) => false,
        };
        if kept {
            return Poll::Pending;
        }
        if fresh.is_some() {
            mem::swap(registered, &mut fresh);
            return Poll::Pending;
        }
        drop(waiters);
        fresh = waker.cloned();
    }
}

#[cold]
fn cancel_listed(mut node: Pin<&mut Node<Waiter, NotifiedBy>>, notify: &Notify) {
    let mut verdict = node.as_mut().take_verdict();
    if verdict.is_none() {
        let mut waiters = notify.waiters.lock();
        let waiter = waiters.remove(node.as_mut());
        if waiter.is_some() && waiters.is_empty() {
            notify.state.stop_waiting();
        }
        // The lock is released before the waker is dropped.
        drop(waiters);
        verdict = node.take_verdict();
    }
    match verdict {
        Some(by @ (NotifiedBy::First | NotifiedBy::Last)) => notify.notify(by),
        Some(NotifiedBy::All) | None => {}
    }
}

impl<'a> Notified<'a> {
    #[track_caller]
    #[inline]
    pub(super) fn new(notify: &'a Notify) -> Self {
        Self {
            notify,
            caller: Caller::here(),
            progress: Progress::new(notify),
        }
    }

    /// Enters the queue without waiting, so that notifications from now on can reach this future.
    /// Returns true if the future has already been notified; then its next poll is ready.
    ///
    /// Use it to check a condition between entering the queue and waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Notify;
    /// use std::pin::pin;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// # fn main() { raddle::run(async {
    /// let (notify, ready) = (Notify::new(), AtomicBool::new(false));
    /// let mut notified = pin!(notify.notified());
    /// // Waits from here on, without an `.await`: a notification that comes between the check of
    /// // the condition and the `.await` is not lost.
    /// notified.as_mut().enable();
    /// if !ready.load(Ordering::SeqCst) {
    ///     notify.notify_one();
    ///     notified.await;
    /// }
    /// # }) }
    /// ```
    pub fn enable(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        this.progress.poll(this.notify, None).is_ready()
    }
}

impl OwnedNotified {
    #[track_caller]
    pub(super) fn new(notify: Arc<Notify>) -> Self {
        Self {
            progress: Progress::new(&notify),
            caller: Caller::here(),
            notify,
        }
    }

    /// The same as [`Notified::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        this.progress.poll(this.notify, None).is_ready()
    }
}

impl Future for Notified<'_> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        this.progress.poll_charged(this.notify, *this.caller, cx)
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        this.progress.poll_charged(this.notify, *this.caller, cx)
    }
}
