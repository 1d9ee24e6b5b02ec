//! A reader or writer of std, which is called on the pool.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::buffer::{Buffer, DEFAULT_MAX_BUF_SIZE};
use crate::offload;
use raddle_task::JoinHandle;

/// Makes one call at a time on the pool, in the order of the requests.
///
/// A write completes when its bytes are copied; it is made in the background, and the next write or
/// flush returns its error. A dropped read continues, and the next read returns its bytes. A call
/// for which there is no thread fails at once, and the next call tries again.
pub(super) struct Blocking<T> {
    state: State<T>,
    /// Whether something was written since the last flush.
    need_flush: bool,
}

enum State<T> {
    Idle(Box<Parts<T>>),
    Busy(JoinHandle<Finished<T>>),
    /// A call was cancelled or panicked, and the stream was lost with it.
    Lost,
}

/// The result of a call, and the parts that it returns.
type Finished<T> = (io::Result<()>, Box<Parts<T>>);

/// The parts that move to the pool and back.
struct Parts<T> {
    stream: T,
    buffer: Buffer,
    /// Whether the last read reached the end.
    at_end: bool,
}

impl<T> Blocking<T> {
    pub(super) fn new(stream: T) -> Self {
        let parts = Parts {
            stream,
            buffer: Buffer::default(),
            at_end: false,
        };
        Self {
            state: State::Idle(Box::new(parts)),
            need_flush: false,
        }
    }

    /// Waits for the call in flight, and returns its error.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let State::Busy(call) = &mut self.state else {
            return raddle_coop::poll_consume_budget(cx).map(Ok);
        };
        let (state, result) = match ready!(Pin::new(call).poll(cx)) {
            Ok((result, parts)) => (State::Idle(parts), result),
            Err(error) => (State::Lost, Err(error.into())),
        };
        self.state = state;
        Poll::Ready(result)
    }

    /// Waits for the call from now on. A call that the pool refused has ended with an error.
    fn begin(&mut self, call: Result<JoinHandle<Finished<T>>, Finished<T>>) -> io::Result<()> {
        let (state, result) = match call {
            Ok(call) => (State::Busy(call), Ok(())),
            Err((result, parts)) => (State::Idle(parts), result),
        };
        self.state = state;
        result
    }

    /// The parts of the stream between two calls.
    fn parts(&mut self) -> io::Result<&mut Box<Parts<T>>> {
        match &mut self.state {
            State::Idle(parts) => Ok(parts),
            _ => Err(io::Error::other(
                "an earlier call did not complete; create another handle of the stream",
            )),
        }
    }

    fn take_parts(&mut self) -> io::Result<Box<Parts<T>>> {
        self.parts()?;
        match std::mem::replace(&mut self.state, State::Lost) {
            State::Idle(parts) => Ok(parts),
            _ => unreachable!("parts() has left the state idle"),
        }
    }
}

impl<T: Read + Send + Unpin + 'static> AsyncRead for Blocking<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_idle(cx))?;
            let parts = self.parts()?;
            let at_end = std::mem::take(&mut parts.at_end);
            if !parts.buffer.is_empty() || at_end || buf.remaining() == 0 {
                parts.buffer.move_to(buf);
                return Poll::Ready(Ok(()));
            }
            let max = buf.remaining().min(DEFAULT_MAX_BUF_SIZE);
            let mut parts = self.take_parts()?;
            self.begin(offload::spawn(move |taken| {
                let result = taken.and_then(|()| parts.buffer.read_from(&mut parts.stream, max));
                parts.at_end = matches!(result, Ok(0));
                (result.map(drop), parts)
            }))?;
        }
    }
}

impl<T: Write + Send + Unpin + 'static> AsyncWrite for Blocking<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_idle(cx))?;
            if !self.need_flush {
                return Poll::Ready(Ok(()));
            }
            let mut parts = self.take_parts()?;
            self.begin(offload::spawn_mandatory(move |taken| {
                (taken.and_then(|()| parts.stream.flush()), parts)
            }))?;
            self.need_flush = false;
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_idle(cx))?;
        let mut parts = self.take_parts()?;
        let mut n = parts.buffer.copy_from(bufs, DEFAULT_MAX_BUF_SIZE);
        if n == DEFAULT_MAX_BUF_SIZE {
            // A Windows console accepts only UTF-8, and another writer may write before the rest.
            n = parts.buffer.end_at_character();
        }
        self.begin(offload::spawn_mandatory(move |taken| {
            let result = taken.and_then(|()| parts.buffer.write_to(&mut parts.stream));
            // Without a thread nothing is written, and the caller still has the bytes.
            parts.buffer.discard();
            (result, parts)
        }))?;
        self.need_flush = true;
        Poll::Ready(Ok(n))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

impl<T> fmt::Debug for Blocking<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Idle(_) => "idle",
            State::Busy(_) => "busy",
            State::Lost => "lost",
        };
        f.debug_struct("Blocking")
            .field("state", &state)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
