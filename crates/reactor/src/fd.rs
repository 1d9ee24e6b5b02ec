//! Any descriptor as a source.

use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use mio::event::Source;
use mio::unix::SourceFd;

/// A source for any descriptor on Unix: a socket, pipe, terminal, timer or inotify instance.
///
/// It owns a value with a descriptor, such as a socket of std or an `OwnedFd`, or borrows it as a
/// `&T` or a `BorrowedFd`. So the descriptor stays open while an [`Evented`](crate::Evented) has it
/// registered. A reactor takes each descriptor once: epoll refuses a second registration, and
/// kqueue replaces the first. Register a duplicate (`try_clone`) instead.
///
/// # Examples
///
/// ```
/// use std::io::{Read, Write};
/// use std::net::{TcpListener, TcpStream};
/// use std::task::{Context, Poll, Waker};
///
/// use raddle_reactor::{Evented, Fd, Interest, Reactor};
///
/// let mut reactor = Reactor::new()?;
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let mut peer = TcpStream::connect(listener.local_addr()?)?;
/// let (stream, _) = listener.accept()?;
/// let stream = Evented::new(Fd::new(stream)?, Interest::READABLE, &reactor.handle())?;
///
/// let mut cx = Context::from_waker(Waker::noop());
/// let mut buffer = [0; 8];
/// let mut read = |cx: &mut Context<'_>| {
///     stream.poll_read_io(cx, |stream| stream.get_ref().read(&mut buffer))
/// };
/// assert!(read(&mut cx).is_pending());
/// peer.write_all(b"ping")?;
/// let length = loop {
///     match read(&mut cx)? {
///         Poll::Ready(length) => break length,
///         Poll::Pending => reactor.turn(None, usize::MAX)?,
///     };
/// };
/// assert_eq!(&buffer[..length], b"ping");
/// // The socket itself: deregistered, and still in non-blocking mode.
/// let _stream: TcpStream = stream.into_inner()?.into_inner();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fd<T> {
    inner: T,
}

impl<T: AsFd> Fd<T> {
    /// Makes a source of a descriptor, and sets it to non-blocking mode, which its duplicates
    /// share. It closes a duplicate, which releases the record locks (`F_SETLK`) that the process
    /// has on the file; use [`from_nonblocking`](Self::from_nonblocking) if there are any.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses the mode, or has no descriptor left.
    pub fn new(inner: T) -> io::Result<Self> {
        // The mode is a property of the open file, so it is set through a duplicate that has a type
        // with such a method, whatever the file is.
        let duplicate = inner.as_fd().try_clone_to_owned()?;
        UnixStream::from(duplicate).set_nonblocking(true)?;
        Ok(Self { inner })
    }

    /// Makes a source of a descriptor that is in non-blocking mode. An operation on a descriptor in
    /// blocking mode would block the thread that polls.
    pub fn from_nonblocking(inner: T) -> Self {
        Self { inner }
    }
}

impl<T> Fd<T> {
    /// Returns the value that owns the descriptor.
    #[inline]
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Returns the value that owns the descriptor.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T> Deref for Fd<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for Fd<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: AsFd> AsFd for Fd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl<T: AsFd> Source for Fd<T> {
    fn register(
        &mut self,
        registry: &mio::Registry,
        token: mio::Token,
        interest: mio::Interest,
    ) -> io::Result<()> {
        SourceFd(&self.as_fd().as_raw_fd()).register(registry, token, interest)
    }

    fn reregister(
        &mut self,
        registry: &mio::Registry,
        token: mio::Token,
        interest: mio::Interest,
    ) -> io::Result<()> {
        SourceFd(&self.as_fd().as_raw_fd()).reregister(registry, token, interest)
    }

    fn deregister(&mut self, registry: &mio::Registry) -> io::Result<()> {
        SourceFd(&self.as_fd().as_raw_fd()).deregister(registry)
    }
}
