//! The registration of a source with a reactor.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use mio::Token;
use mio::event::Source;
use raddle_primitives::sync::Arc;

use crate::evented::poll_budgeted;
use crate::readiness::{Clearing, ReadyEvent};
use crate::state::WaitReady;
use crate::{Handle, Interest, IoState, Ready};

/// The registration of one source.
///
/// Dropping it frees its slot, so that no event reaches it or a successor; the selector forgets the
/// source when its descriptor is closed. If the descriptor lives on (handed back to std, or
/// duplicated), call [`deregister`](Self::deregister) first.
///
/// Readiness is a hint: an operation may still find that it would block. The helpers here then
/// clear the readiness and wait again.
///
/// ```
/// use mio::net::UdpSocket;
/// use raddle_reactor::{Interest, Reactor};
///
/// let mut reactor = Reactor::new()?;
/// let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// let mut registration = reactor.handle().register(&mut socket, Interest::READABLE)?;
/// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
/// peer.send_to(b"ping", socket.local_addr()?)?;
/// while registration.try_ready(Interest::READABLE)?.is_none() {
///     reactor.turn(None, usize::MAX)?;
/// }
/// assert_eq!(socket.recv(&mut [0; 16])?, 4);
///
/// // The descriptor lives on, so dropping the registration would not be enough.
/// registration.deregister(&mut socket)?;
/// assert_eq!(reactor.handle().registered_count(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
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

    pub(crate) fn token(&self) -> Token {
        self.token
    }

    /// The reactor that watches the source.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits until there is something to read. Only the waker of the last call is kept; use
    /// [`ready`](Self::ready) to wait in several tasks.
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

    pub(crate) fn poll_read_ready_budgeted(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_budgeted(cx, |cx| self.poll_read_ready(cx).map_ok(drop))
    }

    pub(crate) fn poll_write_ready_budgeted(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_budgeted(cx, |cx| self.poll_write_ready(cx).map_ok(drop))
    }

    /// Returns the part of `interest` for which the source is known to be ready, without waiting,
    /// even if the reactor has shut down since.
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
    ///
    /// # Examples
    ///
    /// ```
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Interest, Reactor};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let registration = reactor.handle().register(&mut socket, Interest::READABLE)?;
    /// // Two tasks wait, for instance to peek at the datagram and to receive it.
    /// let mut waits = [(), ()].map(|()| Box::pin(registration.ready(Interest::READABLE)));
    /// for wait in &mut waits {
    ///     assert!(raddle_testing::poll(wait.as_mut()).is_pending());
    /// }
    /// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// peer.send_to(b"ping", socket.local_addr()?)?;
    /// while reactor.turn(None, usize::MAX)? == 0 {}
    /// for wait in &mut waits {
    ///     assert!(raddle_testing::poll(wait.as_mut()).is_ready());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn ready(&self, interest: Interest) -> WaitReady<'_> {
        self.state.ready(interest)
    }

    /// Waits until any of `flags` is set, as [`IoState::ready_for_any`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub fn ready_for_any(&self, flags: Ready) -> WaitReady<'_> {
        self.state.ready_for_any(flags)
    }

    /// Assumes that the source is `ready` until an operation shows the opposite, so that the first
    /// operation is tried without an event. Call it before a task waits: it wakes none.
    ///
    /// Nothing is lost if the assumption is wrong: the selector also reports the state of a source
    /// that is new to it.
    pub fn assume_ready(&self, ready: Ready) {
        self.state.assume_ready(ready);
    }

    /// Clears `event`, since the operation that it announced would have blocked. Newer readiness
    /// stays, and so does a direction that is closed.
    ///
    /// Call it only if the source itself said that it would block: otherwise no event will come.
    ///
    /// ```
    /// use std::io;
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Clearing, Interest, Reactor, Ready};
    ///
    /// let reactor = Reactor::new()?;
    /// let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let registration = reactor.handle().register(&mut socket, Interest::READABLE)?;
    /// registration.assume_ready(Ready::READABLE);
    /// let event = registration.try_ready(Interest::READABLE)?.expect("it is assumed");
    /// let error = socket.recv(&mut [0; 16]).unwrap_err();
    /// assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    /// assert_eq!(registration.clear_readiness(event), Clearing::Cleared);
    /// assert!(registration.try_ready(Interest::READABLE)?.is_none());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn clear_readiness(&self, event: ReadyEvent) -> Clearing {
        self.state.clear_readiness(event)
    }

    /// Clears readable and writable of `event`, after a read or write that moved fewer bytes than
    /// it was asked to, which proves the source drained or full.
    ///
    /// Whether that is a proof depends on the selector and the source: it is for stream sockets on
    /// Linux. The end of the stream and errors remain to be seen.
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use std::net::{TcpListener, TcpStream};
    ///
    /// use raddle_reactor::{Clearing, Interest, Reactor};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// let (stream, _) = listener.accept()?;
    /// stream.set_nonblocking(true)?;
    /// let mut stream = mio::net::TcpStream::from_std(stream);
    /// let registration = reactor.handle().register(&mut stream, Interest::READABLE)?;
    /// peer.write_all(b"ping")?;
    /// let event = loop {
    ///     reactor.turn(None, usize::MAX)?;
    ///     if let Some(event) = registration.try_ready(Interest::READABLE)? {
    ///         break event;
    ///     }
    /// };
    /// let mut buffer = [0; 16];
    /// if stream.read(&mut buffer)? < buffer.len() {
    ///     // The buffer is not full, so a second read would only find that nothing is left.
    ///     assert_eq!(registration.clear_drained(event), Clearing::Cleared);
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
        self.attempt(self.known_event(interest)?, f)
    }

    /// Like [`try_ready`](Self::try_ready), with the error `WouldBlock` instead of `None`.
    fn known_event(&self, interest: Interest) -> io::Result<ReadyEvent> {
        self.try_ready(interest)?
            .ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    /// Runs `f` until it does not block, waiting for something to read in between.
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    #[inline]
    pub fn poll_read_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.poll_read_event(cx, |_| f())
    }

    /// Like [`poll_read_io`](Self::poll_read_io), for an operation that clears part of the
    /// readiness itself, such as [`clear_drained`](Self::clear_drained): it gets the event for
    /// which it is called.
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    #[inline]
    pub fn poll_read_event<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut(ReadyEvent) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let mut tried = None;
        loop {
            let event = ready!(self.state.poll_read_ready_after(cx, tried))?;
            if let Some(result) = blocked(self.attempt(event, || f(event))) {
                return Poll::Ready(result);
            }
            // A closed flag that remains would end every wait at once.
            tried = Some(event);
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
        self.poll_write_event(cx, |_| f())
    }

    /// Like [`poll_write_io`](Self::poll_write_io), for an operation that clears part of the
    /// readiness itself: it gets the event for which it is called.
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    #[inline]
    pub fn poll_write_event<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut(ReadyEvent) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let mut tried = None;
        loop {
            let event = ready!(self.state.poll_write_ready_after(cx, tried))?;
            if let Some(result) = blocked(self.attempt(event, || f(event))) {
                return Poll::Ready(result);
            }
            // As in `poll_read_event`.
            tried = Some(event);
        }
    }

    /// Runs `f`, an operation on the source, until it does not block, waiting for `interest` in
    /// between. Any number of tasks may do so at the same time.
    ///
    /// If `f` may say that it would block because of something else, use
    /// [`retry_io`](Self::retry_io).
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, `f` has not run, or would have blocked.
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
            // Closed flags that remain would end every wait at once.
            event = self.state.ready_after(interest, event).await?;
        }
    }

    /// Like [`async_io`](Self::async_io), for a function that may do more than operate on the
    /// source, such as one that moves bytes into a pipe, which may be full.
    ///
    /// No event of the source says when such a function should be called again. While a direction
    /// of `interest` is closed, the function is called at each poll, and the task yields in
    /// between.
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, `f` has not run, or would have blocked.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io;
    /// use std::pin::pin;
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Interest, Reactor, Ready};
    ///
    /// let reactor = Reactor::new()?;
    /// let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let registration = reactor.handle().register(&mut socket, Interest::READABLE)?;
    /// registration.assume_ready(Ready::READ_CLOSED);
    /// let mut room = 0;
    /// let mut moved = pin!(registration.retry_io(Interest::READABLE, || {
    ///     room += 1;
    ///     if room < 2 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(room) }
    /// }));
    /// assert!(raddle_testing::poll(moved.as_mut()).is_pending());
    /// assert_eq!(raddle_testing::ready(moved)?, 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub async fn retry_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            let event = self.ready(interest).await?;
            if let Some(result) = blocked(self.attempt(event, &mut f)) {
                return result;
            }
            if event.ready().intersects(Ready::CLOSED) {
                yield_once().await;
            }
        }
    }

    /// Declares that an error does not close the source, as for a socket
    /// ([`IoState::let_errors_pass`]). Call it before a task waits.
    pub fn let_errors_pass(&self) {
        self.state.let_errors_pass();
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
            self.clear_if_blocked(event, error);
        }
        result
    }

    fn clear_if_blocked(&self, event: ReadyEvent, error: &io::Error) {
        if error.kind() == io::ErrorKind::WouldBlock {
            // If newer readiness remains, the next check finds it.
            let _ = self.state.clear_readiness(event);
        }
    }

    fn free(&self) {
        let state = self.handle.table().lock().remove(self.token);
        drop(state);
    }
}

/// Lets the other tasks of the thread run.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
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
