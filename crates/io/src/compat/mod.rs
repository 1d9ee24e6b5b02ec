//! Between the traits of this crate and those of `futures-io`.
//!
//! A stream that implements the ones becomes, in a [`Compat`], a stream that
//! implements the others. Names and methods are those of `tokio_util::compat`,
//! so that a program which uses that has its imports to change only: "Tokio"
//! in a name stands for the traits of this crate.
//!
//! ```
//! use futures_util::io::AsyncReadExt;
//! use raddle_io::compat::TokioAsyncReadCompatExt;
//!
//! # let future = async {
//! // Reads as this crate's; `futures_util` reads it as its own.
//! let (mut writer, reader) = raddle_io::duplex(64);
//! let mut reader = reader.compat();
//! # raddle_io::AsyncWriteExt::write_all(&mut writer, b"over").await?;
//!
//! let mut text = [0; 4];
//! reader.read_exact(&mut text).await?;
//! assert_eq!(&text, b"over");
//! # std::io::Result::Ok(())
//! # };
//! # let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
//! # assert!(std::pin::pin!(future).poll(&mut cx).is_ready());
//! ```

mod from_futures;
mod to_futures;

use std::io::SeekFrom;

use pin_project_lite::pin_project;

use crate::{AsyncRead, AsyncWrite};

pin_project! {
    /// A stream with the traits of the other crate.
    ///
    /// Comes from the methods of the traits in this [module](crate::compat). It
    /// has no buffer, and adds nothing to be cancelled but a seek: to
    /// `futures-io`, one that is dropped and begun anew elsewhere waits for the
    /// first.
    #[derive(Debug)]
    pub struct Compat<T> {
        #[pin]
        inner: T,
        // The seek that has begun and is not complete.
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

    /// The stream.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// The stream.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// The stream.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

/// Makes a reader of this crate's out of one of `futures-io`.
pub trait FuturesAsyncReadCompatExt: futures_io::AsyncRead {
    /// The reader with the traits of this crate, those for writing and seeking
    /// too if it has `futures-io`'s.
    fn compat(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: futures_io::AsyncRead> FuturesAsyncReadCompatExt for T {}

/// Makes a writer of this crate's out of one of `futures-io`.
pub trait FuturesAsyncWriteCompatExt: futures_io::AsyncWrite {
    /// The writer with the traits of this crate.
    fn compat_write(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: futures_io::AsyncWrite> FuturesAsyncWriteCompatExt for T {}

/// Makes a reader of `futures-io` out of one of this crate's.
pub trait TokioAsyncReadCompatExt: AsyncRead {
    /// The reader with the traits of `futures-io`, those for writing and seeking
    /// too if it has this crate's.
    fn compat(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: AsyncRead> TokioAsyncReadCompatExt for T {}

/// Makes a writer of `futures-io` out of one of this crate's.
pub trait TokioAsyncWriteCompatExt: AsyncWrite {
    /// The writer with the traits of `futures-io`.
    fn compat_write(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: AsyncWrite> TokioAsyncWriteCompatExt for T {}
