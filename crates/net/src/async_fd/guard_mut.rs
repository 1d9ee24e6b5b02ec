//! The guard that has `&mut T`.

use std::fmt;
use std::io;
use std::os::fd::AsRawFd;

use raddle_reactor::{Ready, ReadyEvent};

use super::found::Found;
use super::{AsyncFd, TryIoError};

/// Says what a descriptor is ready for, and gives exclusive access to it.
///
/// Dropping it leaves the readiness as it is, so that the next wait ends at
/// once. Clear it when an operation has found that it would block:
/// [`try_io`](Self::try_io) does so. Readiness that has come since the guard was
/// made is newer than it and stays.
#[must_use = "operate on the descriptor, and clear the readiness when it would block"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    async_fd: &'a mut AsyncFd<T>,
    found: Found,
}

impl<'a, T: AsRawFd> AsyncFdReadyMutGuard<'a, T> {
    pub(super) fn new(async_fd: &'a mut AsyncFd<T>, event: ReadyEvent) -> Self {
        Self {
            async_fd,
            found: Found::new(event),
        }
    }

    /// Clears what the guard was made for, so that the next wait waits for a
    /// new event. Call it only if the descriptor itself said that it would
    /// block: otherwise no event will come.
    pub fn clear_ready(&mut self) {
        self.clear_ready_matching(Ready::ALL);
    }

    /// As [`clear_ready`](Self::clear_ready), of `ready` only: after an
    /// operation in one of the directions that the guard was made for.
    pub fn clear_ready_matching(&mut self, ready: Ready) {
        self.found.clear(&self.async_fd.registration, ready);
    }

    /// Leaves the readiness as it is. As dropping the guard does; it says so.
    pub fn retain_ready(&mut self) {}

    /// What the descriptor was found to be ready for, without what has been
    /// cleared since.
    pub fn ready(&self) -> Ready {
        self.found.ready()
    }

    /// Runs `f`, and clears the readiness if it says `WouldBlock`, which it
    /// should only if the descriptor did.
    ///
    /// # Errors
    ///
    /// [`TryIoError`] if `f` said `WouldBlock`; its other errors are in the
    /// result.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&mut AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match f(self.async_fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.clear_ready();
                Err(TryIoError(()))
            }
            result => Ok(result),
        }
    }

    /// The [`AsyncFd`] that the guard is of.
    pub fn get_ref(&self) -> &AsyncFd<T> {
        self.async_fd
    }

    /// The [`AsyncFd`] that the guard is of.
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        self.async_fd
    }

    /// What has the descriptor.
    pub fn get_inner(&self) -> &T {
        self.async_fd.get_ref()
    }

    /// What has the descriptor.
    pub fn get_inner_mut(&mut self) -> &mut T {
        self.async_fd.get_mut()
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFdReadyMutGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFdReadyMutGuard")
            .field("async_fd", &self.async_fd)
            .field("ready", &self.ready())
            .finish()
    }
}
