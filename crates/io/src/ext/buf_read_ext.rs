//! The methods of every buffered reader.

use std::pin::Pin;

use super::fill_buf::FillBuf;
use super::lines::Lines;
use super::read_line::ReadLine;
use super::read_until::ReadUntil;
use super::split::Split;
use crate::AsyncBufRead;

/// Extension methods of [`AsyncBufRead`].
pub trait AsyncBufReadExt: AsyncBufRead {
    /// Reads up to and including the first byte `delimiter`, or to the end, appending to `buf`;
    /// returns the number of bytes.
    ///
    /// Zero means that the source has reached its end. Interrupted reads are retried.
    ///
    /// # Errors
    ///
    /// Returns the reader's error. Bytes that were read before are in `buf`.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before completion, the bytes that were read are in `buf`, and
    /// another call with the same `buf` continues from there; it returns the number of only its own
    /// bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncBufReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = &b"key=value"[..];
    /// let mut key = Vec::new();
    /// assert_eq!(input.read_until(b'=', &mut key).await?, 4);
    /// assert_eq!(key, b"key=");
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn read_until<'a>(&'a mut self, delimiter: u8, buf: &'a mut Vec<u8>) -> ReadUntil<'a, Self>
    where
        Self: Unpin,
    {
        ReadUntil::new(self, delimiter, buf)
    }

    /// Reads up to and including the next line feed, or to the end, appending to `buf`; returns the
    /// number of bytes.
    ///
    /// Zero means that the source has reached its end. The line keeps its `\n` or `\r\n`.
    /// Interrupted reads are retried.
    ///
    /// # Errors
    ///
    /// Returns `InvalidData` if the line is not UTF-8: `buf` is then unchanged, and the line is
    /// lost. Otherwise returns the reader's error: `buf` then has the bytes that were read before,
    /// if they are UTF-8.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if the future is dropped before completion, the bytes that were read are
    /// lost, and the content of `buf` is unspecified. [`lines`](Self::lines) and
    /// [`read_until`](Self::read_until) lose nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncBufReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = &b"one\ntwo"[..];
    /// let mut line = String::new();
    /// while input.read_line(&mut line).await? > 0 {
    ///     println!("{}", line.trim_end());
    ///     line.clear();
    /// }
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn read_line<'a>(&'a mut self, buf: &'a mut String) -> ReadLine<'a, Self>
    where
        Self: Unpin,
    {
        ReadLine::new(self, buf)
    }

    /// Returns the buffered bytes. If there are none, reads from the source first.
    ///
    /// They stay buffered until they are [consumed](Self::consume). An empty slice means that the
    /// source has reached its end.
    ///
    /// # Errors
    ///
    /// Returns the reader's error.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the bytes that were read are in the reader's own buffer.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncBufReadExt, BufReader};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut reader = BufReader::new(&b"text"[..]);
    /// let length = reader.fill_buf().await?.len();
    /// reader.consume(length);
    /// assert!(reader.fill_buf().await?.is_empty());
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn fill_buf(&mut self) -> FillBuf<'_, Self>
    where
        Self: Unpin,
    {
        FillBuf::new(self)
    }

    /// Removes the first `amt` bytes from the buffer.
    ///
    /// They must be among the bytes that the last [`fill_buf`](Self::fill_buf) returned; otherwise
    /// this may panic.
    fn consume(&mut self, amt: usize)
    where
        Self: Unpin,
    {
        Pin::new(self).consume(amt);
    }

    /// Returns the lines of this reader, without their line endings.
    ///
    /// # Cancel safety
    ///
    /// [`Lines::next_line`] is cancel safe.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncBufReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut lines = (&b"one\r\ntwo\n"[..]).lines();
    /// while let Some(line) = lines.next_line().await? {
    ///     println!("{line}");
    /// }
    /// # Ok(())
    /// # }) }
    /// ```
    fn lines(self) -> Lines<Self>
    where
        Self: Sized,
    {
        Lines::new(self)
    }

    /// Splits the bytes of this reader at each byte `delimiter`, which the parts do not contain.
    ///
    /// # Cancel safety
    ///
    /// [`Split::next_segment`] is cancel safe.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncBufReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut fields = AsyncBufReadExt::split(&b"a,b"[..], b',');
    /// assert_eq!(fields.next_segment().await?.as_deref(), Some(&b"a"[..]));
    /// assert_eq!(fields.next_segment().await?.as_deref(), Some(&b"b"[..]));
    /// assert_eq!(fields.next_segment().await?, None);
    /// # Ok(())
    /// # }) }
    /// ```
    fn split(self, delimiter: u8) -> Split<Self>
    where
        Self: Sized,
    {
        Split::new(self, delimiter)
    }
}

impl<R: AsyncBufRead + ?Sized> AsyncBufReadExt for R {}
