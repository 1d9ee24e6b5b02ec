//! A file as a reader, a writer and a stream with a position.

use std::fs;
use std::io::{self, ErrorKind, IoSlice, IsTerminal, Seek, SeekFrom, Write};
use std::mem;
#[cfg(unix)]
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use raddle_io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::File;
use crate::buffer::Buffer;
#[cfg(unix)]
use crate::buffer::uninterrupted;
use crate::stream::{Position, Stream, budgeted};

impl Position for Arc<fs::File> {
    fn move_back(stream: &mut Stream<Self>) -> io::Result<Option<(u64, Buffer)>> {
        let mut file = &*stream.source;
        // Some systems count the bytes of a terminal, and let it seek, which has no effect.
        if stream.ahead.is_empty() || file.is_terminal() {
            return Ok(None);
        }
        let end = match file.stream_position() {
            // The bytes of a pipe cannot be read again.
            Err(error) if error.kind() == ErrorKind::NotSeekable => return Ok(None),
            end => end?,
        };
        match end.checked_sub(stream.ahead.len() as u64) {
            Some(start) => {
                let is_moved = file.seek(SeekFrom::Start(start))? == start;
                Ok(is_moved.then(|| (start, mem::take(&mut stream.ahead))))
            }
            // Another handle has moved the file, and the bytes are not just before the position of
            // the descriptor.
            None if file.metadata().is_ok_and(|metadata| metadata.is_file()) => {
                stream.ahead.clear();
                Ok(None)
            }
            // The position does not advance with reads, as for an eventfd: a seek has no effect.
            None => Ok(None),
        }
    }

    fn move_forward(&mut self, start: u64, len: usize) -> bool {
        let mut file = &**self;
        let end = start + len as u64;
        file.stream_position().is_ok_and(|at| at == start)
            && file.seek(SeekFrom::Start(end)).is_ok_and(|at| at == end)
    }
}

impl Stream<Arc<fs::File>> {
    /// Seeks relative to the position of the reader, which does not change if that fails.
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.move_back()?;
        (&*self.source).seek(position)
    }

    /// Returns the position of the reader. The call does not block: the system has the number.
    fn position(&mut self) -> io::Result<u64> {
        let position = (&*self.source).stream_position()?;
        Ok(position.saturating_sub(self.ahead.len() as u64))
    }
}

/// Reads at most `max` bytes, into uninitialised memory.
#[cfg(unix)]
#[allow(unsafe_code, reason = "std reads into initialised memory only")]
fn read(file: &mut Arc<fs::File>, max: usize) -> io::Result<Vec<u8>> {
    // Some systems refuse a read of more.
    let max = max.min(i32::MAX as usize);
    let mut bytes = Vec::<u8>::with_capacity(max);
    let n = uninterrupted(|| {
        // SAFETY: the vector owns room for `max` bytes, and the file is open.
        let n = unsafe { libc::read(file.as_raw_fd(), bytes.as_mut_ptr().cast(), max) };
        usize::try_from(n).map_err(|_| io::Error::last_os_error())
    })?;
    // SAFETY: the system has written the first `n` bytes of the room.
    unsafe { bytes.set_len(n) };
    Ok(bytes)
}

#[cfg(not(unix))]
fn read(file: &mut Arc<fs::File>, max: usize) -> io::Result<Vec<u8>> {
    crate::buffer::read(&mut &**file, max)
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
