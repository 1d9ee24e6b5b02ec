//! A mio source together with its registration: what all sockets share.

mod stream;

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, ready};

use mio::event::Source;
use raddle_coop::poll_proceed;
use raddle_reactor::{Handle, Interest, Ready, Registration};
use socket2::SockRef;

/// A source that the reactor watches. Leaves the reactor when dropped.
pub(crate) struct Evented<E: Source> {
    /// `None` only once `into_inner` has taken it.
    source: Option<E>,
    registration: Registration,
}

impl<E: Source> Evented<E> {
    /// Has `handle`'s reactor watch `source` for reading and writing.
    pub(crate) fn new(source: E, handle: &Handle) -> io::Result<Self> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        // A read stops short at the mark of out-of-band data. Only the event of
        // that says that it was not for want of data.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let interest = interest | Interest::PRIORITY;
        Evented::with_interest(source, interest, handle)
    }

    /// As [`new`](Self::new), for `interest` only.
    pub(crate) fn with_interest(
        mut source: E,
        interest: Interest,
        handle: &Handle,
    ) -> io::Result<Self> {
        let registration = handle.register(&mut source, interest)?;
        Ok(Self {
            source: Some(source),
            registration,
        })
    }

    /// Has the first operations tried without waiting for an event: those that
    /// are likely to find the source `ready`.
    pub(crate) fn assuming(self, ready: Ready) -> Self {
        self.registration.assume_ready(ready);
        self
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

    pub(crate) fn poll_write_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut f: impl FnMut(&E) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        poll_budgeted(cx, |cx| self.registration.poll_write_io(cx, || f(self)))
    }

    pub(crate) async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&E) -> io::Result<R>,
    ) -> io::Result<R> {
        budgeted(self.registration.async_io(interest, || f(self))).await
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

/// Finds out, in debug builds and where the system tells, that a socket of the
/// user's would block a thread of the runtime.
#[track_caller]
pub(crate) fn debug_assert_nonblocking<S>(socket: &S)
where
    for<'a> SockRef<'a>: From<&'a S>,
{
    #[cfg(unix)]
    debug_assert!(
        SockRef::from(socket).nonblocking().unwrap_or(true),
        "the socket is in blocking mode; call set_nonblocking(true) before handing it over"
    );
    let _ = socket;
}

/// Polls an operation at the cost of one unit of the budget of this poll.
pub(crate) fn poll_budgeted<R>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
) -> Poll<R> {
    let unit = ready!(poll_proceed(cx));
    let result = ready!(poll(cx));
    unit.made_progress();
    Poll::Ready(result)
}

/// Polls each time at the cost of one unit, which pending gives back.
pub(crate) async fn budgeted<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| poll_budgeted(cx, |cx| future.as_mut().poll(cx))).await
}
