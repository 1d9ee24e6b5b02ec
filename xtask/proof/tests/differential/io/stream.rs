//! A stream that follows a script and records every call.

use std::cell::RefCell;
use std::io::{self, ErrorKind, IoSlice, SeekFrom};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use raddle_proof::Choices;

use super::api::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use crate::compare::Step;
use crate::record::note;

/// The content of streams: lines, other delimiters, characters of several bytes, and bytes that are
/// not UTF-8.
const CONTENT: &[u8] = "one\ntwo\r\n,\u{e9}t\u{e9},\n\nfour,five\n\u{1f600}\n,".as_bytes();
const NO_TEXT: &[u8] = b"\xff\n\xc3,";
/// The largest number of bytes that a call moves.
const MAX_BYTES_PER_CALL: usize = 24;

/// The outcomes of the calls of one direction, one byte each. After the last one, reads return the
/// end of the stream and writes accept all bytes.
#[derive(Default)]
struct Script {
    calls: std::vec::IntoIter<u8>,
    waiting: Option<Waker>,
    without: Without,
    log: Option<Log>,
}

/// Outcomes that a script omits.
#[derive(Clone, Copy, Default)]
pub(crate) struct Without {
    pub(crate) errors: bool,
    pub(crate) waits: bool,
    /// A pending flush or shutdown.
    pub(crate) waits_at_rest: bool,
}

/// Where calls are recorded, if not in the line of the step.
pub(crate) type Log = Rc<RefCell<String>>;

enum Call {
    Pending,
    Error(ErrorKind),
    Moves(usize),
}

impl Script {
    fn next(&mut self) -> Option<Call> {
        let call = self.calls.next()?;
        Some(match call % 16 {
            0..=3 if !self.without.waits => Call::Pending,
            4 if call / 16 < 4 => Call::Error(ErrorKind::Interrupted),
            4 if call / 16 < 8 && !self.without.errors => Call::Error(ErrorKind::Other),
            5 if call / 16 < 6 && !self.without.errors => Call::Moves(0),
            _ => Call::Moves(usize::from(call / 16) * MAX_BYTES_PER_CALL / 16 + 1),
        })
    }

    /// Returns the outcome of a call that may move up to `most` bytes.
    fn moves(
        &mut self,
        cx: &mut Context<'_>,
        at_end: usize,
        most: usize,
    ) -> Poll<io::Result<usize>> {
        match self.next() {
            None => Poll::Ready(Ok(at_end)),
            Some(Call::Moves(count)) => Poll::Ready(Ok(count.min(most))),
            Some(Call::Error(kind)) => Poll::Ready(Err(kind.into())),
            Some(Call::Pending) => {
                self.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn note(&self, what: std::fmt::Arguments<'_>) {
        match &self.log {
            Some(log) => *log.borrow_mut() += &format!(" [{what}]"),
            None => note!("[{what}]"),
        }
    }
}

struct Inner {
    name: &'static str,
    reads: Script,
    writes: Script,
    /// Bytes that a read should have moved and had no room for: the next reads move them.
    owed: usize,
    /// Whether the room of each read is recorded, and the reads that move these bytes.
    rooms: bool,
    /// The number of bytes read.
    position: usize,
    written: Vec<u8>,
    vectored: bool,
    /// Whether it is always flushed: then flushes and completions of seeks are not recorded.
    at_rest: bool,
}

/// The stream. A program keeps a clone of it to wake the waiters.
#[derive(Clone)]
pub(crate) struct Stream(Rc<RefCell<Inner>>);

impl Stream {
    /// Makes a stream that uses part of a program as its script.
    pub(crate) fn new(name: &'static str, program: &[Step]) -> Self {
        let part = usize::from(name.as_bytes()[0]);
        let script = |part: usize| Script {
            calls: program
                .iter()
                .map(|step| step[part % step.len()])
                .collect::<Vec<_>>()
                .into_iter(),
            ..Script::default()
        };
        Self(Rc::new(RefCell::new(Inner {
            name,
            reads: script(part),
            writes: script(part + 1),
            owed: 0,
            rooms: false,
            position: 0,
            written: Vec::new(),
            vectored: false,
            at_rest: false,
        })))
    }

    /// Sets whether it accepts several slices at once.
    pub(crate) fn set_vectored(&self, vectored: bool) {
        self.0.borrow_mut().vectored = vectored;
    }

    /// Records the room of each read. Do not call it where the room depends on the library, like
    /// the growth of a vector.
    pub(crate) fn note_rooms(&self) {
        self.0.borrow_mut().rooms = true;
    }

    /// Sets whether the next flushes and completions are ready and not recorded.
    pub(crate) fn set_at_rest(&self, at_rest: bool) {
        self.0.borrow_mut().at_rest = at_rest;
    }

    /// Sets the outcomes that reads and writes omit.
    pub(crate) fn restrict(&self, reads: Without, writes: Without) {
        let inner = &mut *self.0.borrow_mut();
        inner.reads.without = reads;
        inner.writes.without = writes;
    }

    /// Records reads and writes separately.
    pub(crate) fn log_to(&self, reads: &Log, writes: &Log) {
        let inner = &mut *self.0.borrow_mut();
        inner.reads.log = Some(reads.clone());
        inner.writes.log = Some(writes.clone());
    }

    /// Returns all written bytes.
    pub(crate) fn written(&self) -> Vec<u8> {
        self.0.borrow().written.clone()
    }

    /// Wakes the last read and the last write that were pending.
    pub(crate) fn wake(&self) {
        let (reader, writer) = {
            let inner = &mut *self.0.borrow_mut();
            note!("wake {}", inner.name);
            (inner.reads.waiting.take(), inner.writes.waiting.take())
        };
        for waker in [reader, writer].into_iter().flatten() {
            waker.wake();
        }
    }

    fn write(&self, cx: &mut Context<'_>, what: &str, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let inner = &mut *self.0.borrow_mut();
        let polled = inner.writes.moves(cx, bytes.len(), bytes.len());
        if let Poll::Ready(Ok(count)) = polled {
            inner.written.extend(&bytes[..count]);
        }
        let shown = bytes.escape_ascii();
        let what = format_args!("{}.{what} {} {shown}: {polled:?}", inner.name, bytes.len());
        inner.writes.note(what);
        polled
    }

    fn unit(&self, cx: &mut Context<'_>, what: &str) -> Poll<io::Result<()>> {
        let inner = &mut *self.0.borrow_mut();
        if inner.at_rest {
            return Poll::Ready(Ok(()));
        }
        let without = &mut inner.writes.without;
        let waits = std::mem::replace(&mut without.waits, without.waits_at_rest);
        let moved = inner.writes.moves(cx, 0, 0);
        inner.writes.without.waits = waits;
        let polled = match moved {
            // An interrupted read or write is tried again, but not a flush.
            Poll::Ready(Err(_)) if inner.writes.without.errors => Poll::Ready(Ok(0)),
            other => other,
        };
        inner
            .writes
            .note(format_args!("{}.{what}: {polled:?}", inner.name));
        polled.map_ok(drop)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let inner = &mut *self.0.borrow_mut();
        let room = buf.remaining();
        let is_owed = inner.owed > 0;
        let polled = match is_owed {
            true => Poll::Ready(Ok(inner.owed)),
            false => inner.reads.moves(cx, 0, usize::MAX),
        };
        if inner.rooms {
            let what = format_args!("{}.read {room}: {polled:?}", inner.name);
            inner.reads.note(what);
        } else if !is_owed {
            let what = format_args!("{}.read: {polled:?}", inner.name);
            inner.reads.note(what);
        }
        polled.map_ok(|planned| {
            let count = planned.min(room);
            inner.owed = planned - count;
            for _ in 0..count {
                let at = inner.position % (CONTENT.len() * 5);
                let no_text = at >= CONTENT.len() * 4;
                let content = if no_text { NO_TEXT } else { CONTENT };
                buf.put_slice(&[content[at % content.len()]]);
                inner.position += 1;
            }
        })
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, "write", buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bytes: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
        self.write(cx, "write_vectored", &bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.borrow().vectored
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.unit(cx, "flush")
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.unit(cx, "shutdown")
    }
}

impl AsyncSeek for Stream {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        note!("[{}.start_seek {position:?}]", self.0.borrow().name);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let position = self.0.borrow().position as u64;
        self.unit(cx, "poll_complete").map_ok(|()| position)
    }
}

/// Returns a size that is often at the boundary of a buffer.
pub(crate) fn size(choices: &mut Choices<'_>) -> usize {
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 20, 40, 64, 100][choices.below(16)]
}

/// Replaces an error by its kind, because the libraries' texts differ.
pub(crate) fn in_kinds<T>(polled: Poll<io::Result<T>>) -> Poll<Result<T, ErrorKind>> {
    polled.map_err(|error| error.kind())
}

/// Like [`in_kinds`], for a future that may have been dropped.
pub(crate) fn kinds<T>(result: Option<io::Result<T>>) -> Option<Result<T, ErrorKind>> {
    result.map(|result| result.map_err(|error| error.kind()))
}
