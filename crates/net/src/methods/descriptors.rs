//! Sending and receiving descriptors.

/// Writes the methods of a Unix socket that pass open files to another process. `$check` is called
/// with the length of the bytes, before the call of the system.
macro_rules! pass_descriptors {
    (
        $name:ident, check: $check:path;
        $(#[$send:meta])* send_with_fds { $(#[$send_example:meta])* }
        $(#[$recv:meta])* recv_with_fds { $(#[$recv_example:meta])* }
    ) => {
        impl $name {
            $(#[$send])*
            ///
            /// The peer gets descriptors of its own for the same open files (`SCM_RIGHTS`). Those
            /// that are passed here stay open, and may be closed as soon as this returns.
            ///
            /// # Errors
            ///
            /// - `InvalidInput` if there are more than 253 descriptors.
            /// - An uncategorized error (ETOOMANYREFS) if too many descriptors are under way.
            /// - Otherwise the errors of a send without descriptors.
            ///
            /// # Cancel safety
            ///
            /// If the future is dropped before it is ready, nothing was sent.
            $(#[$send_example])*
            #[track_caller]
            pub fn send_with_fds(
                &self,
                buf: &[u8],
                fds: &[std::os::fd::BorrowedFd<'_>],
            ) -> impl Future<Output = std::io::Result<usize>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::send_with_fds"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        $check(buf.len())?;
                        self.io
                            .async_io(raddle_reactor::Interest::WRITABLE, |socket| {
                                send_with_fds(socket, buf, fds)
                            })
                            .await
                    },
                )
            }

            /// Like [`send_with_fds`](Self::send_with_fds), but does not wait.
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if there is no room; otherwise as
            /// [`send_with_fds`](Self::send_with_fds).
            pub fn try_send_with_fds(
                &self,
                buf: &[u8],
                fds: &[std::os::fd::BorrowedFd<'_>],
            ) -> std::io::Result<usize> {
                $check(buf.len())?;
                self.io
                    .try_io(raddle_reactor::Interest::WRITABLE, |socket| {
                        send_with_fds(socket, buf, fds)
                    })
            }

            $(#[$recv])*
            ///
            /// Received descriptors are closed on `exec`; on macOS and other systems without
            /// `MSG_CMSG_CLOEXEC` a process that is started by another thread at that moment may
            /// inherit them. Their files may be of any kind, and in blocking mode. A peer decides
            /// how many arrive, up to 253 in one call.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the system has dropped descriptors, usually
            /// because this process has reached its limit for open files. The descriptors that did
            /// arrive are closed then, none is appended, and the bytes are lost: close the
            /// connection. Also returns the errors of a receive without descriptors.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: no bytes and no descriptors are lost if the future is dropped.
            $(#[$recv_example])*
            #[track_caller]
            pub fn recv_with_fds(
                &self,
                buf: &mut [u8],
                fds: &mut Vec<std::os::fd::OwnedFd>,
            ) -> impl Future<Output = std::io::Result<usize>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::recv_with_fds"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        $check(buf.len())?;
                        self.io
                            .async_io(raddle_reactor::Interest::READABLE, |socket| {
                                recv_with_fds(socket, buf, fds)
                            })
                            .await
                    },
                )
            }

            /// Like [`recv_with_fds`](Self::recv_with_fds), but does not wait.
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if nothing has arrived; otherwise as
            /// [`recv_with_fds`](Self::recv_with_fds).
            pub fn try_recv_with_fds(
                &self,
                buf: &mut [u8],
                fds: &mut Vec<std::os::fd::OwnedFd>,
            ) -> std::io::Result<usize> {
                $check(buf.len())?;
                self.io
                    .try_io(raddle_reactor::Interest::READABLE, |socket| {
                        recv_with_fds(socket, buf, fds)
                    })
            }
        }
    };
}

pub(crate) use pass_descriptors;
