//! A mio source together with its registration.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice, Write};
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use mio::event::Source;
use raddle_coop::poll_proceed;
use raddle_io::ReadBuf;
use raddle_reactor::{Handle, Interest, Ready, Registration};

use crate::receive::Receive;

/// Whether moving fewer bytes than asked for proves a stream socket drained or
/// full, so that another attempt need not be made before the next event. Known
/// of epoll; elsewhere the attempt is made.
const SHORT_IS_DRY: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// The operating system moves no more than this at a time, however much it is
/// asked for.
const MOST_BYTES: usize = 0x7fff_f000;
const MOST_SLICES: usize = 1024;

/// A source that the reactor watches. Leaves the reactor when dropped.
pub(crate) struct Evented<E: Source> {
    /// `None` only once `into_inner` has taken it.
    source: Option<E>,
    registration: Registration,
}

impl<E: Source> Evented<E> {
    /// Has `handle`'s reactor watch `source` for reading and writing.
    pub(crate) fn new(mut source: E, handle: &Handle) -> io::Result<Self> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        // A read stops short at the mark of out-of-band data. Only the event of
        // that says that it was not for want of data.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let interest = interest | Interest::PRIORITY;
        let registration = handle.register(&mut source, interest)?;
        Ok(Self {
            source: Some(source),
            registration,
        })
    }

    /// The reactor that watches it.
    pub(crate) fn handle(&self) -> &Handle {
        self.registration.handle()
    }

    /// Leaves the reactor and gives the source back.
    pub(crate) fn into_inner(mut self) -> io::Result<E> {
        let Some(mut source) = self.source.take() else {
            unreachable!("only this takes the source, and it consumes self");
        };
        self.registration.deregister(&mut source)?;
        Ok(source)
    }

    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        let event = budgeted(self.registration.ready(interest)).await?;
        Ok(event.ready())
    }

    pub(crate) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_budgeted(cx, |cx| {
            self.registration.poll_read_ready(cx).map_ok(|_| ())
        })
    }

    pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_budgeted(cx, |cx| {
            self.registration.poll_write_ready(cx).map_ok(|_| ())
        })
    }

    pub(crate) fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce(&E) -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration.try_io(interest, || f(self))
    }

    pub(crate) fn poll_read_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut(&E) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        poll_budgeted(cx, |cx| self.registration.poll_read_io(cx, || f(self)))
    }

    pub(crate) async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&E) -> io::Result<R>,
    ) -> io::Result<R> {
        budgeted(self.registration.async_io(interest, || f(self))).await
    }

    /// Reads from a stream socket into the unfilled part of `buf`.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>>
    where
        E: Receive,
    {
        let asked = buf.remaining();
        poll_budgeted(cx, |cx| {
            loop {
                let event = ready!(self.registration.poll_read_ready(cx))?;
                let result = self.receive(buf);
                if would_block(&result) {
                    let _ = self.registration.clear_readiness(event);
                    continue;
                }
                if let Ok(moved) = result
                    && is_short(moved, asked)
                {
                    let _ = self.registration.clear_drained(event);
                }
                return Poll::Ready(result.map(drop));
            }
        })
    }

    /// Writes `buf` to a stream socket.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>
    where
        for<'a> &'a E: Write,
    {
        self.poll_send(cx, buf.len(), |mut stream| stream.write(buf))
    }

    /// Writes `bufs`, or the first of them if they are very many, to a stream
    /// socket in one go.
    pub(crate) fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>>
    where
        for<'a> &'a E: Write,
    {
        let bufs = &bufs[..bufs.len().min(MOST_SLICES)];
        let asked = bufs.iter().map(|buf| buf.len()).sum();
        self.poll_send(cx, asked, |mut stream| stream.write_vectored(bufs))
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        asked: usize,
        mut send: impl FnMut(&E) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        poll_budgeted(cx, |cx| {
            loop {
                let event = ready!(self.registration.poll_write_ready(cx))?;
                let result = send(self);
                if would_block(&result) {
                    let _ = self.registration.clear_readiness(event);
                    continue;
                }
                if let Ok(moved) = result
                    && is_short(moved, asked)
                {
                    let _ = self.registration.clear_drained(event);
                }
                return Poll::Ready(result);
            }
        })
    }
}

impl<E: Source> Deref for Evented<E> {
    type Target = E;

    #[inline]
    fn deref(&self) -> &E {
        match &self.source {
            Some(source) => source,
            None => unreachable!("only `into_inner` takes the source, and it consumes self"),
        }
    }
}

impl<E: Source> Drop for Evented<E> {
    fn drop(&mut self) {
        if let Some(source) = &mut self.source {
            // Closing alone would leave a duplicated descriptor's interest in
            // the selector. A refusal changes nothing for anybody.
            let _ = self.registration.deregister(source);
        }
    }
}

impl<E: Source + fmt::Debug> fmt::Debug for Evented<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

fn would_block<R>(result: &io::Result<R>) -> bool {
    matches!(result, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

/// Whether `moved` of `asked` bytes prove the socket drained or full. None at
/// all says something else: the end of the stream.
fn is_short(moved: usize, asked: usize) -> bool {
    SHORT_IS_DRY && 0 < moved && moved < asked.min(MOST_BYTES)
}

/// Polls an operation at the cost of one unit of the budget of this poll.
fn poll_budgeted<R>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    let unit = ready!(poll_proceed(cx));
    let result = ready!(poll(cx));
    unit.made_progress();
    Poll::Ready(result)
}

async fn budgeted<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| poll_budgeted(cx, |cx| future.as_mut().poll(cx))).await
}
