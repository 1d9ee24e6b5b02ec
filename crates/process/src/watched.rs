//! A source of events together with its registration.

use std::io;
use std::task::{Context, Poll, ready};

use mio::event::Source;
use raddle_reactor::{Handle, Interest, Registration};

/// A source that the reactor watches. Leaves the reactor when dropped.
#[derive(Debug)]
pub(crate) struct Watched<S: Source> {
    /// `None` only once `into_inner` has taken it.
    source: Option<S>,
    registration: Registration,
}

impl<S: Source> Watched<S> {
    /// Has the current reactor watch `source`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub(crate) fn new(mut source: S, interest: Interest) -> io::Result<Self> {
        let registration = Handle::current().register(&mut source, interest)?;
        Ok(Self {
            source: Some(source),
            registration,
        })
    }

    pub(crate) fn get(&self) -> &S {
        match &self.source {
            Some(source) => source,
            None => unreachable!("only `into_inner` takes the source, and it consumes self"),
        }
    }

    /// The reactor that watches it.
    pub(crate) fn reactor(&self) -> &Handle {
        self.registration.handle()
    }

    /// Leaves the reactor and gives the source back.
    #[cfg(feature = "process")]
    pub(crate) fn into_inner(mut self) -> io::Result<S> {
        let Some(mut source) = self.source.take() else {
            unreachable!("only this takes the source, and it consumes self");
        };
        self.registration.deregister(&mut source)?;
        Ok(source)
    }

    /// Reads by `read`, once it would not block, at the cost of one unit of the
    /// budget of this poll.
    pub(crate) fn poll_read_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut read: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let unit = ready!(raddle_coop::poll_proceed(cx));
        let result = ready!(self.registration.poll_read_io(cx, || read(self.get())));
        unit.made_progress();
        Poll::Ready(result)
    }

    /// As [`poll_read_io`](Self::poll_read_io), for writing.
    #[cfg(feature = "process")]
    pub(crate) fn poll_write_io<R>(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let unit = ready!(raddle_coop::poll_proceed(cx));
        let result = ready!(self.registration.poll_write_io(cx, || write(self.get())));
        unit.made_progress();
        Poll::Ready(result)
    }
}

impl<S: Source> Drop for Watched<S> {
    fn drop(&mut self) {
        if let Some(source) = &mut self.source {
            // Closing alone would leave a duplicated descriptor's interest in
            // the selector. A refusal changes nothing.
            let _ = self.registration.deregister(source);
        }
    }
}
