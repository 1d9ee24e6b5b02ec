//! A reader and a writer as one stream.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

pin_project! {
    /// A stream that reads from a reader and writes to a separate writer.
    ///
    /// Comes from [`join`].
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncReadExt, AsyncWriteExt, join};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut stream = join(&b"request"[..], Vec::new());
    /// let mut text = String::new();
    /// stream.read_to_string(&mut text).await?;
    /// stream.write_all(b"answer").await?;
    /// assert_eq!((text.as_str(), stream.writer().as_slice()), ("request", &b"answer"[..]));
    /// # Ok(())
    /// # }) }
    /// ```
    #[derive(Clone, Debug)]
    pub struct Join<R, W> {
        #[pin]
        reader: R,
        #[pin]
        writer: W,
    }
}

/// Makes one stream of a reader and a writer.
///
/// # Cancel safety
///
/// The stream has no state of its own: its operations are as cancel safe as those of the reader and
/// the writer.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt, join};
///
/// # fn main() {
/// # let future = async {
/// let mut stream = join(&b"question"[..], Vec::new());
/// let mut text = String::new();
/// stream.read_to_string(&mut text).await?;
/// stream.write_all(b"answer").await?;
/// assert_eq!(text, "question");
/// assert_eq!(stream.writer(), b"answer");
/// # std::io::Result::Ok(())
/// # };
/// # let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(std::pin::pin!(future).poll(&mut cx).is_ready());
/// # }
/// ```
pub fn join<R, W>(reader: R, writer: W) -> Join<R, W>
where
    R: AsyncRead,
    W: AsyncWrite,
{
    Join { reader, writer }
}

impl<R, W> Join<R, W> {
    /// Returns the reader and the writer.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{empty, join};
    ///
    /// # fn main() {
    /// let (_reader, writer) = join(empty(), vec![1]).into_inner();
    /// assert_eq!(writer, [1]);
    /// # }
    /// ```
    pub fn into_inner(self) -> (R, W) {
        (self.reader, self.writer)
    }

    /// The reader.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{join, sink};
    ///
    /// # fn main() {
    /// assert_eq!(*join(&b"text"[..], sink()).reader(), b"text");
    /// # }
    /// ```
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// The writer.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{empty, join};
    ///
    /// # fn main() {
    /// assert_eq!(*join(empty(), vec![1]).writer(), [1]);
    /// # }
    /// ```
    pub fn writer(&self) -> &W {
        &self.writer
    }

    /// The reader.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{join, sink};
    ///
    /// # fn main() {
    /// let mut stream = join(&b"text"[..], sink());
    /// *stream.reader_mut() = b"other";
    /// assert_eq!(*stream.reader(), b"other");
    /// # }
    /// ```
    pub fn reader_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// The writer.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{empty, join};
    ///
    /// # fn main() {
    /// let mut stream = join(empty(), vec![1]);
    /// stream.writer_mut().clear();
    /// assert!(stream.writer().is_empty());
    /// # }
    /// ```
    pub fn writer_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Returns the reader, pinned like this one.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{join, sink};
    /// use std::pin::pin;
    ///
    /// # fn main() {
    /// let stream = pin!(join(&b"text"[..], sink()));
    /// assert_eq!(*stream.reader_pin_mut(), b"text");
    /// # }
    /// ```
    pub fn reader_pin_mut(self: Pin<&mut Self>) -> Pin<&mut R> {
        self.project().reader
    }

    /// The writer, pinned as this is.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{empty, join};
    /// use std::pin::pin;
    ///
    /// # fn main() {
    /// let stream = pin!(join(empty(), vec![1]));
    /// assert_eq!(*stream.writer_pin_mut(), [1]);
    /// # }
    /// ```
    pub fn writer_pin_mut(self: Pin<&mut Self>) -> Pin<&mut W> {
        self.project().writer
    }
}

impl<R: AsyncRead, W> AsyncRead for Join<R, W> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.project().reader.poll_read(cx, buf)
    }
}

impl<R: AsyncBufRead, W> AsyncBufRead for Join<R, W> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().reader.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        self.project().reader.consume(amt);
    }
}

impl<R, W: AsyncWrite> AsyncWrite for Join<R, W> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.project().writer.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().writer.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().writer.poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().writer.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.writer.is_write_vectored()
    }
}
