//! The guard with `&mut T`.

use std::os::fd::AsRawFd;

use raddle_reactor::ReadyEvent;

use super::AsyncFd;
use super::readiness::{GuardedReadiness, ready_guard};

/// The readiness of a descriptor, with exclusive access to the descriptor.
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
/// let mut near = AsyncFd::new(near)?;
/// let mut guard = near.writable_mut().await?;
/// let written = guard.try_io(|near| near.get_mut().write(b"hello"));
/// assert_eq!(written.unwrap()?, 5);
/// # Ok(()) }) }
/// ```
#[must_use = "operate on the descriptor, and clear the readiness when it would block"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    async_fd: &'a mut AsyncFd<T>,
    readiness: GuardedReadiness,
}

ready_guard! {
    AsyncFdReadyMutGuard, &mut AsyncFd<T>;
    clear_ready,
}

impl<'a, T: AsRawFd> AsyncFdReadyMutGuard<'a, T> {
    pub(super) fn new(async_fd: &'a mut AsyncFd<T>, event: ReadyEvent) -> Self {
        Self {
            async_fd,
            readiness: GuardedReadiness::new(event),
        }
    }

    /// Returns the [`AsyncFd`] of this guard.
    pub fn get_ref(&self) -> &AsyncFd<T> {
        self.async_fd
    }

    /// Returns the [`AsyncFd`] of this guard.
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        self.async_fd
    }

    /// Returns the value that owns the descriptor.
    pub fn get_inner(&self) -> &T {
        self.async_fd.get_ref()
    }

    /// Returns the value that owns the descriptor.
    pub fn get_inner_mut(&mut self) -> &mut T {
        self.async_fd.get_mut()
    }
}
