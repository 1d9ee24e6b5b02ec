//! A file as a reader, a writer and a stream with a position.

use std::fs;
use std::io::{self, ErrorKind, IoSlice, IsTerminal, Seek, SeekFrom, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use raddle_io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::File;
#[cfg(not(unix))]
use crate::buffer;
#[cfg(unix)]
use crate::buffer::uninterrupted;
use crate::stream::{Position, Stream, budgeted};

impl Position for Arc<fs::File> {
    fn move_back(stream: &mut Stream<Self>) -> io::Result<()> {
        // Some systems let a terminal seek, which has no effect.
        if stream.ahead.is_empty() || stream.source.is_terminal() {
            return Ok(());
        }
        // A buffer is no larger than isize::MAX.
        let back = SeekFrom::Current(-(stream.ahead.len() as i64));
        match (&*stream.source).seek(back) {
            Ok(_) => stream.ahead.clear(),
            // The bytes of a pipe cannot be read again.
            Err(error) if error.kind() == ErrorKind::NotSeekable => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl Stream<Arc<fs::File>> {
    /// Seeks relative to the position of the reader. If that fails, the position and the bytes that
    /// were read ahead stay.
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let position = match position {
            SeekFrom::Current(offset) => match offset.checked_sub(self.ahead.len() as i64) {
                Some(offset) => SeekFrom::Current(offset),
                None => {
                    self.move_back()?;
                    position
                }
            },
            other => other,
        };
        let position = (&*self.source).seek(position)?;
        self.ahead.clear();
        Ok(position)
    }

    /// Returns the position of the reader. The call does not block: the system has the number.
    fn position(&mut self) -> io::Result<u64> {
        let position = (&*self.source).stream_position()?;
        Ok(position.saturating_sub(self.ahead.len() as u64))
    }
}

/// Reads at most `max` bytes, into memory that is not set before.
#[cfg(unix)]
fn read(file: &mut Arc<fs::File>, max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(max);
    uninterrupted(|| {
        let spare = rustix::buffer::spare_capacity(&mut bytes);
        Ok(rustix::io::read(&**file, spare)?)
    })?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn read(file: &mut Arc<fs::File>, max: usize) -> io::Result<Vec<u8>> {
    buffer::read(&mut &**file, max)
}

impl AsyncRead for File {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let max = self.max_buf_size;
        budgeted(cx, |cx| self.stream.poll_read(cx, buf, max, read))
    }
}

impl AsyncWrite for File {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The system has the bytes once they are written.
        budgeted(cx, |cx| self.stream.poll_flush(cx, None))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let max = self.max_buf_size;
        budgeted(cx, |cx| {
            self.stream
                .poll_write(cx, bufs, max, <[u8]>::len, |file, bytes| {
                    (&**file).write_all(bytes)
                })
        })
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

/// Relative seeks start at the position of the next read, not at the end of the bytes that were
/// read ahead.
impl AsyncSeek for File {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.stream.start_seek(move |stream| stream.seek(position))
    }

    /// Without a seek that was started, returns the current position.
    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        budgeted(cx, |cx| self.stream.poll_complete(cx, Stream::position))
    }
}
