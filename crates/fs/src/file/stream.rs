//! A file as a reader, a writer and a stream with a position.

use std::io::{self, IoSlice, Seek, SeekFrom};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use raddle_io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::{File, backwards};
use crate::buffer::Buffer;
use crate::in_flight::Outcome;
use crate::offload;

// A call begins only through `&mut self`, and not under the lock. So no other call begins between
// the check of the buffer and this call.

impl AsyncRead for File {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let outcome = ready!(self.call.poll(cx));
            let mut in_flight = self.call.lock();
            let mut at_end = false;
            match outcome {
                Some(Outcome::Read(result)) => at_end = result? == 0,
                Some(Outcome::Write(Err(error))) => in_flight.write_error = Some(error),
                Some(Outcome::Lost(error)) => return Poll::Ready(Err(error)),
                _ => {}
            }
            let Some(buffer) = in_flight.idle() else {
                continue;
            };
            if !buffer.is_empty() || at_end || buf.remaining() == 0 {
                buffer.move_to(buf);
                return Poll::Ready(Ok(()));
            }
            let mut buffer = mem::take(buffer);
            drop(in_flight);
            let max = buf.remaining().min(self.max_buf_size);
            let std = Arc::clone(&self.std);
            let call = offload::spawn(move |taken| {
                let result = taken.and_then(|()| buffer.read_from(&mut &*std, max));
                (Outcome::Read(result), buffer)
            });
            self.call.lock().begin(call)?;
        }
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

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = ready!(self.call.poll(cx));
        let mut error = self.call.lock().write_error.take();
        if let Some(Outcome::Write(Err(now)) | Outcome::Lost(now)) = outcome {
            error.get_or_insert(now);
        }
        Poll::Ready(error.map_or(Ok(()), Err))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // As in a flush: the error of an earlier write.
        ready!(self.as_mut().poll_flush(cx))?;
        let mut ahead = match self.call.lock().idle() {
            Some(buffer) => mem::take(buffer),
            None => unreachable!("no call is in flight after a flush"),
        };
        // Bytes that were read ahead are discarded only if the call is made.
        let mut buffer = match ahead.is_empty() {
            true => mem::take(&mut ahead),
            false => Buffer::default(),
        };
        let n = buffer.copy_from(bufs, self.max_buf_size);
        let std = Arc::clone(&self.std);
        let call = offload::spawn_mandatory(move |taken| {
            if let Err(error) = taken {
                return (Outcome::Write(Err(error)), ahead);
            }
            let mut file = &*std;
            let sought = match ahead.discard() {
                0 => Ok(0),
                ahead => file.seek(backwards(ahead)),
            };
            let result = sought.and_then(|_| buffer.write_to(&mut file));
            (Outcome::Write(result), buffer)
        });
        self.call.lock().begin(call)?;
        Poll::Ready(Ok(n))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

/// Relative seeks start at the position of the next read, not at the end of the bytes that were
/// read ahead.
impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        let mut buffer = match self.call.lock().idle() {
            Some(buffer) => mem::take(buffer),
            None => {
                return Err(io::Error::other(
                    "another call is under way; wait for poll_complete first",
                ));
            }
        };
        let std = Arc::clone(&self.std);
        let call = offload::spawn_mandatory(move |taken| {
            if let Err(error) = taken {
                return (Outcome::Seek(Err(error)), buffer);
            }
            let ahead = buffer.discard();
            let position = match position {
                SeekFrom::Current(offset) => SeekFrom::Current(offset.saturating_sub(ahead as i64)),
                other => other,
            };
            (Outcome::Seek((&*std).seek(position)), buffer)
        });
        self.call.lock().begin(call)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let outcome = ready!(self.call.poll(cx));
        let mut in_flight = self.call.lock();
        match outcome {
            Some(Outcome::Seek(result)) => return Poll::Ready(result),
            Some(Outcome::Write(Err(error))) => in_flight.write_error = Some(error),
            Some(Outcome::Lost(error)) => return Poll::Ready(Err(error)),
            _ => {}
        }
        Poll::Ready(Ok(in_flight.position))
    }
}
