//! Adapters between the traits of this crate and those of `futures-io`.
//!
//! A [`Compat`] around a stream with the traits of one crate has the traits of the other. Names and
//! methods are those of `tokio_util::compat`, so that a program that uses that module needs to
//! change only its imports: "Tokio" in a name stands for the traits of this crate.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use futures_util::io::AsyncReadExt;
//! use raddle::io::compat::TokioAsyncReadCompatExt;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
//! // Reads as this crate's; `futures_util` reads it as its own.
//! let (mut writer, reader) = raddle::io::duplex(64);
//! let mut reader = reader.compat();
//! # raddle::io::AsyncWriteExt::write_all(&mut writer, b"over").await?;
//!
//! let mut text = [0; 4];
//! reader.read_exact(&mut text).await?;
//! assert_eq!(&text, b"over");
//! # Ok(())
//! # }) }
//! ```

mod from_futures;
mod to_futures;

use std::io::SeekFrom;

use pin_project_lite::pin_project;

use crate::{AsyncRead, AsyncWrite};

pin_project! {
    /// A stream with the traits of the other crate.
    ///
    /// Returned by the methods of the traits in this [module](crate::compat). It has no buffer, so
    /// operations are as cancel safe as on the stream. The exception is a seek through the traits
    /// of `futures-io`: if it is dropped, a later seek first waits for it.
    #[derive(Debug)]
    pub struct Compat<T> {
        #[pin]
        inner: T,
        // The seek that has started and is not complete.
        seeking: Option<SeekFrom>,
    }
}

impl<T> Compat<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            seeking: None,
        }
    }

    /// Returns the stream.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Returns the stream.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the stream.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

/// Converts a reader of `futures-io` to one of this crate.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use futures_util::io::Cursor;
/// use raddle::io::AsyncReadExt;
/// use raddle::io::compat::FuturesAsyncReadCompatExt;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut text = String::new();
/// let mut reader = FuturesAsyncReadCompatExt::compat(Cursor::new(b"over"));
/// reader.read_to_string(&mut text).await?;
/// assert_eq!(text, "over");
/// # Ok(())
/// # }) }
/// ```
pub trait FuturesAsyncReadCompatExt: futures_io::AsyncRead {
    /// Returns the reader with the traits of this crate. If it also implements the traits of
    /// `futures-io` for writing and seeking, so does the result.
    fn compat(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: futures_io::AsyncRead> FuturesAsyncReadCompatExt for T {}

/// Converts a writer of `futures-io` to one of this crate.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncWriteExt;
/// use raddle::io::compat::FuturesAsyncWriteCompatExt;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut writer = futures_util::io::sink().compat_write();
/// writer.write_all(b"over").await?;
/// # Ok(())
/// # }) }
/// ```
pub trait FuturesAsyncWriteCompatExt: futures_io::AsyncWrite {
    /// Returns the writer with the traits of this crate.
    fn compat_write(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: futures_io::AsyncWrite> FuturesAsyncWriteCompatExt for T {}

/// Converts a reader of this crate to one of `futures-io`.
pub trait TokioAsyncReadCompatExt: AsyncRead {
    /// Returns the reader with the traits of `futures-io`. If it also implements this crate's
    /// traits for writing and seeking, so does the result.
    fn compat(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: AsyncRead> TokioAsyncReadCompatExt for T {}

/// Converts a writer of this crate to one of `futures-io`.
pub trait TokioAsyncWriteCompatExt: AsyncWrite {
    /// Returns the writer with the traits of `futures-io`.
    fn compat_write(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: AsyncWrite> TokioAsyncWriteCompatExt for T {}
