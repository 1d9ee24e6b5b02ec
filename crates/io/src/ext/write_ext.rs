//! The methods of every writer.

use std::io::IoSlice;

use bytes::Buf;

use super::flush::Flush;
use super::shutdown::Shutdown;
use super::write::Write;
use super::write_all::WriteAll;
use super::write_all_buf::WriteAllBuf;
use super::write_buf::WriteBuf;
use super::write_int::{WriteInt, number_writers};
use super::write_vectored::WriteVectored;
use crate::AsyncWrite;

/// Extension methods of [`AsyncWrite`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncWrite, AsyncWriteExt};
///
/// /// A record is its length, in two bytes, and its content.
/// async fn send(mut stream: impl AsyncWrite + Unpin, content: &[u8]) -> std::io::Result<()> {
///     let length = u16::try_from(content.len()).map_err(std::io::Error::other)?;
///     stream.write_u16(length).await?;
///     stream.write_all(content).await?;
///     stream.flush().await
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut output = Vec::new();
/// send(&mut output, b"text").await?;
/// assert_eq!(output, b"\x00\x04text");
/// # Ok(())
/// # }) }
/// ```
pub trait AsyncWriteExt: AsyncWrite {
    /// Writes bytes from the start of `buf`, and returns their number.
    ///
    /// # Errors
    ///
    /// Returns the writer's error. Nothing was written then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, it has written nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncWriteExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut output = Vec::new();
    /// let mut rest = &b"text"[..];
    /// while !rest.is_empty() {
    ///     let written = output.write(rest).await?;
    ///     rest = &rest[written..];
    /// }
    /// assert_eq!(output, b"text");
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn write<'a>(&'a mut self, buf: &'a [u8]) -> Write<'a, Self>
    where
        Self: Unpin,
    {
        Write::new(self, buf)
    }

    /// Writes bytes from the start of `bufs`, one buffer after the other, and returns their number.
    ///
    /// # Errors
    ///
    /// Returns the writer's error. Nothing was written then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, it has written nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncWriteExt;
    /// use std::io::IoSlice;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut output = Vec::new();
    /// let parts = [IoSlice::new(b"header "), IoSlice::new(b"body")];
    /// assert_eq!(output.write_vectored(&parts).await?, 11);
    /// assert_eq!(output, b"header body");
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn write_vectored<'a, 'b>(&'a mut self, bufs: &'a [IoSlice<'b>]) -> WriteVectored<'a, 'b, Self>
    where
        Self: Unpin,
    {
        WriteVectored::new(self, bufs)
    }

    /// Writes bytes from the start of `buf`, advances it by their number, and returns that.
    ///
    /// # Errors
    ///
    /// Returns the writer's error. Nothing was written then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, it has written nothing and not
    /// advanced `buf`.
    #[track_caller]
    fn write_buf<'a, B>(&'a mut self, buf: &'a mut B) -> WriteBuf<'a, Self, B>
    where
        Self: Unpin,
        B: Buf,
    {
        WriteBuf::new(self, buf)
    }

    /// Writes the whole of `buf`.
    ///
    /// Interrupted writes are retried.
    ///
    /// # Errors
    ///
    /// Returns `WriteZero` if the writer takes no more bytes; otherwise the writer's error. Part of
    /// `buf` may have been written.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if the future is dropped before completion, it may have written an unknown
    /// part of `buf`. Use [`write_all_buf`](Self::write_all_buf) to find out how much was written.
    #[track_caller]
    fn write_all<'a>(&'a mut self, buf: &'a [u8]) -> WriteAll<'a, Self>
    where
        Self: Unpin,
    {
        WriteAll::new(self, buf)
    }

    /// Writes the whole of `buf`, and advances it by the bytes that were written.
    ///
    /// Interrupted writes are retried.
    ///
    /// # Errors
    ///
    /// Returns `WriteZero` if the writer takes no more bytes; otherwise the writer's error. `buf`
    /// then contains the bytes that were not written.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, `buf` contains the bytes that were
    /// not written.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncWriteExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut output = Vec::new();
    /// let mut text = &b"text"[..];
    /// output.write_all_buf(&mut text).await?;
    /// assert_eq!((output.as_slice(), text), (&b"text"[..], &b""[..]));
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn write_all_buf<'a, B>(&'a mut self, buf: &'a mut B) -> WriteAllBuf<'a, Self, B>
    where
        Self: Unpin,
        B: Buf,
    {
        WriteAllBuf::new(self, buf)
    }

    number_writers! {
        write_u8: u8, to_be_bytes, "which is a single one";
        write_i8: i8, to_be_bytes, "which is a single one";
        write_u16: u16, to_be_bytes, "the highest first";
        write_i16: i16, to_be_bytes, "the highest first";
        write_u32: u32, to_be_bytes, "the highest first";
        write_i32: i32, to_be_bytes, "the highest first";
        write_u64: u64, to_be_bytes, "the highest first";
        write_i64: i64, to_be_bytes, "the highest first";
        write_u128: u128, to_be_bytes, "the highest first";
        write_i128: i128, to_be_bytes, "the highest first";
        write_f32: f32, to_be_bytes, "the highest first";
        write_f64: f64, to_be_bytes, "the highest first";
        write_u16_le: u16, to_le_bytes, "the lowest first";
        write_i16_le: i16, to_le_bytes, "the lowest first";
        write_u32_le: u32, to_le_bytes, "the lowest first";
        write_i32_le: i32, to_le_bytes, "the lowest first";
        write_u64_le: u64, to_le_bytes, "the lowest first";
        write_i64_le: i64, to_le_bytes, "the lowest first";
        write_u128_le: u128, to_le_bytes, "the lowest first";
        write_i128_le: i128, to_le_bytes, "the lowest first";
        write_f32_le: f32, to_le_bytes, "the lowest first";
        write_f64_le: f64, to_le_bytes, "the lowest first";
    }

    /// Writes buffered data to its destination.
    ///
    /// # Errors
    ///
    /// Returns the writer's error.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, a later flush continues it.
    #[track_caller]
    fn flush(&mut self) -> Flush<'_, Self>
    where
        Self: Unpin,
    {
        Flush::new(self)
    }

    /// Flushes, and ends the writing direction of the stream.
    ///
    /// # Errors
    ///
    /// Returns the writer's error.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, a later shutdown continues it.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncReadExt, AsyncWriteExt, duplex};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (mut near, mut far) = duplex(64);
    /// near.write_all(b"text").await?;
    /// // The other side sees the end of the stream.
    /// near.shutdown().await?;
    /// let mut text = String::new();
    /// far.read_to_string(&mut text).await?;
    /// assert_eq!(text, "text");
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn shutdown(&mut self) -> Shutdown<'_, Self>
    where
        Self: Unpin,
    {
        Shutdown::new(self)
    }
}

impl<W: AsyncWrite + ?Sized> AsyncWriteExt for W {}
