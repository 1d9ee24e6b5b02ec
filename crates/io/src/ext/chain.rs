//! `AsyncReadExt::chain`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::{AsyncBufRead, AsyncRead, ReadBuf};

pin_project! {
    /// A reader of two readers' bytes, one after the other; see
    /// [`AsyncReadExt::chain`](crate::AsyncReadExt::chain).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut both = (&b"one "[..]).chain(&b"two"[..]);
    /// let mut text = String::new();
    /// both.read_to_string(&mut text).await?;
    /// assert_eq!(text, "one two");
    /// # Ok(())
    /// # }) }
    /// ```
    #[derive(Debug)]
    #[must_use = "it reads nothing by itself"]
    pub struct Chain<T, U> {
        #[pin]
        first: T,
        #[pin]
        second: U,
        // Set once the first reader has reached its end.
        done_first: bool,
    }
}

impl<T, U> Chain<T, U> {
    pub(super) fn new(first: T, second: U) -> Self {
        Self {
            first,
            second,
            done_first: false,
        }
    }

    /// Returns both readers.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() {
    /// let both = (&b"one"[..]).chain(&b"two"[..]);
    /// let (first, second) = both.get_ref();
    /// assert_eq!((*first, *second), (&b"one"[..], &b"two"[..]));
    /// # }
    /// ```
    pub fn get_ref(&self) -> (&T, &U) {
        (&self.first, &self.second)
    }

    /// Returns both readers. Bytes that are read from them directly are missing here.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() {
    /// let mut both = (&b"one"[..]).chain(&b"two"[..]);
    /// *both.get_mut().1 = b"three";
    /// assert_eq!(both.into_inner().1, b"three");
    /// # }
    /// ```
    pub fn get_mut(&mut self) -> (&mut T, &mut U) {
        (&mut self.first, &mut self.second)
    }

    /// Returns both readers, pinned like this one.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    /// use std::pin::pin;
    ///
    /// # fn main() {
    /// let both = pin!((&b"one"[..]).chain(&b"two"[..]));
    /// let (first, _second) = both.get_pin_mut();
    /// assert_eq!(*first, b"one");
    /// # }
    /// ```
    pub fn get_pin_mut(self: Pin<&mut Self>) -> (Pin<&mut T>, Pin<&mut U>) {
        let this = self.project();
        (this.first, this.second)
    }

    /// Returns both readers.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut both = (&b"one"[..]).chain(&b"two"[..]);
    /// both.read_u8().await?;
    /// assert_eq!(both.into_inner(), (&b"ne"[..], &b"two"[..]));
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn into_inner(self) -> (T, U) {
        (self.first, self.second)
    }
}

impl<T: AsyncRead, U: AsyncRead> AsyncRead for Chain<T, U> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        if !*this.done_first {
            let before = buf.remaining();
            ready!(this.first.poll_read(cx, buf))?;
            // A read into an empty buffer does not show the end.
            if buf.remaining() < before || before == 0 {
                return Poll::Ready(Ok(()));
            }
            *this.done_first = true;
        }
        this.second.poll_read(cx, buf)
    }
}

impl<T: AsyncBufRead, U: AsyncBufRead> AsyncBufRead for Chain<T, U> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if !*this.done_first {
            let available = ready!(this.first.poll_fill_buf(cx))?;
            if !available.is_empty() {
                return Poll::Ready(Ok(available));
            }
            *this.done_first = true;
        }
        this.second.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        let this = self.project();
        if *this.done_first {
            this.second.consume(amt);
        } else {
            this.first.consume(amt);
        }
    }
}
