//! Receiving, with or without a limit.

use std::future::poll_fn;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Context, Poll, ready};

use raddle_leaf::wait::{Caller, ChannelEnd, Role};
use raddle_primitives::sync::Arc;

use super::chan::{Chan, Limit};
use super::error::TryRecvError;
use super::head::{Head, NoMessage};

/// The only receiver of a channel.
pub(super) struct Rx<T, L: Limit> {
    chan: Arc<Chan<T, L>>,
    /// The head of the channel's list.
    head: Head<T>,
    /// Whether the receiver has closed the channel.
    closing: bool,
    /// Whether the permit of the next message was released already, because the waker of the sender
    /// that got it panicked.
    is_paid: bool,
    /// The task that received last.
    end: ChannelEnd,
}

impl<T, L: Limit> Rx<T, L> {
    /// Makes the receiver of a channel.
    ///
    /// # Safety
    ///
    /// `head` is the head of the channel's list, and only this receiver has it.
    pub(super) unsafe fn new(chan: Arc<Chan<T, L>>, head: Head<T>) -> Self {
        let end = ChannelEnd::new(chan.address(), Role::Receiver);
        Self {
            chan,
            head,
            closing: false,
            is_paid: false,
            end,
        }
    }

    /// Records that the running task receives.
    #[inline]
    pub(super) fn used(&self, caller: Option<Caller>) {
        self.end.used(caller);
    }

    pub(super) fn chan(&self) -> &Chan<T, L> {
        &self.chan
    }

    pub(super) fn len(&self) -> usize {
        self.head.len(&self.chan.list)
    }

    #[inline]
    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.used(None);
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        let message = ready!(self.poll_next(cx));
        coop.made_progress();
        Poll::Ready(message.map(|message| self.hand_out(message)))
    }

    pub(super) fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        if limit == 0 {
            coop.made_progress();
            return Poll::Ready(0);
        }
        self.used(None);
        let first = ready!(self.poll_next(cx));
        coop.made_progress();
        let Some(first) = first else {
            return Poll::Ready(0);
        };
        buffer.push(first);
        let mut count = 1;
        while count < limit {
            let Ok(message) = self.pop() else {
                break;
            };
            buffer.push(message);
            count += 1;
        }
        self.received(count);
        Poll::Ready(count)
    }

    /// Receives a message; a task dump shows the wait as `operation`.
    #[track_caller]
    #[inline]
    pub(super) fn recv(&mut self, operation: &'static str) -> impl Future<Output = Option<T>> {
        self.used(Some(Caller::here()));
        raddle_leaf::wait::located(operation, self.chan.messages(), async move {
            poll_fn(|cx| self.poll_recv(cx)).await
        })
    }

    /// Like [`recv`](Self::recv), but receives up to `limit` messages.
    #[track_caller]
    #[inline]
    pub(super) fn recv_many(
        &mut self,
        operation: &'static str,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> impl Future<Output = usize> {
        self.used(Some(Caller::here()));
        raddle_leaf::wait::located(operation, self.chan.messages(), async move {
            poll_fn(|cx| self.poll_recv_many(cx, buffer, limit)).await
        })
    }

    pub(super) fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.used(None);
        // SAFETY: the head is that of the list.
        match unsafe { self.head.pop_settled(&self.chan.list) } {
            Ok(message) => Ok(self.hand_out(message)),
            Err(NoMessage::Empty) => Err(TryRecvError::Empty),
            Err(NoMessage::Ended) => Err(TryRecvError::Disconnected),
        }
    }

    pub(super) fn close(&mut self) {
        // If the waker of a sender that waits for room panics, the tasks that wait for the close
        // are still notified.
        let closed = match self.closing {
            true => Ok(()),
            false => catch_unwind(AssertUnwindSafe(|| self.chan.limit.close())),
        };
        if !self.closing {
            self.closing = true;
            self.end_if_idle();
        }
        self.chan.closed.notify_waiters();
        if let Err(panic) = closed {
            resume_unwind(panic);
        }
    }

    /// Returns the next message without releasing its permit, or `None` if no message will follow.
    #[inline]
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        loop {
            match self.pop() {
                Ok(message) => return Poll::Ready(Some(message)),
                Err(NoMessage::Ended) => return Poll::Ready(None),
                Err(NoMessage::Empty) => {
                    // SAFETY: the head is that of the list.
                    ready!(unsafe { self.head.poll_wait(&self.chan.list, cx) })
                }
            }
        }
    }

    #[inline]
    fn pop(&mut self) -> Result<T, NoMessage> {
        // SAFETY: the head is that of the list.
        unsafe { self.head.pop(&self.chan.list) }
    }

    /// Releases the permit of the message that was popped last. If the waker of a sender that waits
    /// for it panics, the message stays the next one.
    #[inline]
    fn hand_out(&mut self, message: T) -> T {
        let message = ManuallyDrop::new(message);
        let unpop = UnpopOnDrop(self);
        unpop.0.received(1);
        mem::forget(unpop);
        ManuallyDrop::into_inner(message)
    }

    /// Releases the permits of messages.
    #[inline]
    fn received(&mut self, count: usize) {
        let unpaid = count - usize::from(mem::take(&mut self.is_paid));
        self.chan.limit.release(unpaid);
        if self.closing {
            self.end_if_idle();
        }
    }

    /// Closes the list once no message can follow.
    fn end_if_idle(&mut self) {
        if !self.head.has_end() && self.chan.limit.is_idle() {
            self.head.set_end(self.chan.list.close().position());
        }
    }
}

/// A receiver that has popped a message and not returned it yet.
struct UnpopOnDrop<'a, T, L: Limit>(&'a mut Rx<T, L>);

impl<T, L: Limit> Drop for UnpopOnDrop<'_, T, L> {
    fn drop(&mut self) {
        // SAFETY: the message was popped last, and is not dropped when the thread unwinds.
        unsafe { self.0.head.unpop() };
        self.0.is_paid = true;
    }
}

impl<T, L: Limit> Drop for Rx<T, L> {
    /// Closes the channel and drops its messages.
    fn drop(&mut self) {
        let mut drain = DrainOnDrop(self);
        drain.0.close();
        drain.drop_messages();
    }
}

/// A receiver that is being dropped. The rest of the drop runs even if a message or a sender's
/// waker panics.
struct DrainOnDrop<'a, T, L: Limit>(&'a mut Rx<T, L>);

impl<T, L: Limit> DrainOnDrop<'_, T, L> {
    fn drop_messages(&mut self) {
        while let Ok(_message) = self.0.pop() {
            self.0.received(1);
        }
    }
}

impl<T, L: Limit> Drop for DrainOnDrop<'_, T, L> {
    fn drop(&mut self) {
        while catch_unwind(AssertUnwindSafe(|| self.drop_messages())).is_err() {}
        let rx = &mut *self.0;
        // SAFETY: the head is that of the list.
        let _waker = unsafe { rx.head.withdraw(&rx.chan.list) };
        // SAFETY: as above, and the receiver is being dropped.
        unsafe { rx.chan.list.keep_head(rx.head.take()) };
    }
}
