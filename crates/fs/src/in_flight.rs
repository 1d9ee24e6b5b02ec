//! The one call that a file may have in flight.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};

use raddle_primitives::sync::{Mutex, MutexGuard, Rank};

use crate::buffer::Buffer;
use raddle_task::JoinHandle;

/// A file's buffer, or the call that owns it.
#[derive(Debug)]
pub(super) struct InFlight {
    state: State,
    /// The error of a write, until a write or flush returns it.
    pub(super) write_error: Option<io::Error>,
    /// The position that the last seek returned.
    pub(super) position: u64,
}

#[derive(Debug)]
enum State {
    Idle(Buffer),
    Busy(JoinHandle<Finished>),
}

/// The result of a call, and the buffer that it returns.
pub(super) type Finished = (Outcome, Buffer);

/// The result of a call.
#[derive(Debug)]
pub(super) enum Outcome {
    Read(io::Result<usize>),
    Write(io::Result<()>),
    Seek(io::Result<u64>),
    /// None: the call was cancelled, or it panicked.
    Lost(io::Error),
}

impl Outcome {
    fn into_result(self) -> io::Result<()> {
        match self {
            Outcome::Read(result) => result.map(drop),
            Outcome::Write(result) => result,
            Outcome::Seek(result) => result.map(drop),
            Outcome::Lost(error) => Err(error),
        }
    }
}

impl InFlight {
    fn new() -> Self {
        Self {
            state: State::Idle(Buffer::default()),
            write_error: None,
            position: 0,
        }
    }

    /// Returns the buffer, if no call owns it. It may hold bytes that were read ahead.
    pub(super) fn idle(&mut self) -> Option<&mut Buffer> {
        match &mut self.state {
            State::Idle(buffer) => Some(buffer),
            State::Busy(_) => None,
        }
    }

    /// Passes the buffer that [`idle`](Self::idle) returned to a call. A call that the pool refused
    /// has ended with an error.
    pub(super) fn begin(&mut self, call: Result<JoinHandle<Finished>, Finished>) -> io::Result<()> {
        let (state, result) = match call {
            Ok(call) => (State::Busy(call), Ok(())),
            Err((outcome, buffer)) => (State::Idle(buffer), outcome.into_result()),
        };
        self.state = state;
        result
    }

    /// Waits for the call in flight and returns its result, or `None` if there is none.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        let State::Busy(call) = &mut self.state else {
            return Poll::Ready(None);
        };
        let (outcome, buffer) = match ready!(Pin::new(call).poll(cx)) {
            Ok(finished) => finished,
            Err(error) => (Outcome::Lost(error.into()), Buffer::default()),
        };
        self.state = State::Idle(buffer);
        if let Outcome::Seek(Ok(position)) = outcome {
            self.position = position;
        }
        Poll::Ready(Some(outcome))
    }
}

/// The call in flight behind a lock, for the methods that take a file by reference. The lock is
/// never held during a call.
#[derive(Debug)]
pub(super) struct SharedCall {
    in_flight: Mutex<InFlight>,
    waiters: Arc<Waiters>,
}

impl SharedCall {
    pub(super) fn new() -> Self {
        Self {
            in_flight: Mutex::ranked(Rank::outer(1, "call in flight"), InFlight::new()),
            waiters: Arc::new(Waiters(Mutex::ranked(
                Rank::leaf("waiters of a call"),
                Vec::new(),
            ))),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock()
    }

    /// Waits for the call in flight and returns its result, or `None` if there is none.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        if self.lock().idle().is_some() {
            return raddle_coop::poll_consume_budget(cx).map(|()| None);
        }
        let coop = ready!(raddle_coop::poll_proceed(cx));
        // Do this before the lock, because a waker is user code, and before the check of the call,
        // so that its completion is not missed.
        self.waiters.add(cx.waker().clone());
        let waker = Waker::from(Arc::clone(&self.waiters));
        let mut cx = Context::from_waker(&waker);
        let outcome = ready!(raddle_coop::unlimited(|| self.lock().poll(&mut cx)));
        coop.made_progress();
        Poll::Ready(outcome)
    }

    /// Waits for the call in flight. The error of a write is kept for the next write or flush.
    pub(super) async fn settle(&self) {
        let outcome = poll_fn(|cx| self.poll(cx)).await;
        if let Some(Outcome::Write(Err(error)) | Outcome::Lost(error)) = outcome {
            self.lock().write_error = Some(error);
        }
    }
}

/// The wakers of all tasks that wait for the same call: methods that take a file by reference share
/// the call, which wakes only one waker.
#[derive(Debug)]
struct Waiters(Mutex<Vec<Waker>>);

impl Waiters {
    fn add(&self, waker: Waker) {
        let mut waiters = self.0.lock();
        if !waiters.iter().any(|other| other.will_wake(&waker)) {
            waiters.push(waker);
        }
    }
}

impl Wake for Waiters {
    fn wake(self: Arc<Self>) {
        let waiters = std::mem::take(&mut *self.0.lock());
        waiters.into_iter().for_each(Waker::wake);
    }
}
