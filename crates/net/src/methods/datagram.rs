//! Sockets for datagrams.

/// Writes the methods for the readiness of a socket.
macro_rules! datagram_socket {
    (
        $name:ident;
        $(#[$readable:meta])* readable,
        $(#[$async_io:meta])* async_io,
    ) => {
        crate::methods::readiness! {
            $name, "socket";
            ready,
            /// Waits until there may be a datagram. Usually followed by
            /// [`try_recv`](Self::try_recv) or [`try_recv_from`](Self::try_recv_from).
            readable { $(#[$readable])* }
            /// Waits until there may be room to send. Usually followed by
            /// [`try_send`](Self::try_send) or [`try_send_to`](Self::try_send_to).
            writable {}
            poll_recv_ready,
            poll_send_ready,
            $(#[$async_io])* async_io,
        }
    };
}

/// Writes the methods that receive datagrams. The module has a function `recv_from`, which receives
/// one into a `ReadBuf` and returns its sender as `$Addr`.
macro_rules! receive_datagrams {
    (
        $name:ident, $Addr:ident;
        $(#[$recv:meta])* recv { $(#[$recv_example:meta])* },
        $(#[$poll_recv:meta])* poll_recv,
        $(#[$recv_buf:meta])* recv_buf,
        $(#[$recv_from:meta])* recv_from,
        $(#[$poll_recv_from:meta])* poll_recv_from,
    ) => {
        impl $name {
            $(#[$recv])*
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: no datagram is lost if the future is dropped.
            $(#[$recv_example])*
            #[track_caller]
            pub fn recv(&self, buf: &mut [u8]) -> impl Future<Output = std::io::Result<usize>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::recv"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        self.io
                            .async_io(crate::evented::RECEIVED, |socket| socket.recv(buf))
                            .await
                    },
                )
            }

            /// The poll function of [`recv`](Self::recv), for implementing a future.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`recv`](Self::recv).
            $(#[$poll_recv])*
            pub fn poll_recv(
                &self,
                cx: &mut std::task::Context<'_>,
                buf: &mut raddle_io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io
                    .poll_read_io(cx, |socket| recv(socket, buf).map(drop))
            }

            /// Like [`recv`](Self::recv), but does not wait.
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if there is none; otherwise as [`recv`](Self::recv).
            pub fn try_recv(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.io
                    .try_io(raddle_reactor::Interest::READABLE, |socket| socket.recv(buf))
            }

            /// Like [`recv`](Self::recv), but appends to `buf`, which may be a `Vec` or a
            /// `BytesMut`. Reserve enough room for the datagram first: a `Vec` grows only if it is
            /// full.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`recv`](Self::recv).
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: no datagram is lost if the future is dropped.
            $(#[$recv_buf])*
            #[track_caller]
            pub fn recv_buf<B: bytes::BufMut>(
                &self,
                buf: &mut B,
            ) -> impl Future<Output = std::io::Result<usize>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::recv_buf"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        self.io
                            .async_io(crate::evented::RECEIVED, |socket| {
                                crate::sys::fill(buf, |buf| recv(socket, buf))
                            })
                            .await
                    },
                )
            }

            /// Like [`recv_buf`](Self::recv_buf), but does not wait.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`try_recv`](Self::try_recv).
            pub fn try_recv_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                self.io.try_io(raddle_reactor::Interest::READABLE, |socket| {
                    crate::sys::fill(buf, |buf| recv(socket, buf))
                })
            }

            /// Waits for a datagram, and returns the number of its bytes in `buf` and the sender's
            /// address.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`recv`](Self::recv).
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: no datagram is lost if the future is dropped.
            $(#[$recv_from])*
            #[track_caller]
            pub fn recv_from(
                &self,
                buf: &mut [u8],
            ) -> impl Future<Output = std::io::Result<(usize, $Addr)>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::recv_from"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        self.io
                            .async_io(crate::evented::RECEIVED, |socket| {
                                let (bytes, addr) = socket.recv_from(buf)?;
                                Ok((bytes, addr.into()))
                            })
                            .await
                    },
                )
            }

            /// The poll function of [`recv_from`](Self::recv_from), for implementing a future.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`recv`](Self::recv).
            $(#[$poll_recv_from])*
            pub fn poll_recv_from(
                &self,
                cx: &mut std::task::Context<'_>,
                buf: &mut raddle_io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<$Addr>> {
                self.io
                    .poll_read_io(cx, |socket| Ok(recv_from(socket, buf)?.1))
            }

            /// Like [`recv_from`](Self::recv_from), but does not wait.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`try_recv`](Self::try_recv).
            pub fn try_recv_from(&self, buf: &mut [u8]) -> std::io::Result<(usize, $Addr)> {
                self.io.try_io(raddle_reactor::Interest::READABLE, |socket| {
                    let (bytes, addr) = socket.recv_from(buf)?;
                    Ok((bytes, addr.into()))
                })
            }

            /// Like [`recv_from`](Self::recv_from), but appends to `buf` as
            /// [`recv_buf`](Self::recv_buf) does.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`recv`](Self::recv).
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: no datagram is lost if the future is dropped.
            #[track_caller]
            pub fn recv_buf_from<B: bytes::BufMut>(
                &self,
                buf: &mut B,
            ) -> impl Future<Output = std::io::Result<(usize, $Addr)>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::recv_buf_from"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        self.io
                            .async_io(crate::evented::RECEIVED, |socket| {
                                crate::sys::fill(buf, |buf| recv_from(socket, buf))
                            })
                            .await
                    },
                )
            }

            /// Like [`recv_buf_from`](Self::recv_buf_from), but does not wait.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`try_recv`](Self::try_recv).
            pub fn try_recv_buf_from<B: bytes::BufMut>(
                &self,
                buf: &mut B,
            ) -> std::io::Result<(usize, $Addr)> {
                self.io.try_io(raddle_reactor::Interest::READABLE, |socket| {
                    crate::sys::fill(buf, |buf| recv_from(socket, buf))
                })
            }
        }

        fn recv(
            socket: &mio::net::$name,
            buf: &mut raddle_io::ReadBuf<'_>,
        ) -> std::io::Result<usize> {
            socket.try_io(|| crate::sys::datagram(socket, buf))
        }
    };
}

/// Writes the methods that send datagrams to the peer of a connected socket.
macro_rules! send_datagrams {
    ($name:ident; $(#[$send:meta])* send { $(#[$send_example:meta])* }) => {
        impl $name {
            $(#[$send])*
            ///
            /// # Cancel safety
            ///
            /// If the future is dropped before it is ready, the datagram was not sent.
            $(#[$send_example])*
            #[track_caller]
            pub fn send(&self, buf: &[u8]) -> impl Future<Output = std::io::Result<usize>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::send"),
                    raddle_leaf::wait::Resource::Unknown,
                    async move {
                        self.io
                            .async_io(raddle_reactor::Interest::WRITABLE, |socket| socket.send(buf))
                            .await
                    },
                )
            }

            /// The poll function of [`send`](Self::send), for implementing a future.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`send`](Self::send).
            pub fn poll_send(
                &self,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io.poll_write_io(cx, |socket| socket.send(buf))
            }

            /// Like [`send`](Self::send), but does not wait.
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if there is no room; otherwise as [`send`](Self::send).
            pub fn try_send(&self, buf: &[u8]) -> std::io::Result<usize> {
                self.io
                    .try_io(raddle_reactor::Interest::WRITABLE, |socket| socket.send(buf))
            }
        }
    };
}

pub(crate) use {datagram_socket, receive_datagrams, send_datagrams};
