//! Unsafe constructors, whose safety section states the requirements on the descriptor.

use std::os::fd::AsRawFd;

use raddle_reactor::Interest;

use super::{AsyncFd, AsyncFdRegisterError};

impl<T: AsRawFd> AsyncFd<T> {
    /// The same as [`try_new`](Self::try_new).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Safety
    ///
    /// The descriptor is open, stays so and refers to the same file, and `as_raw_fd` returns the
    /// same, until the `AsyncFd` is dropped or taken apart.
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
    /// // SAFETY: the stream keeps its descriptor as long as it lives.
    /// let near = unsafe { AsyncFd::register(near) }?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub unsafe fn register(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::try_new(inner)
    }

    /// The same as [`try_with_interest`](Self::try_with_interest).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Safety
    ///
    /// As [`register`](Self::register).
    #[track_caller]
    pub unsafe fn register_with_interest(
        inner: T,
        interest: Interest,
    ) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::try_with_interest(inner, interest)
    }
}
