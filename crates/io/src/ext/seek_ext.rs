//! The methods of every stream with a position.

use std::io::SeekFrom;

use super::seek::Seek;
use crate::AsyncSeek;

/// Extension methods of [`AsyncSeek`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt};
/// use std::io::SeekFrom;
///
/// # fn main() {
/// /// The last four bytes.
/// async fn trailer(mut file: impl AsyncRead + AsyncSeek + Unpin) -> std::io::Result<u32> {
///     file.seek(SeekFrom::End(-4)).await?;
///     file.read_u32().await
/// }
/// # let _ = trailer(std::io::Cursor::new([0; 4]));
/// # }
/// ```
pub trait AsyncSeekExt: AsyncSeek {
    /// Moves to `position`, and returns the new position, in bytes from the start.
    ///
    /// First waits for an operation that is still under way.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` for a position before the start; otherwise the stream's error, also
    /// of an operation that was still under way.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if the future is dropped before completion, the position may have changed
    /// or not; a later seek waits for the dropped one. Bytes that were written before are not lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncReadExt, AsyncSeekExt};
    /// use std::io::{Cursor, SeekFrom};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = Cursor::new(b"header body");
    /// assert_eq!(input.seek(SeekFrom::End(-4)).await?, 7);
    /// let mut text = String::new();
    /// input.read_to_string(&mut text).await?;
    /// assert_eq!(text, "body");
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn seek(&mut self, position: SeekFrom) -> Seek<'_, Self>
    where
        Self: Unpin,
    {
        Seek::new(self, position)
    }

    /// Moves to the start: [`seek`](Self::seek) to zero.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`seek`](Self::seek).
    ///
    /// # Cancel safety
    ///
    /// The same as for [`seek`](Self::seek).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncReadExt, AsyncSeekExt};
    /// use std::io::Cursor;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = Cursor::new(b"text");
    /// assert_eq!(input.read_u8().await?, b't');
    /// input.rewind().await?;
    /// assert_eq!(input.read_u8().await?, b't');
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn rewind(&mut self) -> Seek<'_, Self>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Start(0))
    }

    /// Returns the position of the stream, in bytes from the start: [`seek`](Self::seek) by zero.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`seek`](Self::seek).
    ///
    /// # Cancel safety
    ///
    /// The same as for [`seek`](Self::seek), though it moves nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncReadExt, AsyncSeekExt};
    /// use std::io::Cursor;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = Cursor::new(b"text");
    /// input.read_u16().await?;
    /// assert_eq!(input.stream_position().await?, 2);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    fn stream_position(&mut self) -> Seek<'_, Self>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Current(0))
    }
}

impl<S: AsyncSeek + ?Sized> AsyncSeekExt for S {}
