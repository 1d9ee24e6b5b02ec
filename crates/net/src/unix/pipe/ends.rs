//! The methods of both ends of a pipe.

/// Writes the methods of one end: a struct with the field `io` and the function `new`, which has
/// one direction, `$interest`, and is open with `$access`. `$direction` is what the documentation
/// calls the direction. `$wait` waits for it, and `$poll_wait` is its poll function.
macro_rules! pipe_end {
    (
        $name:ident, $direction:literal, $access:path, $interest:path;
        $(#[$from_owned_fd:meta])* from_owned_fd,
        $(#[$into_blocking_fd:meta])* into_blocking_fd,
        $(#[$wait_doc:meta])* $wait:ident { $(#[$wait_example:meta])* }
        $poll_wait:ident,
        $(#[$try_io:meta])* try_io,
    ) => {
        impl $name {
            #[track_caller]
            pub(super) fn new(pipe: mio::unix::pipe::$name) -> std::io::Result<$name> {
                let handle = raddle_reactor::Handle::current();
                Ok($name {
                    io: raddle_reactor::Evented::new(pipe, $interest, &handle)?,
                })
            }

            /// Takes over an open pipe, and puts it in non-blocking mode.
            ///
            /// # Errors
            ///
            /// Returns `InvalidInput` if it is not a pipe or is not open for
            #[doc = concat!($direction, "; otherwise an error of the operating system.")]
            ///
            /// # Panics
            ///
            /// Panics if no reactor is current, as in a runtime without `enable_io`.
            #[track_caller]
            pub fn from_file(file: std::fs::File) -> std::io::Result<$name> {
                $name::from_owned_fd(file.into())
            }

            /// Like [`from_file`](Self::from_file), but takes a descriptor.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`from_file`](Self::from_file).
            ///
            /// # Panics
            ///
            /// Panics if no reactor is current, as in a runtime without `enable_io`.
            $(#[$from_owned_fd])*
            #[track_caller]
            pub fn from_owned_fd(owned_fd: std::os::fd::OwnedFd) -> std::io::Result<$name> {
                $name::new(super::adopt(owned_fd, $access)?.into())
            }

            /// Takes over an open pipe without any check. It must be in non-blocking mode.
            ///
            /// # Errors
            ///
            /// Returns an error if the reactor has shut down, or if the system has no memory for
            /// the registration.
            ///
            /// # Panics
            ///
            /// Panics if no reactor is current, as in a runtime without `enable_io`.
            #[track_caller]
            pub fn from_file_unchecked(file: std::fs::File) -> std::io::Result<$name> {
                $name::from_owned_fd_unchecked(file.into())
            }

            /// Like [`from_file_unchecked`](Self::from_file_unchecked), but takes a descriptor.
            ///
            /// # Errors
            ///
            /// Returns an error if the reactor has shut down, or if the system has no memory for
            /// the registration.
            ///
            /// # Panics
            ///
            /// Panics if no reactor is current, as in a runtime without `enable_io`.
            #[track_caller]
            pub fn from_owned_fd_unchecked(
                owned_fd: std::os::fd::OwnedFd,
            ) -> std::io::Result<$name> {
                $name::new(owned_fd.into())
            }

            /// Deregisters the pipe and converts it into a descriptor in blocking mode.
            ///
            /// # Errors
            ///
            /// Returns an error if the system cannot deregister the descriptor.
            $(#[$into_blocking_fd])*
            pub fn into_blocking_fd(self) -> std::io::Result<std::os::fd::OwnedFd> {
                let fd = self.into_nonblocking_fd()?;
                super::set_nonblocking(&fd, false)?;
                Ok(fd)
            }

            /// Deregisters the pipe and converts it into a descriptor in non-blocking mode.
            ///
            /// # Errors
            ///
            /// Returns an error if the system cannot deregister the descriptor.
            pub fn into_nonblocking_fd(self) -> std::io::Result<std::os::fd::OwnedFd> {
                Ok(self.io.into_inner()?.into())
            }

            /// Waits until the pipe is ready for any of `interest`, of which only
            #[doc = concat!($direction, " can be ready, and returns its readiness.")]
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            #[track_caller]
            pub fn ready(
                &self,
                interest: raddle_reactor::Interest,
            ) -> impl Future<Output = std::io::Result<raddle_reactor::Ready>> {
                raddle_leaf::wait::located(
                    concat!("pipe::", stringify!($name), "::ready"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move { self.io.ready(interest).await },
                )
            }

            $(#[$wait_doc])*
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            $(#[$wait_example])*
            #[track_caller]
            pub fn $wait(&self) -> impl Future<Output = std::io::Result<()>> {
                raddle_leaf::wait::located(
                    concat!("pipe::", stringify!($name), "::", stringify!($wait)),
                    raddle_leaf::wait::Resource::Unknown,
                    async move { self.ready($interest).await.map(drop) },
                )
            }

            /// The poll function of
            #[doc = concat!("[`", stringify!($wait), "`](Self::", stringify!($wait), "),")]
            /// for implementing a future. Only the waker of the last call is kept.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            pub fn $poll_wait(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.$poll_wait(cx)
            }

            /// Calls `f`, which does I/O on the pipe, if the pipe is known to be
            #[doc = concat!(stringify!($wait), ".")]
            /// If `f` returns `WouldBlock`, the pipe counts as not ready until the next event:
            /// return it only if the pipe did. A pipe whose other end has gone stays ready.
            ///
            /// # Errors
            ///
            /// Returns the errors of `f`, and `WouldBlock` if the pipe is not ready.
            $(#[$try_io])*
            pub fn try_io<R>(&self, f: impl FnOnce() -> std::io::Result<R>) -> std::io::Result<R> {
                self.io.try_io($interest, |_| f())
            }
        }

        crate::methods::system_handle!($name);
    };
}

pub(super) use pipe_end;
