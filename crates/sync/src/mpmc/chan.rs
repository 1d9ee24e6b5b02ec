//! The state that the ends of a channel share.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker, ready};
use std::thread;

use raddle_leaf::wait::Resource;
use raddle_primitives::sync::{Arc, Mutex, Rank};

use super::ends::Count;
use super::error::{SendError, TryRecvError, TrySendError};
use super::state::{Receives, Sends, Side, State, Waiting};
use crate::wakers::Wakers;

/// A channel.
pub(super) struct Chan<T> {
    state: Mutex<State<T>>,
    pub(super) senders: Count,
    pub(super) receivers: Count,
}

/// A panic in the drop of a message or in a waker leaves the channel usable.
impl<T> UnwindSafe for Chan<T> {}
impl<T> RefUnwindSafe for Chan<T> {}

impl<T> Chan<T> {
    /// Makes a channel with one end on each side.
    pub(super) fn new(capacity: Option<usize>) -> Arc<Self> {
        let state = State::new(capacity.unwrap_or(usize::MAX));
        Arc::new(Self {
            state: Mutex::ranked(Rank::leaf("mpmc channel"), state),
            senders: Count::one(),
            receivers: Count::one(),
        })
    }

    /// Returns the resource that a receiving task waits for.
    pub(super) fn messages(&self) -> Resource {
        Resource::Messages(self.address())
    }

    /// Returns the resource that a sending task waits for.
    pub(super) fn room(&self) -> Resource {
        Resource::Room(self.address())
    }

    #[inline]
    pub(super) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    pub(super) fn len(&self) -> usize {
        self.state.lock().len()
    }

    pub(super) fn capacity(&self) -> Option<usize> {
        let limit = self.state.lock().limit;
        (limit != usize::MAX).then_some(limit)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    #[inline]
    pub(super) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let receive = self.state.lock().push(message)?;
        // The lock is released with the statement above.
        if let Some(waker) = receive {
            waker.wake();
        }
        Ok(())
    }

    #[inline]
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.state.lock();
        let Some((message, send)) = state.pop() else {
            return Err(match state.is_closed {
                true => TryRecvError::Disconnected,
                false => TryRecvError::Empty,
            });
        };
        drop(state);
        Ok(self.hand_out(message, send))
    }

    /// Sends the message, which is present until this is ready. Charged to the budget of the poll.
    #[inline]
    pub(super) fn poll_send(
        &self,
        cx: &mut Context<'_>,
        message: &mut Option<T>,
        node: Pin<&mut Waiting>,
    ) -> Poll<Result<(), SendError<T>>> {
        let attempt = |state: &mut State<T>| {
            let unsent = message.take().expect("the send was not ready before");
            match state.push(unsent) {
                Ok(receive) => Some(Ok(receive)),
                Err(TrySendError::Closed(unsent)) => Some(Err(SendError(unsent))),
                Err(TrySendError::Full(unsent)) => {
                    *message = Some(unsent);
                    None
                }
            }
        };
        let receive = ready!(self.poll_charged::<Sends, _>(cx, node, attempt))?;
        if let Some(waker) = receive {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }

    /// Receives a message; `None` once the channel is closed and empty. Charged to the budget of
    /// the poll.
    #[inline]
    pub(super) fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        node: Pin<&mut Waiting>,
    ) -> Poll<Option<T>> {
        let attempt = |state: &mut State<T>| match state.pop() {
            None if !state.is_closed => None,
            popped => Some(popped),
        };
        let popped = ready!(self.poll_charged::<Receives, _>(cx, node, attempt));
        Poll::Ready(popped.map(|(message, send)| self.hand_out(message, send)))
    }

    #[inline]
    fn poll_charged<S: Side, R>(
        &self,
        cx: &mut Context<'_>,
        node: Pin<&mut Waiting>,
        attempt: impl FnMut(&mut State<T>) -> Option<R>,
    ) -> Poll<R> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        let result = ready!(self.poll_attempt::<S, R>(cx, node, attempt));
        coop.made_progress();
        Poll::Ready(result)
    }

    /// Calls `attempt` until it returns a result, and waits in between, in `node`, for a unit of
    /// the side `S`.
    #[inline]
    fn poll_attempt<S: Side, R>(
        &self,
        cx: &mut Context<'_>,
        mut node: Pin<&mut Waiting>,
        mut attempt: impl FnMut(&mut State<T>) -> Option<R>,
    ) -> Poll<R> {
        // Cloned before the lock, because cloning is the executor's code, and only if needed. A
        // waker that is replaced is dropped after the lock.
        let mut waker: Option<Waker> = None;
        loop {
            let mut state = self.state.lock();
            match S::waits(&mut state).list.get_mut(node.as_mut()) {
                Some(registered) if registered.will_wake(cx.waker()) => return Poll::Pending,
                Some(registered) => {
                    if let Some(new) = &mut waker {
                        mem::swap(registered, new);
                        return Poll::Pending;
                    }
                }
                None => {
                    if node.as_mut().take_verdict().is_some() {
                        state.revoke::<S>();
                    }
                    if let Some(result) = attempt(&mut state) {
                        return Poll::Ready(result);
                    }
                    if let Some(waker) = waker {
                        S::waits(&mut state).list.push_back(node, waker);
                        return Poll::Pending;
                    }
                }
            }
            drop(state);
            waker = Some(cx.waker().clone());
        }
    }

    /// Ends a wait that is not ready: passes on the unit that it was granted. Does nothing if there
    /// is no wait.
    #[inline]
    pub(super) fn abandon<S: Side>(&self, node: Pin<&mut Waiting>) {
        if !node.is_idle() {
            self.abandon_wait::<S>(node);
        }
    }

    #[cold]
    fn abandon_wait<S: Side>(&self, mut node: Pin<&mut Waiting>) {
        let mut state = self.state.lock();
        let removed = S::waits(&mut state).list.remove(node.as_mut());
        let mut next = None;
        if removed.is_none() && node.take_verdict().is_some() {
            state.revoke::<S>();
            next = S::grant(&mut state);
        }
        // The wakers are dropped and woken after the lock.
        drop(state);
        if let Some(waker) = next {
            waker.wake();
        }
    }

    /// Wakes the send that was granted the room of a message, and returns the message. If the
    /// waker panics, the message is the next one again.
    #[inline]
    fn hand_out(&self, message: T, send: Option<Waker>) -> T {
        match send {
            None => message,
            Some(waker) => self.wake_send(message, waker),
        }
    }

    fn wake_send(&self, message: T, waker: Waker) -> T {
        let mut unpop = UnpopOnDrop {
            chan: self,
            message: Some(message),
        };
        waker.wake();
        let message = unpop.message.take();
        message.expect("only the drop of the guard takes it otherwise")
    }

    /// Closes the channel. Returns whether it was open.
    pub(super) fn close(&self) -> bool {
        self.close_and(|_| ()).0
    }

    /// Closes the channel, and drops its messages.
    pub(super) fn close_and_drain(&self) {
        // Dropped after the lock, even if a waker panics.
        let (_, _messages) = self.close_and(|state| Drained(state.take_messages()));
    }

    fn close_and<R>(&self, then: impl FnOnce(&mut State<T>) -> R) -> (bool, R) {
        let mut wakers = Wakers::default();
        let mut state = self.state.lock();
        let was_open = !mem::replace(&mut state.is_closed, true);
        while let Some(waker) = state.sends.list.release_first(()) {
            wakers.push(waker);
        }
        while let Some(waker) = state.receives.list.release_first(()) {
            wakers.push(waker);
        }
        let result = then(&mut state);
        drop(state);
        wakers.wake_all();
        (was_open, result)
    }
}

/// Messages that are dropped. If the drop of one panics, the others are still dropped, and then the
/// first panic resumes.
struct Drained<T>(VecDeque<T>);

impl<T> Drop for Drained<T> {
    fn drop(&mut self) {
        let mut panic = None;
        while let Some(message) = self.0.pop_front() {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(message))) {
                panic.get_or_insert(payload);
            }
        }
        if let Some(payload) = panic.filter(|_| !thread::panicking()) {
            resume_unwind(payload);
        }
    }
}

/// A received message that has not been returned yet.
struct UnpopOnDrop<'a, T> {
    chan: &'a Chan<T>,
    message: Option<T>,
}

impl<T> Drop for UnpopOnDrop<'_, T> {
    fn drop(&mut self) {
        if let Some(message) = self.message.take() {
            let receive = self.chan.state.lock().unpop(message);
            if let Some(waker) = receive {
                waker.wake();
            }
        }
    }
}

impl<T> fmt::Debug for Chan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chan")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
