//! Any descriptor that the selector can wait for.

mod error;
mod guard;
mod guard_mut;
mod readiness;
#[allow(unsafe_code, reason = "declares what the caller has to see to")]
mod register;

use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::task::{Context, Poll, ready};

use mio::unix::SourceFd;
use raddle_reactor::{Handle, Interest, Registration, budgeted, poll_budgeted};

pub use self::error::{AsyncFdRegisterError, AsyncFdTryNewError, TryIoError};
pub use self::guard::AsyncFdReadyGuard;
pub use self::guard_mut::AsyncFdReadyMutGuard;

/// Registers any descriptor with the reactor: a timer, an inotify instance, a library's socket or
/// another one for which this crate has no type.
///
/// The descriptor must be in non-blocking mode, and must stay open and the same while `T` is in the
/// `AsyncFd`. A wait for readiness returns a guard. The guard's
/// [`try_io`](AsyncFdReadyGuard::try_io) clears the readiness if the operation would block, so that
/// the next wait waits for a new event. Otherwise the next wait ends at once.
///
/// The `poll_*` methods keep one waker for reading and one for writing, that of the last caller;
/// any number of tasks may wait in the `async` methods.
///
/// Dropping it first deregisters the descriptor, and then drops `T`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use std::io::{self, Read};
/// use std::os::unix::net::UnixStream;
///
/// use raddle::io::unix::AsyncFd;
///
/// # fn main() {
/// async fn read(stream: &AsyncFd<UnixStream>, buffer: &mut [u8]) -> io::Result<usize> {
///     loop {
///         let mut guard = stream.readable().await?;
///         match guard.try_io(|stream| stream.get_ref().read(buffer)) {
///             Ok(result) => return result,
///             Err(_would_block) => continue,
///         }
///     }
/// }
/// # }
/// ```
pub struct AsyncFd<T: AsRawFd> {
    registration: Registration,
    /// `None` only once `into_inner` has taken it.
    inner: Option<T>,
}

impl<T: AsRawFd> AsyncFd<T> {
    /// Registers a descriptor with the current reactor, for reading and writing.
    ///
    /// # Errors
    ///
    /// Returns an error of the system as it is:
    ///
    /// - On Linux, of the kind `AlreadyExists` (`EEXIST`) if the descriptor is registered already.
    ///   Share one `AsyncFd`, for instance in an `Arc`, or register a duplicate of the descriptor.
    /// - On Linux, of the kind `PermissionDenied` (`EPERM`) for a file or a directory, since epoll
    ///   cannot wait for them. Read and write them on a thread for blocking work.
    /// - If the system has no memory for the registration.
    ///
    /// Also returns an error if the reactor has shut down.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, _far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let near = AsyncFd::new(near)?;
    /// near.writable().await?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn new(inner: T) -> io::Result<Self> {
        Ok(Self::try_new(inner)?)
    }

    /// Like [`new`](Self::new), but only for `interest`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::Interest;
    /// use raddle::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, _far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let near = AsyncFd::with_interest(near, Interest::READABLE)?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn with_interest(inner: T, interest: Interest) -> io::Result<Self> {
        Ok(Self::try_with_interest(inner, interest)?)
    }

    /// Like [`new`](Self::new), but the error contains `inner`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    /// use std::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let file = File::create(directory.path().join("file"))?;
    /// match AsyncFd::try_new(file) {
    ///     Ok(_) => println!("this system can wait for files"),
    ///     Err(error) => {
    ///         let (_file, reason) = error.into_parts();
    ///         println!("{reason}");
    ///     }
    /// }
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn try_new(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::try_with_interest(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// Like [`with_interest`](Self::with_interest), but the error contains `inner`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn try_with_interest(
        inner: T,
        interest: Interest,
    ) -> Result<Self, AsyncFdRegisterError<T>> {
        let fd = inner.as_raw_fd();
        match Handle::current().register(&mut SourceFd(&fd), interest) {
            Ok(registration) => Ok(Self {
                registration,
                inner: Some(inner),
            }),
            Err(cause) => Err(AsyncFdRegisterError::new(inner, cause)),
        }
    }

    /// Returns the value that owns the descriptor.
    pub fn get_ref(&self) -> &T {
        match &self.inner {
            Some(inner) => inner,
            None => unreachable!("only `into_inner` takes it, and it consumes self"),
        }
    }

    /// Returns the value that owns the descriptor. Do not replace the value with one that has
    /// another descriptor.
    pub fn get_mut(&mut self) -> &mut T {
        match &mut self.inner {
            Some(inner) => inner,
            None => unreachable!("only `into_inner` takes it, and it consumes self"),
        }
    }

    /// Deregisters the descriptor, and returns the value that owns it.
    pub fn into_inner(mut self) -> T {
        match self.deregister() {
            Some(inner) => inner,
            None => unreachable!("only this takes it, and it consumes self"),
        }
    }

    /// Deregisters the descriptor, unless it has been deregistered.
    fn deregister(&mut self) -> Option<T> {
        let inner = self.inner.take()?;
        let fd = inner.as_raw_fd();
        // An error means that the descriptor is not watched any more.
        let _ = self.registration.deregister(&mut SourceFd(&fd));
        Some(inner)
    }

    /// Waits until there is something to read. Only the waker of the last caller is kept.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    /// use std::future::poll_fn;
    /// use std::io::{Read, Write};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let near = AsyncFd::new(near)?;
    /// (&far).write_all(b"hello")?;
    /// let mut guard = poll_fn(|cx| near.poll_read_ready(cx)).await?;
    /// let read = guard.try_io(|near| near.get_ref().read(&mut [0; 16]));
    /// assert_eq!(read.unwrap()?, 5);
    /// # Ok(()) }) }
    /// ```
    pub fn poll_read_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let poll = |cx: &mut Context<'_>| self.registration.poll_read_ready(cx);
        let event = ready!(poll_budgeted(cx, poll))?;
        Poll::Ready(Ok(AsyncFdReadyGuard::new(self, event)))
    }

    /// Like [`poll_read_ready`](Self::poll_read_ready), but the guard gives access to `&mut T`.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_read_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let poll = |cx: &mut Context<'_>| self.registration.poll_read_ready(cx);
        let event = ready!(poll_budgeted(cx, poll))?;
        Poll::Ready(Ok(AsyncFdReadyMutGuard::new(self, event)))
    }

    /// Waits until there is room to write. Only the waker of the last caller is kept.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_write_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let poll = |cx: &mut Context<'_>| self.registration.poll_write_ready(cx);
        let event = ready!(poll_budgeted(cx, poll))?;
        Poll::Ready(Ok(AsyncFdReadyGuard::new(self, event)))
    }

    /// Like [`poll_write_ready`](Self::poll_write_ready), but the guard gives access to `&mut T`.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_write_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let poll = |cx: &mut Context<'_>| self.registration.poll_write_ready(cx);
        let event = ready!(poll_budgeted(cx, poll))?;
        Poll::Ready(Ok(AsyncFdReadyMutGuard::new(self, event)))
    }

    /// Waits until the descriptor is ready for any of `interest`.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::Interest;
    /// use raddle::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, _far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let near = AsyncFd::new(near)?;
    /// let guard = near.ready(Interest::READABLE | Interest::WRITABLE).await?;
    /// assert!(guard.ready().is_writable());
    /// # Ok(()) }) }
    /// ```
    pub async fn ready(&self, interest: Interest) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        let event = budgeted(self.registration.ready(interest)).await?;
        Ok(AsyncFdReadyGuard::new(self, event))
    }

    /// Like [`ready`](Self::ready), but the guard gives access to `&mut T`.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub async fn ready_mut(
        &mut self,
        interest: Interest,
    ) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        let event = budgeted(self.registration.ready(interest)).await?;
        Ok(AsyncFdReadyMutGuard::new(self, event))
    }

    /// Waits until there is something to read.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    /// use std::io::{Read, Write};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let near = AsyncFd::new(near)?;
    /// (&far).write_all(b"hello")?;
    /// let mut guard = near.readable().await?;
    /// let read = guard.try_io(|near| near.get_ref().read(&mut [0; 16]));
    /// assert_eq!(read.unwrap()?, 5);
    /// # Ok(()) }) }
    /// ```
    pub async fn readable<'a>(&'a self) -> io::Result<AsyncFdReadyGuard<'a, T>> {
        self.ready(Interest::READABLE).await
    }

    /// Like [`readable`](Self::readable), but the guard gives access to `&mut T`.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub async fn readable_mut<'a>(&'a mut self) -> io::Result<AsyncFdReadyMutGuard<'a, T>> {
        self.ready_mut(Interest::READABLE).await
    }

    /// Waits until there is room to write.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub async fn writable<'a>(&'a self) -> io::Result<AsyncFdReadyGuard<'a, T>> {
        self.ready(Interest::WRITABLE).await
    }

    /// Like [`writable`](Self::writable), but the guard gives access to `&mut T`.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub async fn writable_mut<'a>(&'a mut self) -> io::Result<AsyncFdReadyMutGuard<'a, T>> {
        self.ready_mut(Interest::WRITABLE).await
    }

    /// Calls `f` until it does not return `WouldBlock`, and waits for `interest` in between. `f`
    /// must return `WouldBlock` only if the descriptor did, or if its direction is closed: then `f`
    /// is called again without an event, after other tasks have run.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`, and an error if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe if `f` is: when the future is dropped before it is ready, every call of `f` has
    /// returned `WouldBlock`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::Interest;
    /// use raddle::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    /// use std::io::{Read, Write};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let near = AsyncFd::new(near)?;
    /// (&far).write_all(b"hello")?;
    /// let read = near.async_io(Interest::READABLE, |mut near| near.read(&mut [0; 16]));
    /// assert_eq!(read.await?, 5);
    /// # Ok(()) }) }
    /// ```
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let io = self.registration.retry_io(interest, || f(self.get_ref()));
        budgeted(io).await
    }

    /// Like [`async_io`](Self::async_io), but with `&mut T`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`async_io`](Self::async_io).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe if `f` is: when the future is dropped before it is ready, every call of `f` has
    /// returned `WouldBlock`.
    pub async fn async_io_mut<R>(
        &mut self,
        interest: Interest,
        mut f: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let Some(inner) = &mut self.inner else {
            unreachable!("only `into_inner` takes it, and it consumes self");
        };
        budgeted(self.registration.retry_io(interest, || f(inner))).await
    }

    /// Calls `f` if the descriptor is known to be ready for `interest`. If `f` returns
    /// `WouldBlock`, the descriptor counts as not ready until the next event.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`, and `WouldBlock` if the descriptor is not ready.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::Interest;
    /// use raddle::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    /// use std::io::Write;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, _far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// let near = AsyncFd::new(near)?;
    /// near.writable().await?.retain_ready();
    /// assert_eq!(near.try_io(Interest::WRITABLE, |mut near| near.write(b"hello"))?, 5);
    /// # Ok(()) }) }
    /// ```
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration.try_io(interest, || f(self.get_ref()))
    }

    /// Like [`try_io`](Self::try_io), but with `&mut T`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_io`](Self::try_io).
    pub fn try_io_mut<R>(
        &mut self,
        interest: Interest,
        f: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let Some(inner) = &mut self.inner else {
            unreachable!("only `into_inner` takes it, and it consumes self");
        };
        self.registration.try_io(interest, || f(inner))
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl<T: AsRawFd> Drop for AsyncFd<T> {
    fn drop(&mut self) {
        drop(self.deregister());
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}
