//! A minimal executor, and a stream that follows a script.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use raddle_io::{AsyncRead, AsyncWrite, ReadBuf};
use raddle_primitives::thread;

/// Runs `future` to completion, each poll with a fresh budget.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    thread::block_on(|cx| raddle_leaf::coop::budget(|| future.as_mut().poll(cx)))
}

#[derive(Debug)]
enum Step {
    /// Return these bytes, in as many reads as needed.
    Give(Vec<u8>),
    /// Accept at most this many bytes in one write.
    Take(usize),
    /// Wake the task at once, and return `Pending`.
    Pending,
    Fail(ErrorKind),
}

/// A stream that follows a script, and then returns the end and accepts every write.
#[derive(Debug, Default)]
pub(crate) struct Script {
    reads: VecDeque<Step>,
    writes: VecDeque<Step>,
    pub(crate) vectored: bool,
    pub(crate) written: Vec<u8>,
    /// The length of each write.
    pub(crate) lengths: Vec<usize>,
    pub(crate) flushes: usize,
    pub(crate) shutdowns: usize,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn give(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.reads.push_back(Step::Give(bytes.as_ref().to_vec()));
        self
    }

    pub(crate) fn read_pending(mut self) -> Self {
        self.reads.push_back(Step::Pending);
        self
    }

    pub(crate) fn read_error(mut self, kind: ErrorKind) -> Self {
        self.reads.push_back(Step::Fail(kind));
        self
    }

    pub(crate) fn accept(mut self, n: usize) -> Self {
        self.writes.push_back(Step::Take(n));
        self
    }

    pub(crate) fn write_pending(mut self) -> Self {
        self.writes.push_back(Step::Pending);
        self
    }

    pub(crate) fn write_error(mut self, kind: ErrorKind) -> Self {
        self.writes.push_back(Step::Fail(kind));
        self
    }

    pub(crate) fn vectored(mut self) -> Self {
        self.vectored = true;
        self
    }
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.reads.pop_front() {
            None => Poll::Ready(Ok(())),
            Some(Step::Give(mut bytes)) => {
                let rest = bytes.split_off(bytes.len().min(buf.remaining()));
                buf.put_slice(&bytes);
                if !rest.is_empty() {
                    self.reads.push_front(Step::Give(rest));
                }
                Poll::Ready(Ok(()))
            }
            Some(Step::Fail(kind)) => Poll::Ready(Err(kind.into())),
            Some(Step::Pending) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Step::Take(_)) => unreachable!("only writes take"),
        }
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let n = match self.writes.pop_front() {
            None => buf.len(),
            Some(Step::Take(n)) => n.min(buf.len()),
            Some(Step::Fail(kind)) => return Poll::Ready(Err(kind.into())),
            Some(Step::Pending) => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Step::Give(_)) => unreachable!("only reads give"),
        };
        self.written.extend_from_slice(&buf[..n]);
        self.lengths.push(n);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushes += 1;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shutdowns += 1;
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.vectored {
            let gathered: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
            self.poll_write(cx, &gathered)
        } else {
            let first = bufs.iter().find(|buf| !buf.is_empty());
            self.poll_write(cx, first.map_or(&[], |buf| buf))
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }
}
