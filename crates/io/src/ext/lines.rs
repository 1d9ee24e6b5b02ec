//! `AsyncBufReadExt::lines`.

use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::misuse::io_at_caller;

use super::read_until::poll_read_until;
use super::text::not_utf8;
use crate::AsyncBufRead;

pin_project! {
    /// The lines of a reader; see [`AsyncBufReadExt::lines`](crate::AsyncBufReadExt::lines).
    #[derive(Debug)]
    #[must_use = "lines are read only when asked for"]
    pub struct Lines<R> {
        #[pin]
        reader: R,
        // The line so far. It is kept here, so that a dropped `next_line` loses nothing.
        line: Vec<u8>,
    }
}

impl<R> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
        }
    }

    /// Returns the reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader. Bytes that are read from it directly are missing in the lines.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncBufReadExt, AsyncReadExt};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut lines = (&b"header\n\x01\x02"[..]).lines();
    /// lines.next_line().await?;
    /// assert_eq!(lines.get_mut().read_u16().await?, 0x0102);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the reader, pinned like this one.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut R> {
        self.project().reader
    }

    /// Returns the reader. A part of a line that was already read is lost.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R: AsyncBufRead> Lines<R> {
    /// Returns the next line, without its `\n` or `\r\n`; `None` at the end.
    ///
    /// The text after the last line ending is a line too, unless it is empty.
    ///
    /// # Errors
    ///
    /// Returns `InvalidData` if the line is not UTF-8: its bytes are in the error, a
    /// [`FromUtf8Error`](std::string::FromUtf8Error), and the next call continues with the line
    /// after it. Otherwise the reader's error; what was read of the line is kept.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, the next call continues with the
    /// same line.
    #[track_caller]
    pub fn next_line(&mut self) -> impl Future<Output = io::Result<Option<String>>>
    where
        R: Unpin,
    {
        io_at_caller(async move { poll_fn(|cx| Pin::new(&mut *self).poll_next_line(cx)).await })
    }

    /// The poll function of [`next_line`](Self::next_line).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`next_line`](Self::next_line).
    pub fn poll_next_line(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Option<String>>> {
        let this = self.project();
        let mut read = this.line.len();
        ready!(poll_read_until(
            this.reader,
            cx,
            b'\n',
            this.line,
            &mut read
        ))?;
        let mut line = mem::take(this.line);
        if line.is_empty() {
            return Poll::Ready(Ok(None));
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        let line = String::from_utf8(line).map_err(not_utf8);
        Poll::Ready(line.map(Some))
    }
}
