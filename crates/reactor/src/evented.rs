//! A source of events together with its registration and the budget of the poll.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use mio::event::Source;
use raddle_coop::poll_proceed;

use crate::{Handle, Interest, Ready, Registration};

/// A source that the reactor watches: what every socket, pipe and descriptor is made of. Leaves the
/// reactor when dropped.
///
/// An operation that completes costs one unit of the [budget](raddle_coop) of the poll; one without
/// any left wakes its task and is pending.
///
/// ```
/// use std::task::{Context, Waker};
/// use mio::net::UdpSocket;
/// use raddle_reactor::{Evented, Interest, Reactor};
///
/// let reactor = Reactor::new()?;
/// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
/// let mut cx = Context::from_waker(Waker::noop());
/// // Nothing has arrived.
/// assert!(socket.poll_read_io(&mut cx, |socket| socket.recv(&mut [0; 8])).is_pending());
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
    ///
    /// ```
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor, Ready};
    ///
    /// let reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::WRITABLE, &reactor.handle())?;
    /// let socket = socket.assuming(Ready::WRITABLE);
    /// let peer = socket.local_addr()?;
    /// // The socket is new. It is written to before its first event.
    /// let sent = socket.try_io(Interest::WRITABLE, |socket| socket.send_to(b"ping", peer))?;
    /// assert_eq!(sent, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn assuming(self, ready: Ready) -> Self {
        self.registration.assume_ready(ready);
        self
    }

    /// The reactor that watches it.
    ///
    /// ```
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
    /// assert!(socket.handle().is_same_reactor(&reactor.handle()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn handle(&self) -> &Handle {
        self.registration.handle()
    }

    /// The registration, for operations that this type does not have.
    ///
    /// ```
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
    /// let registration = socket.registration();
    /// assert!(registration.try_ready(Interest::READABLE)?.is_none());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Leaves the reactor and gives the source back.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Registration::deregister`].
    ///
    /// # Examples
    ///
    /// ```
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
    /// let socket: UdpSocket = socket.into_inner()?;
    /// // It can go to another reactor.
    /// let other = Reactor::new()?;
    /// let _socket = Evented::new(socket, Interest::READABLE, &other.handle())?;
    /// assert_eq!(reactor.handle().registered_count(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
    /// let mut ready = pin!(socket.ready(Interest::READABLE));
    /// assert!(raddle_testing::poll(ready.as_mut()).is_pending());
    /// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// peer.send_to(b"ping", socket.local_addr()?)?;
    /// while reactor.turn(None, usize::MAX)? == 0 {}
    /// assert!(raddle_testing::ready(ready)?.is_readable());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        let event = budgeted(self.registration.ready(interest)).await?;
        Ok(event.ready())
    }

    /// The same as [`Registration::poll_read_ready`].
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::task::{Context, Waker};
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
    /// let mut cx = Context::from_waker(Waker::noop());
    /// assert!(socket.poll_read_ready(&mut cx).is_pending());
    /// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// peer.send_to(b"ping", socket.local_addr()?)?;
    /// while reactor.turn(None, usize::MAX)? == 0 {}
    /// assert!(socket.poll_read_ready(&mut cx)?.is_ready());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_budgeted(cx, |cx| {
            self.registration.poll_read_ready(cx).map_ok(|_| ())
        })
    }

    /// The same as [`Registration::poll_write_ready`].
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the reactor has shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::task::{Context, Waker};
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::WRITABLE, &reactor.handle())?;
    /// let mut cx = Context::from_waker(Waker::noop());
    /// while socket.poll_write_ready(&mut cx)?.is_pending() {
    ///     reactor.turn(None, usize::MAX)?;
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_budgeted(cx, |cx| {
            self.registration.poll_write_ready(cx).map_ok(|_| ())
        })
    }

    /// Calls `f` if the source is ready, as [`Registration::try_io`]. It takes nothing of the
    /// budget.
    ///
    /// # Errors
    /// Returns the errors of `f`, and `WouldBlock` if the source is not ready.
    ///
    /// # Examples
    ///
    /// ```
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
    /// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// peer.send_to(b"ping", socket.local_addr()?)?;
    /// while reactor.turn(None, usize::MAX)? == 0 {}
    /// let length = socket.try_io(Interest::READABLE, |socket| socket.recv(&mut [0; 16]))?;
    /// assert_eq!(length, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use std::task::{Context, Poll, Waker};
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor, Ready};
    ///
    /// let reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::WRITABLE, &reactor.handle())?;
    /// let socket = socket.assuming(Ready::WRITABLE);
    /// let peer = socket.local_addr()?;
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let sent = socket.poll_write_io(&mut cx, |socket| socket.send_to(b"ping", peer));
    /// assert_eq!(sent?, Poll::Ready(4));
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
    /// let mut buffer = [0; 16];
    /// let receive = socket.async_io(Interest::READABLE, |socket| socket.recv(&mut buffer));
    /// let mut receive = pin!(receive);
    /// assert!(raddle_testing::poll(receive.as_mut()).is_pending());
    /// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// peer.send_to(b"ping", socket.local_addr()?)?;
    /// while reactor.turn(None, usize::MAX)? == 0 {}
    /// assert_eq!(raddle_testing::ready(receive)?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// use mio::net::UdpSocket;
    /// use raddle_reactor::{Evented, Interest, Reactor, Ready};
    ///
    /// let reactor = Reactor::new()?;
    /// let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
    /// let socket = Evented::new(socket, Interest::READABLE, &reactor.handle())?;
    /// let socket = socket.assuming(Ready::READ_CLOSED);
    /// let mut calls = 0;
    /// let mut received = pin!(socket.retry_io(Interest::READABLE, |socket| {
    ///     calls += 1;
    ///     if calls < 3 { socket.recv(&mut [0; 16]) } else { Ok(0) }
    /// }));
    /// for _ in 0..2 {
    ///     assert!(raddle_testing::poll(received.as_mut()).is_pending());
    /// }
    /// assert_eq!(raddle_testing::ready(received)?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
///
/// ```
/// use std::task::{Context, Poll, Waker};
///
/// use raddle_reactor::poll_budgeted;
///
/// let mut cx = Context::from_waker(Waker::noop());
/// // A source that is always ready. After 128 operations its task yields.
/// let operations = raddle_coop::budget(|| {
///     let mut operations = 0;
///     while poll_budgeted(&mut cx, |_| Poll::Ready(())).is_ready() {
///         operations += 1;
///     }
///     operations
/// });
/// assert_eq!(operations, 128);
/// ```
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
///
/// # Examples
///
/// ```
/// use raddle_reactor::budgeted;
///
/// /// The operation of a source that this crate does not know.
/// async fn receive() -> u32 {
///     42
/// }
///
/// assert_eq!(raddle_testing::ready(budgeted(receive())), 42);
/// ```
pub async fn budgeted<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| poll_budgeted(cx, |cx| future.as_mut().poll(cx))).await
}
