//! The errors of `AsyncFd`.

use std::error::Error;
use std::fmt;
use std::io;

/// The reactor has refused a descriptor. Contains the reason and the value that owns the
/// descriptor.
pub struct AsyncFdRegisterError<T> {
    inner: T,
    cause: io::Error,
}

/// The former name of [`AsyncFdRegisterError`].
pub type AsyncFdTryNewError<T> = AsyncFdRegisterError<T>;

impl<T> AsyncFdRegisterError<T> {
    pub(super) fn new(inner: T, cause: io::Error) -> Self {
        Self { inner, cause }
    }

    /// Returns the value that could not be registered, and the reason.
    pub fn into_parts(self) -> (T, io::Error) {
        (self.inner, self.cause)
    }
}

impl<T> fmt::Display for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)?;
        match self.cause.kind() {
            io::ErrorKind::AlreadyExists => f.write_str(
                "; the descriptor is registered already, share that AsyncFd or register a \
                 duplicate of the descriptor",
            ),
            io::ErrorKind::PermissionDenied => f.write_str(
                "; the system cannot wait for this kind of descriptor, read and write a file or a \
                 directory on a thread for blocking work",
            ),
            _ => Ok(()),
        }
    }
}

impl<T> fmt::Debug for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFdRegisterError")
            .field("cause", &self.cause)
            .finish_non_exhaustive()
    }
}

impl<T> Error for AsyncFdRegisterError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl<T> From<AsyncFdRegisterError<T>> for io::Error {
    fn from(error: AsyncFdRegisterError<T>) -> io::Error {
        error.cause
    }
}

/// The operation in a guard's `try_io` would have blocked, and the guard has cleared the readiness:
/// wait again.
#[derive(Debug)]
pub struct TryIoError(pub(super) ());

impl fmt::Display for TryIoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operation would block; wait for readiness and try again")
    }
}

impl Error for TryIoError {}
