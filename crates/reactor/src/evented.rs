//! A source of events together with its registration and the budget of the poll.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use mio::event::Source;
use raddle_leaf::coop::poll_proceed;

use crate::{Handle, Interest, Ready, Registration};

/// A source that the reactor watches: the base of every socket, pipe and descriptor. Leaves the
/// reactor when dropped.
///
/// An operation that completes costs one unit of the [budget](raddle_leaf::coop) of the poll; one
/// without any left wakes its task and is pending.
///
/// ```
/// use std::task::{Context, Poll, Waker};
///
/// use mio::net::UdpSocket;
/// use raddle_reactor::{Evented, Interest, Reactor};
///
/// let mut reactor = Reactor::new()?;
/// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
/// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
/// peer.send_to(b"ping", socket.local_addr()?)?;
///
/// let mut cx = Context::from_waker(Waker::noop());
/// let length = loop {
///     match socket.poll_read_io(&mut cx, |socket| socket.recv(&mut [0; 8]))? {
///         Poll::Ready(length) => break length,
///         Poll::Pending => reactor.turn(None, usize::MAX)?,
///     };
/// };
/// assert_eq!(length, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Evented<E: Source> {
    /// `None` only after `into_inner` has taken it.
    source: Option<E>,
    registration: Registration,
}

impl<E: Source> Evented<E> {
    /// Registers `source` with `handle`'s reactor for `interest`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Handle::register`].
    pub fn new(mut source: E, interest: Interest, handle: &Handle) -> io::Result<Self> {
        let registration = handle.register(&mut source, interest)?;
        Ok(Self {
            source: Some(source),
            registration,
        })
    }

    /// Assumes that the source is `ready`, so that its first operations are tried without waiting
    /// for an event.
    pub fn assuming(self, ready: Ready) -> Self {
        self.registration.assume_ready(ready);
        self
    }

    /// The reactor that watches it.
    pub fn handle(&self) -> &Handle {
        self.registration.handle()
    }

    /// The registration, for operations that this type does not have.
    pub fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Leaves the reactor and gives the source back.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Registration::deregister`].
    pub fn into_inner(mut self) -> io::Result<E> {
        let Some(mut source) = self.source.take() else {
            unreachable!("only this takes the source, and it consumes self");
        };
        self.registration.deregister(&mut source)?;
        Ok(source)
    }

    /// Waits until the source is ready for `interest`, as [`Registration::ready`].
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the readiness is not cleared.
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        let event = budgeted(self.registration.ready(interest)).await?;
        Ok(event.ready())
    }

    /// Waits until the reading direction is closed, whether or not what has arrived was read.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the readiness is not cleared.
    pub async fn read_closed(&self) -> io::Result<()> {
        let closed = self.registration.ready_for_any(Ready::READ_CLOSED);
        budgeted(closed).await.map(drop)
    }

    /// Waits until both directions are closed.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the readiness is not cleared.
    pub async fn both_closed(&self) -> io::Result<()> {
        self.read_closed().await?;
        // An event may have closed both.
        let closed = self.registration.ready_for_any(Ready::WRITE_CLOSED);
        closed.await.map(drop)
    }

    /// The same as [`Registration::poll_read_ready`].
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_read_ready_budgeted(cx)
    }

    /// The same as [`Registration::poll_write_ready`].
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_write_ready_budgeted(cx)
    }

    /// Calls `f` if the source is ready, as [`Registration::try_io`]. It takes nothing of the
    /// budget.
    ///
    /// # Errors
    /// Returns the errors of `f`, and `WouldBlock` if the source is not ready.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce(&E) -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration.try_io(interest, || f(self))
    }

    /// Reads by `f`, once it would not block.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    pub fn poll_read_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut(&E) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        poll_budgeted(cx, |cx| self.registration.poll_read_io(cx, || f(self)))
    }

    /// Writes by `f`, once it would not block.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    pub fn poll_write_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut(&E) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        poll_budgeted(cx, |cx| self.registration.poll_write_io(cx, || f(self)))
    }

    /// Calls `f`, an operation on the source, until it would not block, as
    /// [`Registration::async_io`].
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what `f` has done is in the output of the poll that called it.
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&E) -> io::Result<R>,
    ) -> io::Result<R> {
        budgeted(self.registration.async_io(interest, || f(self))).await
    }

    /// Calls `f`, which may do more than operate on the source, until it would not block, as
    /// [`Registration::retry_io`].
    ///
    /// # Errors
    /// Returns the errors of `f`, and an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what `f` has done is in the output of the poll that called it.
    pub async fn retry_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&E) -> io::Result<R>,
    ) -> io::Result<R> {
        budgeted(self.registration.retry_io(interest, || f(self))).await
    }
}

impl<E: Source> Deref for Evented<E> {
    type Target = E;

    #[inline]
    fn deref(&self) -> &E {
        match &self.source {
            Some(source) => source,
            None => unreachable!("only `into_inner` takes the source, and it consumes self"),
        }
    }
}

impl<E: Source> Drop for Evented<E> {
    fn drop(&mut self) {
        if let Some(source) = &mut self.source {
            // Closing alone would leave the interest of a duplicated descriptor in the selector. An
            // error changes nothing.
            let _ = self.registration.deregister(source);
        }
    }
}

impl<E: Source + fmt::Debug> fmt::Debug for Evented<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Polls an operation at the cost of one unit of the budget of this poll.
pub fn poll_budgeted<R>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    let unit = ready!(poll_proceed(cx));
    let result = ready!(poll(cx));
    unit.made_progress();
    Poll::Ready(result)
}

/// Polls each time at the cost of one unit, which pending gives back.
///
/// # Cancel safety
///
/// The same as for `future` itself.
pub async fn budgeted<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| poll_budgeted(cx, |cx| future.as_mut().poll(cx))).await
}
