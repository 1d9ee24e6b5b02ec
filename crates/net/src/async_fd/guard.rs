//! The guard with `&T`.

use std::fmt;
use std::io;
use std::os::fd::AsRawFd;

use raddle_reactor::{Ready, ReadyEvent};

use super::readiness::GuardedReadiness;
use super::{AsyncFd, TryIoError};

/// The readiness of a descriptor, with access to the descriptor.
///
/// Dropping it leaves the readiness as it is, so that the next wait ends at once. Clear it when an
/// operation has found that it would block: [`try_io`](Self::try_io) does so. Readiness that has
/// arrived after the guard was made is newer, and is not cleared.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::unix::AsyncFd;
/// use std::os::unix::net::UnixStream;
/// use std::io::Write;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (near, _far) = UnixStream::pair()?;
/// near.set_nonblocking(true)?;
/// let near = AsyncFd::new(near)?;
/// let mut guard = near.writable().await?;
/// let written = guard.try_io(|near| near.get_ref().write(b"hello"));
/// assert_eq!(written.unwrap()?, 5);
/// # Ok(()) }) }
/// ```
#[must_use = "operate on the descriptor, and clear the readiness when it would block"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    async_fd: &'a AsyncFd<T>,
    readiness: GuardedReadiness,
}

impl<'a, T: AsRawFd> AsyncFdReadyGuard<'a, T> {
    pub(super) fn new(async_fd: &'a AsyncFd<T>, event: ReadyEvent) -> Self {
        Self {
            async_fd,
            readiness: GuardedReadiness::new(event),
        }
    }

    /// Clears the readiness that the guard was made for, so that the next wait waits for a new
    /// event. Call it only if an operation on the descriptor has returned `WouldBlock`: otherwise
    /// no event will come.
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
    /// let mut guard = near.writable().await?;
    /// // After an operation said that it would block:
    /// guard.clear_ready();
    /// assert!(guard.ready().is_empty());
    /// # Ok(()) }) }
    /// ```
    pub fn clear_ready(&mut self) {
        self.clear_ready_matching(Ready::ALL);
    }

    /// Like [`clear_ready`](Self::clear_ready), but clears only `ready`: for an operation in one of
    /// the directions that the guard was made for.
    pub fn clear_ready_matching(&mut self, ready: Ready) {
        self.readiness.clear(&self.async_fd.registration, ready);
    }

    /// Leaves the readiness as it is, as dropping the guard does.
    pub fn retain_ready(&mut self) {}

    /// Returns the readiness that was found, without the flags that have been cleared since.
    pub fn ready(&self) -> Ready {
        self.readiness.ready()
    }

    /// Calls `f`, and clears the readiness if `f` returns `WouldBlock`. `f` must return that only
    /// if the descriptor did.
    ///
    /// # Errors
    ///
    /// Returns [`TryIoError`] if `f` returned `WouldBlock`; its other errors are in the inner
    /// result.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&'a AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match f(self.async_fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.clear_ready();
                Err(TryIoError(()))
            }
            result => Ok(result),
        }
    }

    /// Returns the [`AsyncFd`] of this guard.
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        self.async_fd
    }

    /// Returns the value that owns the descriptor.
    pub fn get_inner(&self) -> &'a T {
        self.async_fd.get_ref()
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFdReadyGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFdReadyGuard")
            .field("async_fd", &self.async_fd)
            .field("ready", &self.ready())
            .finish()
    }
}
