//! The methods of every stream with a position.

use std::io::SeekFrom;

use super::seek::Seek;
use crate::AsyncSeek;

/// Extension methods of [`AsyncSeek`].
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
    #[track_caller]
    fn stream_position(&mut self) -> Seek<'_, Self>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Current(0))
    }
}

impl<S: AsyncSeek + ?Sized> AsyncSeekExt for S {}
