//! The methods of every reader.

use bytes::BufMut;

use super::chain::Chain;
use super::read::Read;
use super::read_exact::ReadExact;
use super::read_int::{ReadInt, number_readers};
use super::read_into::ReadInto;
use super::read_to_end::ReadToEnd;
use super::read_to_string::ReadToString;
use super::take::Take;
use crate::AsyncRead;

/// Extension methods of [`AsyncRead`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncRead, AsyncReadExt};
///
/// /// A record is its length, in two bytes, and its content.
/// async fn record(mut stream: impl AsyncRead + Unpin) -> std::io::Result<Vec<u8>> {
///     let length = stream.read_u16().await?;
///     let mut content = vec![0; length.into()];
///     stream.read_exact(&mut content).await?;
///     Ok(content)
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// assert_eq!(record(&b"\x00\x04text"[..]).await?, b"text");
/// # Ok(())
/// # }) }
/// ```
pub trait AsyncReadExt: AsyncRead {
    /// Reads some bytes into `buf`, and returns their number.
    ///
    /// Zero means that the source has reached its end, or that `buf` is empty.
    ///
    /// # Errors
    ///
    /// Returns the reader's error. Nothing was read then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, it has read nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = &b"text"[..];
    /// let mut buffer = [0; 16];
    /// let length = input.read(&mut buffer).await?;
    /// assert_eq!(&buffer[..length], b"text");
    /// // The end.
    /// assert_eq!(input.read(&mut buffer).await?, 0);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn read<'a>(&'a mut self, buf: &'a mut [u8]) -> Read<'a, Self>
    where
        Self: Unpin,
    {
        Read::new(self, buf)
    }

    /// Reads some bytes into the remaining room of `buf`, and returns their number.
    ///
    /// They are appended, and `buf` is advanced. Zero means that the source has reached its end, or
    /// that `buf` has no room.
    ///
    /// # Errors
    ///
    /// Returns the reader's error. Nothing was read then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, it has read nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = &b"text"[..];
    /// let mut buffer = Vec::with_capacity(16);
    /// while input.read_buf(&mut buffer).await? > 0 {}
    /// assert_eq!(buffer, b"text");
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn read_buf<'a, B>(&'a mut self, buf: &'a mut B) -> ReadInto<'a, Self, B>
    where
        Self: Unpin,
        B: BufMut + ?Sized,
    {
        ReadInto::new(self, buf)
    }

    /// Reads until `buf` is full, and returns its length.
    ///
    /// Interrupted reads are retried.
    ///
    /// # Errors
    ///
    /// Returns `UnexpectedEof` if the source ends too early; otherwise the reader's error. The
    /// content of `buf` is then unspecified.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if the future is dropped before completion, it may have read an unknown
    /// number of the bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    /// use std::io::ErrorKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = &b"header body"[..];
    /// let mut header = [0; 6];
    /// input.read_exact(&mut header).await?;
    /// assert_eq!(&header, b"header");
    ///
    /// let error = input.read_exact(&mut [0; 16]).await.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn read_exact<'a>(&'a mut self, buf: &'a mut [u8]) -> ReadExact<'a, Self>
    where
        Self: Unpin,
    {
        ReadExact::new(self, buf)
    }

    /// Reads to the end, appending to `buf`, and returns the number of bytes.
    ///
    /// Interrupted reads are retried.
    ///
    /// # Errors
    ///
    /// Returns the reader's error. Bytes that were read before are in `buf`.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, the bytes that were read are in
    /// `buf`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut bytes = Vec::new();
    /// assert_eq!((&b"text"[..]).read_to_end(&mut bytes).await?, 4);
    /// assert_eq!(bytes, b"text");
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn read_to_end<'a>(&'a mut self, buf: &'a mut Vec<u8>) -> ReadToEnd<'a, Self>
    where
        Self: Unpin,
    {
        ReadToEnd::new(self, buf)
    }

    /// Reads to the end, appending the text to `buf`, and returns the number of bytes.
    ///
    /// Interrupted reads are retried.
    ///
    /// # Errors
    ///
    /// Returns `InvalidData` with a [`Utf8Error`](std::str::Utf8Error) if the bytes are not UTF-8.
    /// Otherwise the reader's error. In either case `buf` is as it was before.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if the future is dropped before completion, the bytes that were read are
    /// lost, and the content of `buf` is unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    /// use std::io::ErrorKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut text = String::new();
    /// (&b"text"[..]).read_to_string(&mut text).await?;
    /// assert_eq!(text, "text");
    ///
    /// let error = (&b"\xff"[..]).read_to_string(&mut text).await.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidData);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn read_to_string<'a>(&'a mut self, buf: &'a mut String) -> ReadToString<'a, Self>
    where
        Self: Unpin,
    {
        ReadToString::new(self, buf)
    }

    number_readers! {
        read_u8: u8, from_be_bytes, "which is a single one";
        read_i8: i8, from_be_bytes, "which is a single one";
        read_u16: u16, from_be_bytes, "the highest first";
        read_i16: i16, from_be_bytes, "the highest first";
        read_u32: u32, from_be_bytes, "the highest first";
        read_i32: i32, from_be_bytes, "the highest first";
        read_u64: u64, from_be_bytes, "the highest first";
        read_i64: i64, from_be_bytes, "the highest first";
        read_u128: u128, from_be_bytes, "the highest first";
        read_i128: i128, from_be_bytes, "the highest first";
        read_f32: f32, from_be_bytes, "the highest first";
        read_f64: f64, from_be_bytes, "the highest first";
        read_u16_le: u16, from_le_bytes, "the lowest first";
        read_i16_le: i16, from_le_bytes, "the lowest first";
        read_u32_le: u32, from_le_bytes, "the lowest first";
        read_i32_le: i32, from_le_bytes, "the lowest first";
        read_u64_le: u64, from_le_bytes, "the lowest first";
        read_i64_le: i64, from_le_bytes, "the lowest first";
        read_u128_le: u128, from_le_bytes, "the lowest first";
        read_i128_le: i128, from_le_bytes, "the lowest first";
        read_f32_le: f32, from_le_bytes, "the lowest first";
        read_f64_le: f64, from_le_bytes, "the lowest first";
    }

    /// Returns a reader of at most `limit` bytes of this reader.
    ///
    /// It keeps its state between reads, so its reads are as cancel safe as those of this reader.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut text = String::new();
    /// (&b"header body"[..]).take(6).read_to_string(&mut text).await?;
    /// assert_eq!(text, "header");
    /// # Ok(())
    /// # }) }
    /// ```
    fn take(self, limit: u64) -> Take<Self>
    where
        Self: Sized,
    {
        Take::new(self, limit)
    }

    /// Returns a reader of this reader's bytes, followed by those of `next`.
    ///
    /// It keeps its state between reads, so its reads are as cancel safe as those of both readers.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut text = String::new();
    /// (&b"one "[..]).chain(&b"two"[..]).read_to_string(&mut text).await?;
    /// assert_eq!(text, "one two");
    /// # Ok(())
    /// # }) }
    /// ```
    fn chain<R>(self, next: R) -> Chain<Self, R>
    where
        Self: Sized,
        R: AsyncRead,
    {
        Chain::new(self, next)
    }
}

impl<R: AsyncRead + ?Sized> AsyncReadExt for R {}
