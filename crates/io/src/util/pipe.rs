//! One direction of a pipe in memory.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::task::{Context, Poll, Waker, ready};

use raddle_leaf::wait::Resource;
use raddle_primitives::sync::{Mutex, Rank};

use crate::ReadBuf;

/// A bounded queue of bytes with one reader and one writer.
///
/// Wakers are cloned, dropped and woken without the lock.
pub(super) struct Pipe {
    state: Mutex<State>,
    /// The maximum number of bytes in the pipe.
    capacity: usize,
}

struct State {
    bytes: VecDeque<u8>,
    /// Set by either side: no further bytes can be written; the remaining ones can be read.
    closed: bool,
    /// Waits for bytes, or for the end.
    reader: Option<Waker>,
    /// Waits for room, or for the end.
    writer: Option<Waker>,
}

impl Pipe {
    #[track_caller]
    pub(super) fn new(capacity: usize) -> Self {
        // Without capacity a write would wait forever.
        assert!(capacity > 0, "`max_buf_size` must be greater than 0");
        Self {
            state: Mutex::ranked(
                Rank::leaf("pipe"),
                State {
                    bytes: VecDeque::new(),
                    closed: false,
                    reader: None,
                    writer: None,
                },
            ),
            capacity,
        }
    }

    /// Reads the available bytes; at the end, none.
    pub(super) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll(
            cx,
            |state| state.read(buf),
            |state| &mut state.reader,
            |state| &mut state.writer,
        )
    }

    /// Writes as many bytes of `bufs` as there is room for.
    pub(super) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll(
            cx,
            |state| state.write(bufs, self.capacity),
            |state| &mut state.writer,
            |state| &mut state.reader,
        )
    }

    /// Closes the pipe from the writer's side, and wakes the reader.
    ///
    /// A write that waits in another task keeps its waker: as for any write without room, the next
    /// read or the end of the reader wakes it, and it then fails.
    pub(super) fn shut_down(&self) {
        self.close(|state| (state.reader.take(), None));
    }

    /// Closes the pipe when its writer is dropped, and wakes the reader.
    pub(super) fn drop_writer(&self) {
        self.close(|state| (state.reader.take(), state.writer.take()));
    }

    /// Closes the pipe when its reader is dropped, and wakes the writer.
    pub(super) fn drop_reader(&self) {
        self.close(|state| (state.writer.take(), state.reader.take()));
    }

    /// Closes the pipe. Wakes the first of the wakers that `take` returns, and drops the second.
    fn close(&self, take: impl FnOnce(&mut State) -> (Option<Waker>, Option<Waker>)) {
        let (peer, _unused) = {
            let mut state = self.state.lock();
            state.closed = true;
            take(&mut state)
        };
        if let Some(peer) = peer {
            peer.wake();
        }
    }

    /// Tries `operation`; wakes the peer if it moved bytes, and waits in `own_waker` if it is not
    /// ready.
    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&mut State) -> Poll<io::Result<T>>,
        own_waker: impl Fn(&mut State) -> &mut Option<Waker>,
        peer_waker: impl Fn(&mut State) -> &mut Option<Waker>,
    ) -> Poll<io::Result<T>> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        let mut waker = None;
        loop {
            let mut state = self.state.lock();
            let before = state.bytes.len();
            if let Poll::Ready(result) = operation(&mut state) {
                // An operation that moves no byte, such as an empty read, does not wake the peer.
                let peer = match state.bytes.len() == before {
                    true => None,
                    false => peer_waker(&mut state).take(),
                };
                drop(state);
                coop.made_progress();
                if let Some(peer) = peer {
                    peer.wake();
                }
                return Poll::Ready(result);
            }
            let place = own_waker(&mut state);
            if place.as_ref().is_some_and(|it| it.will_wake(cx.waker())) {
                raddle_leaf::wait::note(cx, "pipe", None, Resource::Unknown);
                return Poll::Pending;
            }
            if waker.is_some() {
                let former = std::mem::replace(place, waker);
                drop(state);
                drop(former);
                raddle_leaf::wait::note(cx, "pipe", None, Resource::Unknown);
                return Poll::Pending;
            }
            // The waker is cloned without the lock, and the pipe may have changed in between, so
            // the loop tries once more.
            drop(state);
            waker = Some(cx.waker().clone());
        }
    }
}

impl State {
    fn read(&mut self, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let n = self.bytes.len().min(buf.remaining());
        if n == 0 && !self.closed && buf.remaining() > 0 {
            return Poll::Pending;
        }
        let (front, back) = self.bytes.as_slices();
        let from_front = n.min(front.len());
        buf.put_slice(&front[..from_front]);
        buf.put_slice(&back[..n - from_front]);
        self.bytes.drain(..n);
        Poll::Ready(Ok(()))
    }

    fn write(&mut self, bufs: &[IoSlice<'_>], capacity: usize) -> Poll<io::Result<usize>> {
        if self.closed {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        let before = self.bytes.len();
        for buf in bufs {
            let room = capacity - self.bytes.len();
            self.bytes.extend(&buf[..buf.len().min(room)]);
        }
        let written = self.bytes.len() - before;
        if written == 0 && bufs.iter().any(|buf| !buf.is_empty()) {
            return Poll::Pending;
        }
        Poll::Ready(Ok(written))
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (buffered, closed) = {
            let state = self.state.lock();
            (state.bytes.len(), state.closed)
        };
        f.debug_struct("Pipe")
            .field("buffered", &buffered)
            .field("capacity", &self.capacity)
            .field("closed", &closed)
            .finish()
    }
}

/// Writes the methods of `AsyncWrite` for a type that writes to a [`Pipe`], its field `$pipe`.
macro_rules! write_to_pipe {
    ($pipe:ident) => {
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            buf: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            self.$pipe.poll_write(cx, &[std::io::IoSlice::new(buf)])
        }

        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
        }

        fn poll_shutdown(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.$pipe.shut_down();
            raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
        }

        fn poll_write_vectored(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            bufs: &[std::io::IoSlice<'_>],
        ) -> std::task::Poll<std::io::Result<usize>> {
            self.$pipe.poll_write(cx, bufs)
        }

        fn is_write_vectored(&self) -> bool {
            true
        }
    };
}

pub(super) use write_to_pipe;
