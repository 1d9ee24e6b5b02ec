//! The futures that wait for a notification.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use super::Notify;
use super::state::{Calls, ToWaiting};

/// A future's item in the list of waiters.
#[derive(Debug)]
pub(super) struct Waiter {
    /// None while the future is enabled only, and once it is notified.
    pub(super) waker: Option<Waker>,
    pub(super) notified: Option<By>,
}

/// Who has notified a waiter; its drop passes it on in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// `notify_one`: the first in line.
    First,
    /// `notify_last`: the last in line.
    Last,
    /// `notify_waiters`.
    All,
}

/// The future of [`Notify::notified`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Notified<'a> {
    notify: &'a Notify,
    progress: Progress,
}

/// The future of [`Notify::notified_owned`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct OwnedNotified {
    notify: Arc<Notify>,
    progress: Progress,
}

#[derive(Debug)]
enum Progress {
    /// Not in the list yet; the calls of `notify_waiters` before it was made.
    Made(Calls),
    /// In the list, with its key.
    Listed(usize),
    Done,
}

impl Progress {
    #[inline]
    fn new(notify: &Notify) -> Self {
        Self::Made(notify.state.calls())
    }

    /// Waits, with the waker of `cx` if there is one.
    #[inline]
    fn poll(&mut self, notify: &Notify, cx: Option<&mut Context<'_>>) -> Poll<()> {
        let waker = cx.map(|cx| cx.waker());
        match *self {
            Self::Made(calls) => self.poll_made(notify, calls, waker),
            Self::Listed(key) => self.poll_listed(notify, key, waker),
            Self::Done => Poll::Ready(()),
        }
    }

    #[inline]
    fn poll_made(&mut self, notify: &Notify, calls: Calls, waker: Option<&Waker>) -> Poll<()> {
        if notify.state.try_take(calls) {
            *self = Self::Done;
            return Poll::Ready(());
        }
        let waiter = Waiter {
            waker: waker.cloned(),
            notified: None,
        };
        let mut waiters = notify.waiters.lock();
        match notify.state.transition_to_waiting(calls) {
            ToWaiting::Queue => {
                *self = Self::Listed(notify.marks.push_back(&mut waiters, waiter));
                Poll::Pending
            }
            ToWaiting::Done => {
                // The waker is dropped after the lock.
                drop(waiters);
                *self = Self::Done;
                Poll::Ready(())
            }
        }
    }

    fn poll_listed(&mut self, notify: &Notify, key: usize, waker: Option<&Waker>) -> Poll<()> {
        if notify.marks.take(key) {
            *self = Self::Done;
            return Poll::Ready(());
        }
        let mut fresh = None;
        loop {
            let mut waiters = notify.waiters.lock();
            let waiter = waiters.get_mut(key);
            if waiter.notified.is_some() {
                let _ = waiters.remove(key);
                *self = Self::Done;
                return Poll::Ready(());
            }
            let kept = match (&waiter.waker, waker) {
                (_, None) => true,
                (Some(old), Some(waker)) => old.will_wake(waker),
                (None, Some(_)) => false,
            };
            if kept {
                return Poll::Pending;
            }
            if fresh.is_some() {
                std::mem::swap(&mut waiter.waker, &mut fresh);
                // The former waker, now in `fresh`, is dropped after the lock.
                drop(waiters);
                return Poll::Pending;
            }
            drop(waiters);
            fresh = waker.cloned();
        }
    }

    /// Leaves the list, and passes a notification on.
    #[inline]
    fn cancel(&mut self, notify: &Notify) {
        if let Self::Listed(key) = *self {
            *self = Self::Done;
            Self::cancel_listed(key, notify);
        }
    }

    #[cold]
    fn cancel_listed(key: usize, notify: &Notify) {
        let mut waiters = notify.waiters.lock();
        let was_queued = waiters.is_queued(key);
        let waiter = waiters.remove(key);
        if was_queued && waiters.is_empty() {
            notify.state.stop_waiting();
        }
        let next = match waiter.notified {
            Some(by @ (By::First | By::Last)) => notify.notify_queued(&mut waiters, by),
            Some(By::All) | None => None,
        };
        drop(waiters);
        if let Some(waker) = next {
            waker.wake();
        }
    }

    #[inline]
    fn poll_charged(&mut self, notify: &Notify, cx: &mut Context<'_>) -> Poll<()> {
        let coop = ready!(raddle_coop::poll_proceed(cx));
        ready!(self.poll(notify, Some(cx)));
        coop.made_progress();
        Poll::Ready(())
    }
}

impl<'a> Notified<'a> {
    #[inline]
    pub(super) fn new(notify: &'a Notify) -> Self {
        Self {
            notify,
            progress: Progress::new(notify),
        }
    }

    /// Takes a place in line without waiting, so that notifications from now
    /// on count for this future. True if it is notified already; its next poll
    /// is ready then.
    ///
    /// For code that has to look at something between queueing and waiting.
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        let notify = self.notify;
        self.progress.poll(notify, None).is_ready()
    }
}

impl OwnedNotified {
    pub(super) fn new(notify: Arc<Notify>) -> Self {
        Self {
            progress: Progress::new(&notify),
            notify,
        }
    }

    /// As [`Notified::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        let this = self.get_mut();
        this.progress.poll(&this.notify, None).is_ready()
    }
}

impl Future for Notified<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let notify = self.notify;
        self.progress.poll_charged(notify, cx)
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        this.progress.poll_charged(&this.notify, cx)
    }
}

impl Drop for Notified<'_> {
    #[inline]
    fn drop(&mut self) {
        self.progress.cancel(self.notify);
    }
}

impl Drop for OwnedNotified {
    fn drop(&mut self) {
        self.progress.cancel(&self.notify);
    }
}
