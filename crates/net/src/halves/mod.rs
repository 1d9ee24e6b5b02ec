//! The halves of a stream, shared by all kinds of streams: [`ReadHalfOf`] and [`WriteHalfOf`] over
//! a reference that borrows or shares the stream.
//!
//! Programs use them under the names of [`tcp`](crate::tcp) and, for Unix sockets, of the module
//! `unix`.

mod reading;
mod writing;

use std::io;
use std::ops::Deref;

use mio::event::Source;
use raddle_primitives::sync::Arc;
use raddle_reactor::Evented;

pub use reading::ReadHalfOf;
pub use writing::WriteHalfOf;

/// A stream that can be split.
pub(crate) trait Stream {
    type Source: Source;
    type Addr;

    fn io(&self) -> &Evented<Self::Source>;
    fn local_addr(&self) -> io::Result<Self::Addr>;
    fn peer_addr(&self) -> io::Result<Self::Addr>;
    /// Ends the writing direction.
    fn shutdown_write(&self) -> io::Result<()>;
}

/// Writes the methods and traits that both halves have.
macro_rules! half {
    ($name:ident) => {
        #[expect(private_bounds, reason = "only streams of this crate can be split")]
        impl<P> $name<P>
        where
            P: Deref<Target: Stream>,
        {
            /// Waits until the stream is ready for any of `interest`, and returns its readiness.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            pub async fn ready(&self, interest: Interest) -> io::Result<raddle_reactor::Ready> {
                self.0.io().ready(interest).await
            }

            /// Waits until the peer sends no more, without reading, as the stream's `read_closed`.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            pub async fn read_closed(&self) -> io::Result<()> {
                self.0.io().read_closed().await
            }

            /// Waits until neither direction works any more, without reading, as the stream's
            /// `both_closed`.
            ///
            /// # Errors
            ///
            /// Returns an error of the kind `Other` if the runtime has shut down.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
            pub async fn both_closed(&self) -> io::Result<()> {
                self.0.io().both_closed().await
            }
        }

        #[expect(private_bounds, reason = "only streams of this crate can be split")]
        impl<P, A> $name<P>
        where
            P: Deref,
            P::Target: Stream<Addr = A>,
        {
            /// Returns the address of the peer.
            ///
            /// # Errors
            ///
            /// Returns `NotConnected` if the other side has reset the connection.
            pub fn peer_addr(&self) -> io::Result<A> {
                self.0.peer_addr()
            }

            /// Returns the local address.
            ///
            /// # Errors
            ///
            /// Returns an error if the system has no memory for the result.
            pub fn local_addr(&self) -> io::Result<A> {
                self.0.local_addr()
            }
        }

        impl<P: Deref> AsRef<P::Target> for $name<P> {
            fn as_ref(&self) -> &P::Target {
                &self.0
            }
        }
    };
}

use half;

/// A reference to a stream that ends the writing direction when it is dropped, unless that has been
/// done or was disabled. [`tcp::OwnedWriteHalf`](crate::tcp::OwnedWriteHalf) is a
/// `WriteHalfOf<ShutdownOnDrop<TcpStream>>`.
#[derive(Debug)]
#[expect(private_bounds, reason = "only streams of this crate can be split")]
pub struct ShutdownOnDrop<S: Stream> {
    stream: Arc<S>,
    on_drop: bool,
}

impl<S: Stream> Deref for ShutdownOnDrop<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.stream
    }
}

impl<S: Stream> Drop for ShutdownOnDrop<S> {
    fn drop(&mut self) {
        if self.on_drop {
            // An error is ignored, because no half is left to return it.
            let _ = self.stream.shutdown_write();
        }
    }
}

/// A reference to a stream through which its writing direction can be ended.
pub(crate) trait EndWriting: Deref<Target: Stream> {
    fn end_writing(&mut self) -> io::Result<()>;
}

impl<S: Stream> EndWriting for &S {
    fn end_writing(&mut self) -> io::Result<()> {
        self.shutdown_write()
    }
}

impl<S: Stream> EndWriting for ShutdownOnDrop<S> {
    fn end_writing(&mut self) -> io::Result<()> {
        self.shutdown_write()?;
        self.on_drop = false;
        Ok(())
    }
}

pub(crate) fn split<S: Stream>(stream: &S) -> (ReadHalfOf<&S>, WriteHalfOf<&S>) {
    (ReadHalfOf(stream), WriteHalfOf(stream))
}

type Halves<S> = (ReadHalfOf<Arc<S>>, WriteHalfOf<ShutdownOnDrop<S>>);

pub(crate) fn split_owned<S: Stream>(stream: S) -> Halves<S> {
    let stream = Arc::new(stream);
    let writing = ShutdownOnDrop {
        stream: stream.clone(),
        on_drop: true,
    };
    (ReadHalfOf(stream), WriteHalfOf(writing))
}

/// Joins two halves, or returns them if they are not of the same stream.
pub(crate) fn reunite<S: Stream>(
    reading: ReadHalfOf<Arc<S>>,
    mut writing: WriteHalfOf<ShutdownOnDrop<S>>,
) -> Result<S, Halves<S>> {
    if !Arc::ptr_eq(&reading.0, &writing.0.stream) {
        return Err((reading, writing));
    }
    writing.0.on_drop = false;
    drop(writing);
    match Arc::try_unwrap(reading.0) {
        Ok(stream) => Ok(stream),
        Err(_) => unreachable!("only two halves share a stream"),
    }
}

pub(crate) const NOT_OF_ONE: &str =
    "the halves are not of the same stream; reunite those of one into_split";

/// Writes the types of the halves of a stream, and `reunite`.
macro_rules! stream_halves {
    (
        $Stream:ident;
        $(#[$error:meta])* ReuniteError,
        $(#[$reunite:meta])* reunite,
    ) => {
        /// The reading half of a borrowed stream; see
        #[doc = concat!("[`", stringify!($Stream), "::split`].")]
        pub type ReadHalf<'a> = crate::halves::ReadHalfOf<&'a $Stream>;

        /// The writing half of a borrowed stream; see
        #[doc = concat!("[`", stringify!($Stream), "::split`].")]
        ///
        /// Dropping it does not end the writing direction.
        pub type WriteHalf<'a> = crate::halves::WriteHalfOf<&'a $Stream>;

        /// The reading half of a stream; see
        #[doc = concat!("[`", stringify!($Stream), "::into_split`].")]
        pub type OwnedReadHalf =
            crate::halves::ReadHalfOf<raddle_primitives::sync::Arc<$Stream>>;

        /// The writing half of a stream; see
        #[doc = concat!("[`", stringify!($Stream), "::into_split`].")]
        ///
        /// Dropping it ends the writing direction, unless it is
        /// [forgotten](OwnedWriteHalf::forget) or [reunited](OwnedWriteHalf::reunite).
        pub type OwnedWriteHalf =
            crate::halves::WriteHalfOf<crate::halves::ShutdownOnDrop<$Stream>>;

        /// The error of `reunite`: the halves are not of the same stream. Contains both halves.
        $(#[$error])*
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl std::fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(crate::halves::NOT_OF_ONE)
            }
        }

        impl std::error::Error for ReuniteError {}

        impl OwnedReadHalf {
            /// Joins the halves of one stream.
            ///
            /// # Errors
            ///
            /// Returns both halves if they are of different streams.
            $(#[$reunite])*
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$Stream, ReuniteError> {
                crate::halves::reunite(self, other)
                    .map_err(|(read, write)| ReuniteError(read, write))
            }
        }

        impl OwnedWriteHalf {
            /// Joins the halves of one stream.
            ///
            /// # Errors
            ///
            /// Returns both halves if they are of different streams.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$Stream, ReuniteError> {
                other.reunite(self)
            }
        }
    };
}

pub(crate) use stream_halves;
