//! The guard with `&T`.

use std::os::fd::AsRawFd;

use raddle_reactor::ReadyEvent;

use super::AsyncFd;
use super::readiness::{GuardedReadiness, ready_guard};

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

ready_guard! {
    AsyncFdReadyGuard, &'a AsyncFd<T>;

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
    clear_ready,
}

impl<'a, T: AsRawFd> AsyncFdReadyGuard<'a, T> {
    pub(super) fn new(async_fd: &'a AsyncFd<T>, event: ReadyEvent) -> Self {
        Self {
            async_fd,
            readiness: GuardedReadiness::new(event),
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
