//! The methods of both ends of a pipe.

use std::io;

use mio::windows::NamedPipe;
use raddle_reactor::{Evented, Handle, Interest};

/// Registers a pipe with the current reactor.
#[track_caller]
pub(super) fn registered(pipe: NamedPipe) -> io::Result<Evented<NamedPipe>> {
    let interest = Interest::READABLE | Interest::WRITABLE;
    Evented::new(pipe, interest, &Handle::current())
}

/// Writes the methods and traits of one end, a struct with the field `io` and the function `new`.
/// `$open` is an expression that makes it, for the examples.
macro_rules! named_pipe_end {
    ($name:ident, $open:literal) => {
        impl $name {
            /// Takes over the handle of this end of a pipe.
            ///
            /// # Errors
            ///
            /// Returns an error if the pipe cannot be registered with the reactor, as one that was
            /// opened without `FILE_FLAG_OVERLAPPED`.
            ///
            /// # Panics
            ///
            /// Panics if no reactor is current, as in a runtime without `enable_io`.
            ///
            /// # Safety
            ///
            /// The handle is that of a pipe, is open for overlapped operations, and has no other
            /// owner.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
            #[doc = concat!("use raddle::net::windows::named_pipe::", stringify!($name), ";")]
            /// use std::os::windows::io::{OwnedHandle, IntoRawHandle};
            ///
            #[doc = concat!("fn adopt(handle: OwnedHandle) -> std::io::Result<", stringify!($name), "> {")]
            ///     // SAFETY: in this program all such handles are pipes opened for overlapped
            ///     // operations.
            #[doc = concat!("    unsafe { ", stringify!($name), "::from_raw_handle(handle.into_raw_handle()) }")]
            /// }
            /// # fn main() {}
            /// ```
            #[allow(unsafe_code, reason = "the caller vouches for the handle")]
            #[track_caller]
            pub unsafe fn from_raw_handle(
                handle: std::os::windows::io::RawHandle,
            ) -> std::io::Result<$name> {
                // SAFETY: as the caller promises.
                $name::new(unsafe { crate::sys::named_pipe::adopt(handle) })
            }

            /// The properties of the pipe.
            ///
            /// # Errors
            ///
            /// Returns an error if the system does not know the handle, as one of no pipe.
            pub fn info(&self) -> std::io::Result<super::PipeInfo> {
                super::PipeInfo::of(&self.io)
            }

            /// Waits until the pipe is ready for any of `interest`. It may turn out not to be: be
            /// prepared for `WouldBlock`, and wait again.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            pub async fn ready(
                &self,
                interest: raddle_reactor::Interest,
            ) -> std::io::Result<raddle_reactor::Ready> {
                self.io.ready(interest).await
            }

            /// Waits until there is something to read, or the other end is closed. Usually followed
            /// by [`try_read`](Self::try_read).
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
            /// use raddle::net::windows::named_pipe::{ClientOptions, ServerOptions};
            ///
            /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
            #[doc = concat!("let pipe = ", $open, ";")]
            /// pipe.readable().await?;
            /// println!("{} bytes", pipe.try_read(&mut [0; 16])?);
            /// # Ok(()) }) }
            /// ```
            pub async fn readable(&self) -> std::io::Result<()> {
                self.ready(raddle_reactor::Interest::READABLE).await.map(drop)
            }

            /// The poll function of [`readable`](Self::readable), for implementing a future. Only
            /// the waker of the last call is kept.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            pub fn poll_read_ready(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_read_ready(cx)
            }

            /// Reads what has arrived, without waiting. `Ok(0)` says that the other end is closed,
            /// that the buffer is empty, or that a message was.
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if nothing is there; an uncategorized error
            /// (`ERROR_PIPE_NOT_CONNECTED`) if the server has disconnected.
            pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.io.try_read(&mut raddle_io::ReadBuf::new(buf))
            }

            /// Like [`try_read`](Self::try_read), but reads into the first buffer that is not
            /// empty.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`try_read`](Self::try_read).
            pub fn try_read_vectored(
                &self,
                bufs: &mut [std::io::IoSliceMut<'_>],
            ) -> std::io::Result<usize> {
                self.io.try_read_vectored(bufs)
            }

            /// Like [`try_read`](Self::try_read), but appends to `buf`.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`try_read`](Self::try_read).
            pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                self.io.try_read_buf(buf)
            }

            /// Waits until there is room for a write. Usually followed by
            /// [`try_write`](Self::try_write).
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            pub async fn writable(&self) -> std::io::Result<()> {
                self.ready(raddle_reactor::Interest::WRITABLE).await.map(drop)
            }

            /// The poll function of [`writable`](Self::writable), for implementing a future. Only
            /// the waker of the last call is kept.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            pub fn poll_write_ready(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_write_ready(cx)
            }

            /// Writes without waiting, and says how much.
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if an earlier write has not ended; `BrokenPipe` if the other
            /// end is closed. The error of an earlier write, too, is that of the next.
            pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
                self.io.try_write(buf)
            }

            /// The same as [`try_write`](Self::try_write). Buffers of 1 KiB in all are one write,
            /// and so one message; otherwise the first that is not empty is written.
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

            /// Calls `f`, which does I/O on the pipe, if the pipe is known to be ready for
            /// `interest`. If `f` returns `WouldBlock`, the pipe counts as not ready until the next
            /// event: return it only if the pipe did.
            ///
            /// # Errors
            ///
            /// Returns the errors of `f`, and `WouldBlock` if the pipe is not ready.
            pub fn try_io<R>(
                &self,
                interest: raddle_reactor::Interest,
                f: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.try_io(interest, |_| f())
            }

            /// Calls `f`, which does I/O on the pipe, each time that the pipe is ready for
            /// `interest`, until it returns something else than `WouldBlock`.
            ///
            /// # Errors
            ///
            /// Returns the errors of `f`, and an error if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// What `f` has done is in the output of the poll that called it.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
            /// use raddle::io::Interest;
            /// use raddle::net::windows::named_pipe::{ClientOptions, ServerOptions};
            ///
            /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
            #[doc = concat!("let pipe = ", $open, ";")]
            /// let count = pipe
            ///     .async_io(Interest::READABLE, || pipe.try_read(&mut [0; 16]))
            ///     .await?;
            /// println!("{count} bytes");
            /// # Ok(()) }) }
            /// ```
            pub async fn async_io<R>(
                &self,
                interest: raddle_reactor::Interest,
                mut f: impl FnMut() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.retry_io(interest, |_| f()).await
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

        impl raddle_io::AsyncWrite for $name {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io.poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io.poll_write_vectored(cx, bufs)
            }

            /// Does nothing: a write is complete when a buffer has the bytes.
            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(Ok(()))
            }

            /// Does nothing: a pipe is closed by dropping it.
            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(Ok(()))
            }
        }

        impl std::os::windows::io::AsHandle for $name {
            fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
                crate::sys::named_pipe::handle_of(&self.io)
            }
        }

        impl std::os::windows::io::AsRawHandle for $name {
            fn as_raw_handle(&self) -> std::os::windows::io::RawHandle {
                std::os::windows::io::AsRawHandle::as_raw_handle(&*self.io)
            }
        }
    };
}

pub(super) use named_pipe_end;
