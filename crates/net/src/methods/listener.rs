//! Listening sockets.

/// Writes the methods that accept connections. `$accept_from` is the function that accepts one from
/// mio's listener without waiting.
macro_rules! listener {
    (
        $name:ident, $accept_from:path;
        $(#[$accept:meta])* accept -> ($Stream:ident, $Addr:ident) { $(#[$example:meta])* }
    ) => {
        impl $name {
            $(#[$accept])*
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: no connection is lost if the future is dropped.
            $(#[$example])*
            #[track_caller]
            pub fn accept(&self) -> impl Future<Output = std::io::Result<($Stream, $Addr)>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::accept"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        let interest = raddle_reactor::Interest::READABLE;
                        let accepted = self.io.async_io(interest, $accept_from).await;
                        let (stream, addr) = accepted.map_err(crate::accepting::explained)?;
                        Ok(($Stream::accepted(stream, self.io.handle())?, addr))
                    },
                )
            }

            /// Like [`accept`](Self::accept), but for a server that keeps running when single
            /// connections fail or when it runs out of descriptors.
            ///
            /// After an error that concerns one connection, it accepts the next at once. While the
            /// process or the system has no descriptor, memory or permission for one more
            /// connection, it tries again after a pause of 5 ms, which doubles up to 1 s; meanwhile
            /// the connections wait in the listener's queue, and other tasks run. `sleep` waits for
            /// the pause, since this layer has no timer. It may also log, or close idle
            /// connections.
            ///
            /// ```no_run
            /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
            #[doc = concat!("use raddle::net::", stringify!($name), ";")]
            /// use raddle::time::sleep;
            ///
            #[doc = concat!(
                "# fn main() { async fn serve(listener: ", stringify!($name),
                ") -> std::io::Result<()> {"
            )]
            /// loop {
            ///     let (stream, _) = listener.accept_retrying(sleep).await?;
            ///     raddle::spawn(async move { drop(stream) });
            /// }
            /// # } }
            /// ```
            ///
            /// # Errors
            ///
            /// Returns the errors that are permanent: the descriptor is not a listener, or the
            /// reactor has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: no connection is lost if the future is dropped, also during a pause.
            /// The next call begins with the shortest pause.
            pub async fn accept_retrying<S>(
                &self,
                sleep: impl FnMut(std::time::Duration) -> S,
            ) -> std::io::Result<($Stream, $Addr)>
            where
                S: Future<Output = ()>,
            {
                crate::accepting::accept_retrying(|| self.accept(), sleep).await
            }

            /// The poll function of [`accept`](Self::accept), for implementing a future. Only the
            /// waker of the last call is kept.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`accept`](Self::accept).
            pub fn poll_accept(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<($Stream, $Addr)>> {
                let accepted = std::task::ready!(self.io.poll_read_io(cx, $accept_from));
                let (stream, addr) = accepted.map_err(crate::accepting::explained)?;
                let stream = $Stream::accepted(stream, self.io.handle())?;
                std::task::Poll::Ready(Ok((stream, addr)))
            }
        }
    };
}

pub(crate) use listener;
