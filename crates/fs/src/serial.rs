//! A value that one job of the blocking pool uses at a time.
//!
//! Calls on an open file, on a standard stream and on a directory that is read block, so each call
//! is a job of the pool, and one must end before the next begins. This module enforces that for all
//! three. What the value is (a [`Stream`](crate::stream::Stream) with its bytes, or the chunk of a
//! directory) does not matter here.
//!
//! # States
//!
//! ```text
//!                 poll_take, try_take
//!            +--------------------------+
//!            |                          v
//!          idle                        away: with the code of an operation, or with a job
//!            ^                          |
//!            +--------------------------+
//!              drop of Taken: by the operation, or by the job that
//!              completed, panicked or was cancelled by a shutdown
//! ```
//!
//! - *Idle*: the value is in the place. Nothing uses it.
//! - *Away*: exactly one [`Taken`] has the value. An operation that wants it registers its waker
//!   and waits.
//!
//! # Rules
//!
//! 1. A job owns the [`Taken`]. The next operation therefore waits for the job whether or not the
//!    future that began it still exists, and needs no handle of the job.
//! 2. The value always comes back: `Taken` returns it when it is dropped, and a job that panics, or
//!    that a shutdown cancels, drops it too. The value then [records](Resource::job_lost) that the
//!    job did not complete. There is no state "lost".
//! 3. The result of a job that an operation waits for by polling is in the value. A result of
//!    another type, such as metadata, comes through the join handle of the job, which completes
//!    after the value is back.
//! 4. The lock of the place is held for a move of a pointer, never during a call, and no user code
//!    runs under it: a waker is cloned, woken and dropped outside.
//! 5. A return stores the value and takes wakers in one critical section, and a waiter checks for
//!    the value in the critical section in which it registers. Therefore either the waiter finds
//!    the value, or the return finds the waiter. `tests/models/serial.rs` checks it.
//! 6. A return wakes every handle that waits by polling, since a handle that is no longer polled
//!    cannot pass the wake on. It also wakes the first of the waiting futures ([`Take`]). That
//!    future takes the value and later returns it; or finds that another operation was faster, and
//!    waits again in its former position; or is dropped, and wakes the next. Futures therefore take
//!    the value in their order, with one wake each.
//! 7. A handle or future has at most one waker in the place, and removes it when it is dropped.
//! 8. [`give_back`](Serial::give_back) reaches the value at once if it is idle, and otherwise when
//!    it comes back, before the next operation has it.

use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::{Arc, Mutex, Rank};
use raddle_primitives::{ByNumber, Numbers, contain};

/// What a value does when its place asks for it.
pub(crate) trait Resource: Send + 'static {
    /// Records that a job which had the value panicked or was cancelled.
    fn job_lost(&mut self);

    /// Restores the state outside the process, such as the position of a descriptor, for callers
    /// that bypass this module.
    fn give_back(&mut self) {}
}

/// A handle of a place, which can wait for its value.
pub(crate) struct Serial<T: Resource> {
    place: Arc<Place<T>>,
    /// Identifies this handle's waker in the place; `None` before its first wait.
    waiter: Option<u64>,
    /// Whether this handle belongs to a [`Take`].
    is_future: bool,
}

struct Place<T>(Mutex<State<T>>);

struct State<T> {
    /// `None` while the value is away.
    idle: Option<Box<T>>,
    /// Set while the value is away and is to be [given back](Resource::give_back) on its return.
    give_back: bool,
    /// The waiting handles, all of which a return wakes.
    handles: ByNumber<Waker>,
    /// The waiting futures in their order. A return wakes the first of them.
    futures: ByNumber<Waker>,
}

impl<T> State<T> {
    fn waiters(&mut self, are_futures: bool) -> &mut ByNumber<Waker> {
        match are_futures {
            true => &mut self.futures,
            false => &mut self.handles,
        }
    }
}

impl<T: Resource> Serial<T> {
    pub(crate) fn new(value: T) -> Self {
        let state = State {
            idle: Some(Box::new(value)),
            give_back: false,
            handles: ByNumber::default(),
            futures: ByNumber::default(),
        };
        Self {
            place: Arc::new(Place(Mutex::ranked(
                Rank::leaf("value of the jobs of a file"),
                state,
            ))),
            waiter: None,
            is_future: false,
        }
    }

    /// Returns another handle of the same place.
    pub(crate) fn share(&self) -> Self {
        Self {
            place: Arc::clone(&self.place),
            waiter: None,
            is_future: false,
        }
    }

    /// Takes the value, if it is idle.
    pub(crate) fn try_take(&self) -> Option<Taken<T>> {
        let value = self.place.0.lock().idle.take()?;
        Some(self.taken(value))
    }

    /// Takes the value when it is idle.
    pub(crate) fn poll_take(&mut self, cx: &mut Context<'_>) -> Poll<Taken<T>> {
        if let Some(taken) = self.try_take() {
            return Poll::Ready(taken);
        }
        let waiter = *self.waiter.get_or_insert_with(next_waiter);
        // Before the lock, since the clone is user code; the former waker is dropped after it.
        let mut waker = Some(cx.waker().clone());
        let mut state = self.place.0.lock();
        let value = state.idle.take();
        if value.is_none() {
            let waiters = state.waiters(self.is_future);
            waker = waker.and_then(|waker| waiters.insert(waiter, waker));
        }
        drop(state);
        drop(waker);
        match value {
            Some(value) => Poll::Ready(self.taken(value)),
            None => {
                note_wait(cx);
                Poll::Pending
            }
        }
    }

    /// Returns a future that takes the value when it is idle, with a place of its own among the
    /// waiters.
    pub(crate) fn take(&self) -> Take<T> {
        let mut handle = self.share();
        handle.is_future = true;
        Take(handle)
    }

    /// Makes the value give back what it holds of the file: now, or when it comes back.
    pub(crate) fn give_back(&self) {
        let mut state = self.place.0.lock();
        state.give_back = true;
        let value = state.idle.take();
        drop(state);
        // The return does it.
        drop(value.map(|value| self.taken(value)));
    }

    fn taken(&self, value: Box<T>) -> Taken<T> {
        Taken {
            value: Some(value),
            place: Arc::clone(&self.place),
            has_job: false,
        }
    }
}

/// Returns the number of a handle that waits for the first time.
fn next_waiter() -> u64 {
    static WAITERS: Numbers = Numbers::new();
    WAITERS.take(1)
}

fn note_wait(cx: &Context<'_>) {
    let resource = raddle_leaf::wait::Resource::Unknown;
    raddle_leaf::wait::note(cx, "file operation", None, resource);
}

impl<T: Resource> Drop for Serial<T> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter else { return };
        let mut state = self.place.0.lock();
        let own = state.waiters(self.is_future).remove(waiter);
        // Without a waker it was woken, perhaps for a value that it did not take.
        let passes_on = self.is_future && own.is_none() && state.idle.is_some();
        let next = passes_on.then(|| state.futures.pop_first()).flatten();
        drop(state);
        drop(own);
        if let Some(next) = next {
            contain(|| next.wake());
        }
    }
}

impl<T: Resource> fmt::Debug for Serial<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_idle = self.place.0.lock().idle.is_some();
        f.write_str(if is_idle { "idle" } else { "busy" })
    }
}

/// The future of [`Serial::take`].
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Take<T: Resource>(Serial<T>);

impl<T: Resource> Future for Take<T> {
    type Output = Taken<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Taken<T>> {
        self.0.poll_take(cx)
    }
}

/// The value, while it is away from its place. Dropping it returns the value.
pub(crate) struct Taken<T: Resource> {
    /// `None` once it has been returned or moved out.
    value: Option<Box<T>>,
    place: Arc<Place<T>>,
    /// Set from the submission of a job until its completion.
    has_job: bool,
}

impl<T: Resource> Taken<T> {
    /// Records that the value belongs to a job that has not completed.
    pub(crate) fn begin_job(&mut self) {
        self.has_job = true;
    }

    /// Marks the job as completed, or as never begun.
    pub(crate) fn end_job(&mut self) {
        self.has_job = false;
    }

    /// Takes the value out permanently. The place stays empty.
    pub(crate) fn into_inner(mut self) -> Box<T> {
        match self.value.take() {
            Some(value) => value,
            None => unreachable!("only this function and the drop take the value"),
        }
    }
}

impl<T: Resource> Deref for Taken<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => unreachable!("the value is there until the drop"),
        }
    }
}

impl<T: Resource> DerefMut for Taken<T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.value {
            Some(value) => value,
            None => unreachable!("the value is there until the drop"),
        }
    }
}

impl<T: Resource> Drop for Taken<T> {
    fn drop(&mut self) {
        let Some(mut value) = self.value.take() else {
            return;
        };
        if self.has_job {
            value.job_lost();
        }
        let mut state = self.place.0.lock();
        while mem::take(&mut state.give_back) {
            // It makes a system call.
            drop(state);
            value.give_back();
            state = self.place.0.lock();
        }
        state.idle = Some(value);
        let handles = mem::take(&mut state.handles);
        let future = state.futures.pop_first();
        drop(state);
        wake_each(handles, future);
    }
}

fn wake_each(handles: ByNumber<Waker>, future: Option<Waker>) {
    for waiter in handles.into_values().chain(future) {
        contain(|| waiter.wake());
    }
}
