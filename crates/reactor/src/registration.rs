//! The right of a socket to the events of its source.

use std::fmt;
use std::io;
use std::task::{Context, Poll, ready};

use mio::Token;
use mio::event::Source;
use raddle_primitives::sync::Arc;

use crate::readiness::{Clearing, ReadyEvent};
use crate::state::WaitReady;
use crate::{Handle, Interest, IoState, Ready};

/// The registration of one source.
///
/// Dropping it frees its slot, so that no event reaches it or a successor; the
/// selector forgets the source when its descriptor is closed. If the
/// descriptor lives on (handed back to std, or duplicated), call
/// [`deregister`](Self::deregister) first.
///
/// Readiness is a hint: an operation may still find that it would block. The
/// helpers here then clear the readiness and wait again.
pub struct Registration {
    handle: Handle,
    token: Token,
    state: Arc<IoState>,
}

impl Registration {
    pub(crate) fn new(handle: Handle, token: Token, state: Arc<IoState>) -> Self {
        Self {
            handle,
            token,
            state,
        }
    }

    /// The reactor that watches the source.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits until there is something to read. Only the waker of the last call
    /// is kept; use [`ready`](Self::ready) to wait in several tasks.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    #[inline]
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<ReadyEvent>> {
        self.state.poll_read_ready(cx)
    }

    /// Waits until there is room to write; otherwise as
    /// [`poll_read_ready`](Self::poll_read_ready).
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    #[inline]
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<ReadyEvent>> {
        self.state.poll_write_ready(cx)
    }

    /// The part of `interest` for which the source is known to be ready now, without waiting, also
    /// if the reactor has shut down since.
    ///
    /// # Errors
    ///
    /// Returns an error if the source is not known to be ready, and the reactor has shut down.
    #[inline]
    pub fn try_ready(&self, interest: Interest) -> io::Result<Option<ReadyEvent>> {
        self.state.try_ready(interest)
    }

    /// Waits for `interest`, in any number of tasks at the same time.
    ///
    /// The future ends with an error if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub fn ready(&self, interest: Interest) -> WaitReady<'_> {
        self.state.ready(interest)
    }

    /// Takes the source for `ready` until an operation proves it wrong, so that
    /// the first one is tried without an event. Call it before a task
    /// waits: it wakes none.
    ///
    /// Nothing is lost if it is wrong: the selector also reports the state of a source that
    /// is new to it.
    pub fn assume_ready(&self, ready: Ready) {
        self.state.assume_ready(ready);
    }

    /// Clears `event`, for the operation it promised would have blocked. Newer
    /// readiness stays. Call it only if the source itself said that it would
    /// block: otherwise no event will come.
    pub fn clear_readiness(&self, event: ReadyEvent) -> Clearing {
        self.state.clear_readiness(event)
    }

    /// Clears readable and writable of `event`, after a read or write that moved fewer
    /// bytes than it was asked to, which proves the source drained or full.
    ///
    /// Whether that is a proof depends on the selector and the source: it is for stream sockets on
    /// Linux. The end of the stream and errors remain to be seen.
    #[inline]
    pub fn clear_drained(&self, event: ReadyEvent) -> Clearing {
        self.state.clear_drained(event)
    }

    /// Tries `f` if the source is known to be ready for `interest`.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if the source is not known to be ready, or if `f` says so, which also
    /// clears the readiness; any other error of `f`; another error if the source is not known to be
    /// ready, and the reactor has shut down.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        match self.state.try_ready(interest)? {
            Some(event) => self.attempt(event, f),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Runs `f` until it does not block, waiting for something to read in
    /// between.
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    #[inline]
    pub fn poll_read_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        loop {
            let event = ready!(self.poll_read_ready(cx))?;
            if let Some(result) = blocked(self.attempt(event, &mut f)) {
                return Poll::Ready(result);
            }
        }
    }

    /// Runs `f` until it does not block, waiting for room to write in between.
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    #[inline]
    pub fn poll_write_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        loop {
            let event = ready!(self.poll_write_ready(cx))?;
            if let Some(result) = blocked(self.attempt(event, &mut f)) {
                return Poll::Ready(result);
            }
        }
    }

    /// Runs `f` until it does not block, waiting for `interest` in between. Any
    /// number of tasks may do so at the same time.
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, `f` has not run, or would
    /// have blocked.
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        let mut event = self.ready(interest).await?;
        loop {
            if let Some(result) = blocked(self.attempt(event, &mut f)) {
                return result;
            }
            // Closed flags that stay would end the wait at once, again and again.
            event = self.state.ready_after(interest, event).await?;
        }
    }

    /// Deregisters `source`, which must be the one that this was made for. Events no longer wake
    /// the waiters of this registration.
    ///
    /// # Errors
    /// Returns the errors of the selector, for example if the descriptor was closed already; and
    /// one in a forked child of the process that made the reactor, where the source stays
    /// registered for the parent. The slot is free in any case.
    pub fn deregister<S>(&mut self, source: &mut S) -> io::Result<()>
    where
        S: Source + ?Sized,
    {
        let result = self
            .handle
            .check_process()
            .and_then(|()| self.handle.registry().deregister(source));
        self.free();
        result
    }

    #[inline]
    fn attempt<R>(&self, event: ReadyEvent, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        let result = f();
        if let Err(error) = &result {
            if error.kind() == io::ErrorKind::WouldBlock {
                // If newer readiness stays, the next look finds it.
                let _ = self.state.clear_readiness(event);
            }
        }
        result
    }

    fn free(&self) {
        let state = self.handle.table().lock().remove(self.token);
        drop(state);
    }
}

/// `None` if the operation would have blocked.
fn blocked<R>(result: io::Result<R>) -> Option<io::Result<R>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        result => Some(result),
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.free();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
