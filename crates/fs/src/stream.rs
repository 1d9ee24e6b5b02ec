//! A stream of bytes whose calls are jobs of the pool: an open file, or a standard stream.
//!
//! [`Stream`] is the value that a [`Serial`] passes to one job at a time. It has what one operation
//! leaves for the next.
//!
//! # Read-ahead
//!
//! A read whose future is dropped continues, and its bytes are kept for the next read. A job reads
//! at most what its caller asked for, so nothing else reads ahead. The bytes are between the
//! *position of the reader* and the position of the descriptor. An operation that depends on the
//! position first moves the descriptor back to the reader: see [`File`](crate::File). A source
//! without positions (a pipe, a terminal, an eventfd) cannot move back, and keeps the bytes.
//!
//! A request for the descriptor may come while a caller waits for a read, even before each poll of
//! it. Bytes that are given back are therefore kept until a poll has seen the end of their read.
//! That poll takes them if the descriptor is still where they begin, and moves it forward again.
//!
//! Bytes that are written are never in the same buffer as bytes that were read. Neither buffer
//! outlives its bytes: a stream at rest holds only bytes that were read ahead.
//!
//! # Errors of writes
//!
//! A write completes when its bytes are copied, and a job writes them. If it fails, then
//!
//! - the next operation that can return the error does so, once, and does nothing else, except that
//!   a sync is made in spite of the error;
//! - each later sync of the file returns a copy of the first such error, as long as the file is
//!   open: what was accepted is not on the disk, and no later operation can change that.
//!
//! # Results of reads and seeks
//!
//! They stay in the stream until a poll takes them. A dropped future may leave one behind, which
//! the next job that moves the position discards.

use std::fmt;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use raddle_io::ReadBuf;
use raddle_task::JoinHandle;
use raddle_task::blocking::{self, Submit};

use crate::buffer::Buffer;
use crate::offload::{self, Mode};
use crate::serial::{Resource, Serial, Take, Taken};

pub(crate) struct Stream<S> {
    pub(crate) source: S,
    /// Bytes that were read, and that no caller has received.
    pub(crate) ahead: Buffer,
    /// Bytes of a read whose end no poll has seen, and over which the descriptor was moved back to
    /// this position.
    given_back: Option<(u64, Buffer)>,
    /// The end or the error of a read, until a read returns it.
    read: Option<io::Result<()>>,
    /// The result of a seek, until `poll_complete` returns it.
    seek: Option<io::Result<u64>>,
    /// The first error of a write that no operation has returned.
    write_error: Option<io::Error>,
    /// A copy of the first error of a write.
    first_write_error: Option<io::Error>,
    /// Whether something was written since the last flush. Not used for files, which need none.
    need_flush: bool,
    /// The last job that was begun by polling.
    job: Job,
    /// Whether no poll has seen the end of that job.
    is_unsettled: bool,
}

/// What a job does with the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Job {
    Read,
    Write,
    Seek,
    /// Its result is returned by its join handle.
    Other,
}

impl<S> Stream<S> {
    fn new(source: S) -> Self {
        Self {
            source,
            ahead: Buffer::default(),
            given_back: None,
            read: None,
            seek: None,
            write_error: None,
            first_write_error: None,
            need_flush: false,
            job: Job::Other,
            is_unsettled: false,
        }
    }

    pub(crate) fn take_write_error(&mut self) -> io::Result<()> {
        self.write_error.take().map_or(Ok(()), Err)
    }

    pub(crate) fn has_write_error(&self) -> bool {
        self.write_error.is_some()
    }

    /// Returns a copy of the first error of a write, even if it was returned before.
    pub(crate) fn all_writes(&self) -> io::Result<()> {
        self.first_write_error
            .as_ref()
            .map_or(Ok(()), |error| Err(copy(error)))
    }

    /// Discards results that no longer describe the stream, because its position changes.
    pub(crate) fn discard_results(&mut self) {
        self.given_back = None;
        self.read = None;
        self.seek = None;
    }

    fn fail_write(&mut self, error: io::Error) {
        self.first_write_error.get_or_insert_with(|| copy(&error));
        self.write_error.get_or_insert(error);
    }
}

/// Copies an error, with the system's error code or with the kind and the text.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

impl<S: Position> Resource for Stream<S> {
    fn job_lost(&mut self) {
        let error = io::Error::other("the call was cancelled by a shutdown, or it panicked");
        match self.job {
            Job::Read => self.read = Some(Err(error)),
            Job::Write => self.fail_write(error),
            Job::Seek => self.seek = Some(Err(error)),
            Job::Other => {}
        }
    }

    fn give_back(&mut self) {
        // A caller that uses the descriptor by itself finds the position as it is.
        if let Ok(Some(bytes)) = S::move_back(self) {
            self.given_back = Some(bytes).filter(|_| self.is_unsettled);
        }
    }
}

/// The position of a stream in its source.
pub(crate) trait Position: Send + Sized + 'static {
    /// Moves the source back to the position of the reader, so that no bytes are ahead. Returns
    /// that position and the bytes. Does nothing for a source without positions.
    fn move_back(stream: &mut Stream<Self>) -> io::Result<Option<(u64, Buffer)>> {
        let _ = stream;
        Ok(None)
    }

    /// Moves the source forward by `len` bytes, if its position is `start`.
    fn move_forward(&mut self, start: u64, len: usize) -> bool {
        let _ = (start, len);
        false
    }
}

impl<S: Position> Stream<S> {
    pub(crate) fn move_back(&mut self) -> io::Result<()> {
        S::move_back(self).map(drop)
    }

    /// Takes bytes that were given back, if the source is still where they begin.
    fn take_given_back(&mut self) {
        if let Some((start, bytes)) = self.given_back.take() {
            if self.source.move_forward(start, bytes.len()) {
                self.ahead = bytes;
            }
        }
    }
}

/// The operations of a [`Stream`] that a stream of any kind has.
pub(crate) struct Pooled<S: Position> {
    serial: Serial<Stream<S>>,
    submit: Submit,
}

impl<S: Position> Pooled<S> {
    /// Makes a stream whose calls run on the pool of the current runtime.
    pub(crate) fn new(source: S) -> Self {
        Self::with_submit(source, blocking::submit)
    }

    /// Makes a stream whose calls run where `submit` submits them.
    pub(crate) fn with_submit(source: S, submit: Submit) -> Self {
        Self {
            serial: Serial::new(Stream::new(source)),
            submit,
        }
    }

    /// Returns another handle of the same stream.
    pub(crate) fn share(&self) -> Self {
        Self {
            serial: self.serial.share(),
            submit: self.submit,
        }
    }

    /// Takes the stream when no job uses it.
    pub(crate) fn take(&self) -> Take<Stream<S>> {
        self.serial.take()
    }

    /// Takes the stream if no job uses it.
    pub(crate) fn try_take(&self) -> Option<Taken<Stream<S>>> {
        self.serial.try_take()
    }

    /// Moves the source back over the bytes that were read ahead: now, or after the job that is
    /// under way.
    pub(crate) fn give_back(&self) {
        self.serial.give_back();
    }

    /// Begins a job whose result its join handle returns.
    pub(crate) fn begin<R: Send + 'static>(
        &self,
        mut stream: Taken<Stream<S>>,
        job: impl FnOnce(&mut Stream<S>) -> R + Send + 'static,
    ) -> io::Result<JoinHandle<io::Result<R>>> {
        stream.job = Job::Other;
        offload::begin(stream, Mode::Optional, self.submit, job).map_err(offload::refusal)
    }

    /// Begins a job whose result the next poll takes from the stream.
    fn begin_polled(
        &self,
        mut stream: Taken<Stream<S>>,
        kind: Job,
        job: impl FnOnce(&mut Stream<S>) + Send + 'static,
    ) -> io::Result<()> {
        let mode = match kind {
            Job::Read | Job::Other => Mode::Optional,
            Job::Write | Job::Seek => Mode::Mandatory,
        };
        stream.job = kind;
        let job = move |stream: &mut Stream<S>| {
            stream.discard_results();
            stream.is_unsettled = true;
            job(stream);
        };
        offload::begin_boxed(stream, mode, self.submit, job)
    }

    /// Takes the stream when no job uses it, and notes that a poll has seen the end of the last
    /// job.
    fn poll_settled(&mut self, cx: &mut Context<'_>) -> Poll<Taken<Stream<S>>> {
        let mut stream = ready!(self.serial.poll_take(cx));
        stream.is_unsettled = false;
        Poll::Ready(stream)
    }

    /// Reads at most `max` bytes with one call of `read`, unless bytes were read ahead.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        max: usize,
        read: fn(&mut S, usize) -> io::Result<Vec<u8>>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut stream = ready!(self.poll_settled(cx));
            stream.take_write_error()?;
            if buf.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            stream.take_given_back();
            if !stream.ahead.is_empty() {
                stream.ahead.move_to(buf);
                return Poll::Ready(Ok(()));
            }
            if let Some(result) = stream.read.take() {
                return Poll::Ready(result);
            }
            let max = max.min(buf.remaining());
            self.begin_polled(stream, Job::Read, move |stream| {
                match read(&mut stream.source, max) {
                    Ok(bytes) if bytes.is_empty() => stream.read = Some(Ok(())),
                    Ok(bytes) => stream.ahead = bytes.into(),
                    Err(error) => stream.read = Some(Err(error)),
                }
            })?;
        }
    }

    /// Accepts the first bytes of `sources`, at most `max`, and begins a job that calls `write`
    /// with them. If there are more, `cut` returns how many of the accepted bytes to keep.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        sources: &[IoSlice<'_>],
        max: usize,
        cut: fn(&[u8]) -> usize,
        write: fn(&mut S, &[u8]) -> io::Result<()>,
    ) -> Poll<io::Result<usize>> {
        let mut stream = ready!(self.poll_settled(cx));
        stream.take_write_error()?;
        let bytes = first_bytes(sources, max, cut);
        let n = bytes.len();
        if n > 0 {
            self.begin_polled(stream, Job::Write, move |stream| {
                stream.need_flush = true;
                let moved = stream.move_back();
                if let Err(error) = moved.and_then(|()| write(&mut stream.source, &bytes)) {
                    stream.fail_write(error);
                }
            })?;
        }
        Poll::Ready(Ok(n))
    }

    /// Waits for the accepted writes, and makes one call of `flush` if there is one.
    pub(crate) fn poll_flush(
        &mut self,
        cx: &mut Context<'_>,
        flush: Option<fn(&mut S) -> io::Result<()>>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut stream = ready!(self.poll_settled(cx));
            stream.take_write_error()?;
            let Some(flush) = flush.filter(|_| stream.need_flush) else {
                return Poll::Ready(Ok(()));
            };
            self.begin_polled(stream, Job::Write, move |stream| {
                stream.need_flush = false;
                if let Err(error) = flush(&mut stream.source) {
                    stream.fail_write(error);
                }
            })?;
        }
    }

    /// Begins a job that calls `seek`.
    pub(crate) fn start_seek(
        &mut self,
        seek: impl FnOnce(&mut Stream<S>) -> io::Result<u64> + Send + 'static,
    ) -> io::Result<()> {
        let stream = self.try_take().filter(|stream| !stream.is_unsettled);
        let Some(mut stream) = stream else {
            return Err(io::Error::other(
                "another call is under way; wait for poll_complete first",
            ));
        };
        stream.take_write_error()?;
        self.begin_polled(stream, Job::Seek, move |stream| {
            stream.seek = Some(seek(stream));
        })
    }

    /// Waits for the job that [`start_seek`](Self::start_seek) began. If there is none, calls
    /// `position`.
    pub(crate) fn poll_complete(
        &mut self,
        cx: &mut Context<'_>,
        position: fn(&mut Stream<S>) -> io::Result<u64>,
    ) -> Poll<io::Result<u64>> {
        let mut stream = ready!(self.poll_settled(cx));
        if let Some(result) = stream.seek.take() {
            return Poll::Ready(result);
        }
        stream.take_write_error()?;
        Poll::Ready(position(&mut stream))
    }
}

impl<S: Position> fmt::Debug for Pooled<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serial.fmt(f)
    }
}

/// Polls an operation, which takes from the budget when it completes.
pub(crate) fn budgeted<R>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
    let result = ready!(poll(cx));
    coop.made_progress();
    Poll::Ready(result)
}

/// Copies the first bytes of `sources`, at most `max`.
fn first_bytes(sources: &[IoSlice<'_>], max: usize, cut: fn(&[u8]) -> usize) -> Vec<u8> {
    let all = sources
        .iter()
        .fold(0_usize, |sum, source| sum.saturating_add(source.len()));
    let mut bytes = Vec::with_capacity(all.min(max));
    for source in sources {
        let n = source.len().min(max - bytes.len());
        bytes.extend_from_slice(&source[..n]);
    }
    if all > bytes.len() {
        bytes.truncate(cut(&bytes));
    }
    bytes
}
