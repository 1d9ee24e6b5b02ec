//! Waiting for readiness, and I/O by a closure of the user.

/// Writes the methods of a type that can be ready for reading and for writing. `$noun` is what the
/// documentation calls it.
macro_rules! readiness {
    (
        $name:ident, $noun:literal;
        $(#[$ready:meta])* ready,
        $(#[$readable:meta])* readable { $(#[$readable_example:meta])* }
        $(#[$writable:meta])* writable { $(#[$writable_example:meta])* }
        $poll_readable:ident,
        $poll_writable:ident,
        $(#[$async_io:meta])* async_io,
    ) => {
        impl $name {
            #[doc = concat!("Waits until the ", $noun, " is ready for any of `interest`,")]
            /// and returns its readiness. A later operation may still return `WouldBlock`.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            $(#[$ready])*
            #[track_caller]
            pub fn ready(
                &self,
                interest: raddle_reactor::Interest,
            ) -> impl Future<Output = std::io::Result<raddle_reactor::Ready>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::ready"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move { self.io.ready(interest).await },
                )
            }

            $(#[$readable])*
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            $(#[$readable_example])*
            #[track_caller]
            pub fn readable(&self) -> impl Future<Output = std::io::Result<()>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::readable"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move { self.ready(raddle_reactor::Interest::READABLE).await.map(drop) },
                )
            }

            $(#[$writable])*
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            $(#[$writable_example])*
            #[track_caller]
            pub fn writable(&self) -> impl Future<Output = std::io::Result<()>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::writable"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move { self.ready(raddle_reactor::Interest::WRITABLE).await.map(drop) },
                )
            }

            /// The poll function of [`readable`](Self::readable), for implementing a future.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            pub fn $poll_readable(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_read_ready(cx)
            }

            /// The poll function of [`writable`](Self::writable), for implementing a future.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            pub fn $poll_writable(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_write_ready(cx)
            }

            /// Calls `f`, which does I/O on the socket, if the socket is known to be ready for
            /// `interest`. If `f` returns `WouldBlock`, the socket counts as not ready until the
            /// next event: return it only if the socket did. A direction that is closed stays
            /// ready.
            ///
            /// # Errors
            ///
            #[doc = concat!("Returns the errors of `f`, and `WouldBlock` if the ", $noun)]
            /// is not ready.
            pub fn try_io<R>(
                &self,
                interest: raddle_reactor::Interest,
                f: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.try_io(interest, |source| source.try_io(f))
            }

            /// Calls `f` until it does not return `WouldBlock`, and waits for `interest` in
            /// between.
            ///
            /// # Errors
            ///
            /// Returns the errors of `f`.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe if `f` is: when the future is dropped before it is ready, every call of
            /// `f` has returned `WouldBlock`.
            $(#[$async_io])*
            #[track_caller]
            pub fn async_io<R>(
                &self,
                interest: raddle_reactor::Interest,
                mut f: impl FnMut() -> std::io::Result<R>,
            ) -> impl Future<Output = std::io::Result<R>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::async_io"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        self.io
                            .retry_io(interest, |source| source.try_io(&mut f))
                            .await
                    },
                )
            }
        }
    };
}

pub(crate) use readiness;
