//! Streams of bytes in both directions.

/// Writes the methods and traits of a stream, which also implements
/// [`Stream`](crate::halves::Stream). The module has the types of its halves.
macro_rules! byte_stream {
    (
        $name:ident;
        $(#[$ready:meta])* ready,
        $(#[$readable:meta])* readable,
        $(#[$writable:meta])* writable,
        $(#[$read_closed:meta])* read_closed,
        $(#[$try_read_buf:meta])* try_read_buf,
        $(#[$try_read_vectored:meta])* try_read_vectored,
        $(#[$async_io:meta])* async_io,
        $(#[$split:meta])* split -> ($ReadHalf:ident, $WriteHalf:ident),
        $(#[$into_split:meta])* into_split -> ($OwnedReadHalf:ident, $OwnedWriteHalf:ident),
    ) => {
        crate::methods::readiness! {
            $name, "stream";
            $(#[$ready])* ready,
            /// Waits until there is something to read or the stream has ended. Usually followed by
            /// [`try_read`](Self::try_read).
            readable { $(#[$readable])* }
            /// Waits until there is room to write. Usually followed by
            /// [`try_write`](Self::try_write).
            writable { $(#[$writable])* }
            poll_read_ready,
            poll_write_ready,
            $(#[$async_io])* async_io,
        }

        impl $name {
            /// Waits until the peer sends no more: it has closed the connection or shut down its
            /// writing direction, or the connection has broken. Nothing is read: bytes that have
            /// arrived stay readable, and need not be read first. A server notices with this that
            /// a client has gone while its request is still being served.
            ///
            /// It ends at once if that has happened before, and after this side has shut down its
            /// reading direction. Any number of tasks may wait.
            ///
            /// A peer that has only ended its writing direction, as `nc -N` does, still waits for
            /// the answer. Over TCP it looks the same as a peer that has closed its socket, until
            /// bytes are sent to it: the latter then answers with a reset. Use
            /// [`both_closed`](Self::both_closed) to serve half-closed connections.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down. An error of the
            /// connection is left to the next read or write, or to
            /// [`take_error`](Self::take_error).
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            $(#[$read_closed])*
            #[track_caller]
            pub fn read_closed(&self) -> impl Future<Output = std::io::Result<()>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::read_closed"),
                    raddle_leaf::wait::Resource::Unknown,
                    self.io.read_closed(),
                )
            }

            /// Waits until neither direction works any more, without reading: each side has closed
            /// the connection or ended its writing direction, or the connection has broken, for
            /// instance because the peer has reset it. Otherwise as
            /// [`read_closed`](Self::read_closed), which notices earlier that a client has gone.
            ///
            /// A Unix socket whose peer has closed it hangs up at once. Over TCP a close of the
            /// peer ends one direction; the other ends when this side shuts it down, or sends bytes
            /// that the peer answers with a reset. On Windows only a broken connection counts.
            ///
            /// # Errors
            ///
            /// The same as those of [`read_closed`](Self::read_closed).
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            #[track_caller]
            pub fn both_closed(&self) -> impl Future<Output = std::io::Result<()>> {
                raddle_leaf::wait::located(
                    concat!(stringify!($name), "::both_closed"),
                    raddle_leaf::wait::Resource::Unknown,
                    self.io.both_closed(),
                )
            }

            /// Reads what has arrived, without waiting. `Ok(0)` means the end of the stream, or an
            /// empty buffer.
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if nothing has arrived; wait with
            /// [`readable`](Self::readable). Other errors are those of the connection, such as
            /// `ConnectionReset`.
            pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.io.try_read(&mut raddle_io::ReadBuf::new(buf))
            }

            /// Like [`try_read`](Self::try_read), but appends to `buf`, which may be a `Vec` or a
            /// `BytesMut`.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`try_read`](Self::try_read).
            $(#[$try_read_buf])*
            pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                self.io.try_read_buf(buf)
            }

            /// Like [`try_read`](Self::try_read), but fills several buffers in turn.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`try_read`](Self::try_read).
            $(#[$try_read_vectored])*
            pub fn try_read_vectored(
                &self,
                bufs: &mut [std::io::IoSliceMut<'_>],
            ) -> std::io::Result<usize> {
                self.io.try_read_vectored(bufs)
            }

            /// Writes as many bytes as there is room for, without waiting.
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if there is none; wait with [`writable`](Self::writable). Other
            /// errors are those of the connection, such as `ConnectionReset`.
            pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
                self.io.try_write(buf)
            }

            /// Like [`try_write`](Self::try_write), but writes from several buffers in turn.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`try_write`](Self::try_write).
            pub fn try_write_vectored(
                &self,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::io::Result<usize> {
                self.io.try_write_vectored(bufs)
            }

            /// Splits the stream into a half for reading and one for writing, which borrow it:
            /// nothing is allocated.
            $(#[$split])*
            pub fn split(&mut self) -> ($ReadHalf<'_>, $WriteHalf<'_>) {
                crate::halves::split(self)
            }

            /// Splits the stream into halves that can go to different tasks. Dropping the writing
            /// half ends the writing direction; dropping both closes the connection.
            $(#[$into_split])*
            pub fn into_split(self) -> ($OwnedReadHalf, $OwnedWriteHalf) {
                crate::halves::split_owned(self)
            }
        }

        impl raddle_io::AsyncRead for $name {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut raddle_io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_read(cx, buf)
            }
        }

        crate::methods::async_write!(
            $name,
            poll_shutdown: crate::halves::Stream::shutdown_write
        );

        impl AsRef<$name> for $name {
            fn as_ref(&self) -> &$name {
                self
            }
        }
    };
}

pub(crate) use byte_stream;
