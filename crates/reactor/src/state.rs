//! One source: its readiness and its waiters.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker};

use raddle_leaf::wait::{Direction, Resource};
use raddle_primitives::sync::{Mutex, Rank};

use crate::readiness::{Clearing, Readiness, ReadyEvent};
use crate::waiters::WaiterList;
use crate::{Interest, Ready, WakerBatch, error};

/// The readiness of one source and the wakers of the tasks that wait for it.
///
/// This is the part of a registration that knows neither selector nor socket: the code that
/// receives events calls [`set_ready`](Self::set_ready), and operations on the source poll and
/// clear the readiness. All methods may be called from any thread.
///
/// ```
/// use std::task::Context;
///
/// use raddle_reactor::{Collected, Interest, IoState, Ready, WakerBatch};
///
/// let state = IoState::new();
/// let (wakes, waker) = raddle_testing::Wakes::new();
/// assert!(state.poll_read_ready(&mut Context::from_waker(&waker)).is_pending());
///
/// // What a driver does that is not a `Reactor`, when data has arrived.
/// let mut batch = WakerBatch::new();
/// assert_eq!(state.set_ready(Ready::READABLE, &mut batch), Collected::All);
/// batch.wake_all();
/// assert_eq!(wakes.get(), 1);
/// assert!(state.try_ready(Interest::READABLE)?.is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct IoState {
    readiness: Readiness,
    waiters: Mutex<Waiters>,
}

#[derive(Default)]
struct Waiters {
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// One entry for each [`WaitReady`] that has been polled and lives.
    list: WaiterList,
}

impl Waiters {
    fn collect(&mut self, ready: Ready, batch: &mut WakerBatch) -> Collected {
        let mut take = |slot: &mut Option<Waker>| {
            if batch.is_full() {
                return false;
            }
            if let Some(waker) = slot.take() {
                batch.push(waker);
            }
            true
        };
        let slots = [
            (Ready::READ, &mut self.reader),
            (Ready::WRITE, &mut self.writer),
        ];
        for (interest, slot) in slots {
            if slot.is_some() && interest.intersects(ready) && !take(slot) {
                return Collected::BatchFull;
            }
        }
        if self.list.take_wakers(ready, take) {
            Collected::All
        } else {
            Collected::BatchFull
        }
    }
}

/// Whether all wakers that an event concerns fitted into the batch.
///
/// ```
/// use raddle_reactor::{Collected, Interest, IoState, Ready, WakerBatch};
///
/// let state = IoState::new();
/// let (wakes, waker) = raddle_testing::Wakes::new();
/// let mut waits: Vec<_> = (0..100).map(|_| Box::pin(state.ready(Interest::READABLE))).collect();
/// for wait in &mut waits {
///     assert!(raddle_testing::poll_with(wait.as_mut(), &waker).is_pending());
/// }
/// // The batch has room for some of the wakers.
/// let mut batch = WakerBatch::new();
/// let mut collected = state.set_ready(Ready::READABLE, &mut batch);
/// while collected == Collected::BatchFull {
///     batch.wake_all();
///     collected = state.collect(Ready::READABLE, &mut batch);
/// }
/// batch.wake_all();
/// assert_eq!(wakes.get(), 100);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collected {
    /// All wakers fitted: wake the batch.
    All,
    /// The batch is full: wake it, then collect again.
    BatchFull,
}

impl IoState {
    /// A source that is ready for nothing.
    pub fn new() -> Self {
        Self {
            readiness: Readiness::new(),
            waiters: Mutex::ranked(Rank::leaf("waiters of a source"), Waiters::default()),
        }
    }

    /// Returns the part of `interest` that the source is ready for, if any, with one load. After
    /// the reactor's shutdown, readiness that was known before is still returned, since it needs no
    /// waiting.
    ///
    /// # Errors
    ///
    /// Returns an error if the source is not known to be ready, and never will be since the reactor
    /// has shut down.
    #[inline]
    pub fn try_ready(&self, interest: Interest) -> io::Result<Option<ReadyEvent>> {
        let now = self.readiness.load();
        match now.event(Ready::from_interest(interest)) {
            None if now.is_shutdown() => Err(error::shut_down()),
            event => Ok(event),
        }
    }

    /// Waits for something to read; keeps the waker of the last caller only.
    ///
    /// # Errors
    ///
    /// Returns an error if the reactor has shut down.
    #[inline]
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<ReadyEvent>> {
        self.poll_read_ready_after(cx, None)
    }

    /// The same, but flags that have stayed since the event `tried` do not end the wait.
    #[inline]
    pub(crate) fn poll_read_ready_after(
        &self,
        cx: &Context<'_>,
        tried: Option<ReadyEvent>,
    ) -> Poll<io::Result<ReadyEvent>> {
        match self.check(Ready::READ, tried).transpose() {
            Some(result) => Poll::Ready(result),
            None => self.poll_slot(cx, Ready::READ, tried, |waiters| &mut waiters.reader),
        }
    }

    /// Waits for room to write; keeps the waker of the last caller only.
    ///
    /// # Errors
    ///
    /// Returns an error if the reactor has shut down.
    #[inline]
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<ReadyEvent>> {
        self.poll_write_ready_after(cx, None)
    }

    /// The same, but flags that have stayed since the event `tried` do not end the wait.
    #[inline]
    pub(crate) fn poll_write_ready_after(
        &self,
        cx: &Context<'_>,
        tried: Option<ReadyEvent>,
    ) -> Poll<io::Result<ReadyEvent>> {
        match self.check(Ready::WRITE, tried).transpose() {
            Some(result) => Poll::Ready(result),
            None => self.poll_slot(cx, Ready::WRITE, tried, |waiters| &mut waiters.writer),
        }
    }

    /// Waits for `interest`; any number of tasks may wait at the same time.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub fn ready(&self, interest: Interest) -> WaitReady<'_> {
        self.ready_for_any(Ready::from_interest(interest))
    }

    /// Waits until any of `flags` is set; any number of tasks may wait at the same time.
    /// [`Ready::READ_CLOSED`] alone waits for the end of a stream whose bytes are not read
    /// meanwhile: data does not end the wait.
    ///
    /// # Cancel safety
    ///
    /// The same as for [`ready`](Self::ready).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// use raddle_reactor::{IoState, Ready};
    ///
    /// let state = IoState::new();
    /// state.assume_ready(Ready::READABLE);
    /// let mut end = pin!(state.ready_for_any(Ready::READ_CLOSED));
    /// assert!(raddle_testing::poll(end.as_mut()).is_pending());
    /// state.assume_ready(Ready::READ_CLOSED);
    /// assert!(raddle_testing::poll(end).is_ready());
    /// ```
    pub fn ready_for_any(&self, flags: Ready) -> WaitReady<'_> {
        WaitReady {
            state: self,
            interest: flags,
            tried: None,
            key: None,
        }
    }

    /// Like [`ready`](Self::ready), for an operation that was tried because of the event `tried`
    /// and would have blocked: flags that have stayed since then do not end the wait, only a newer
    /// event does.
    ///
    /// # Cancel safety
    ///
    /// The same as for [`ready`](Self::ready).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// use raddle_reactor::{Interest, IoState, Ready};
    ///
    /// let state = IoState::new();
    /// state.assume_ready(Ready::READ_CLOSED);
    /// let event = state.try_ready(Interest::READABLE)?.expect("the flag is for readers");
    /// // The operation that was tried because of this event would still have blocked.
    /// let mut wait = pin!(state.ready_after(Interest::READABLE, event));
    /// assert!(raddle_testing::poll(wait.as_mut()).is_pending());
    /// state.assume_ready(Ready::READABLE);
    /// assert!(raddle_testing::poll(wait).is_ready());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn ready_after(&self, interest: Interest, tried: ReadyEvent) -> WaitReady<'_> {
        WaitReady {
            tried: Some(tried),
            ..self.ready(interest)
        }
    }

    /// Clears `event`, since the operation that it announced would have blocked. A direction that
    /// is closed stays so.
    ///
    /// Call it only if the source itself said so: otherwise no event will come.
    pub fn clear_readiness(&self, event: ReadyEvent) -> Clearing {
        self.readiness.transition_to_blocked(event)
    }

    /// Clears readable and writable of `event`, after an operation that moved less than it was
    /// asked to. The end of the stream remains to be seen.
    pub fn clear_drained(&self, event: ReadyEvent) -> Clearing {
        self.readiness.transition_to_drained(event)
    }

    /// Assumes that the source is ready until an operation shows the opposite. For a new source, of
    /// which the reactor has reported no event: current waiters are not woken.
    pub fn assume_ready(&self, ready: Ready) {
        self.readiness.transition_to_ready(ready);
    }

    /// Declares that an error does not close the source, as for a socket. Call it for a new source.
    ///
    /// epoll reports an error together with "write closed". If the source is not closed, a write
    /// that was tried because of that flag alone and would block clears it; otherwise nothing
    /// would.
    pub fn let_errors_pass(&self) {
        self.readiness.transition_to_passing_errors();
    }

    /// Makes the source ready and collects the wakers concerned. When the batch was full,
    /// [`collect`](Self::collect) moves on.
    pub fn set_ready(&self, ready: Ready, batch: &mut WakerBatch) -> Collected {
        self.readiness.transition_to_ready(ready);
        let mut waiters = self.waiters.lock();
        // An event that comes while the waiters of an earlier one are taken also wakes those that
        // have waited again since.
        waiters.list.forget_walk();
        waiters.collect(ready, batch)
    }

    /// Moves the wakers that wait for any of `ready` to `batch`. After a full batch it continues
    /// where that was filled, so that each waiter is visited once.
    pub fn collect(&self, ready: Ready, batch: &mut WakerBatch) -> Collected {
        self.waiters.lock().collect(ready, batch)
    }

    /// Ends every current and future wait with an error. Call it without a lock, because it wakes
    /// tasks. A panic of a waker ends here.
    pub fn shut_down(&self) {
        self.readiness.transition_to_shutdown();
        self.waiters.lock().list.forget_walk();
        self.wake(Ready::ALL, &mut WakerBatch::new());
    }

    /// Wakes all waiters for any of `ready`, after the wakers in the batch, even if wakers panic.
    pub(crate) fn wake(&self, ready: Ready, batch: &mut WakerBatch) {
        loop {
            let collected = self.collect(ready, batch);
            batch.wake_all_contained();
            if collected == Collected::All {
                break;
            }
        }
    }

    /// Returns the set flags among `flags`, unless `tried` is the newest event.
    #[inline]
    fn check(&self, flags: Ready, tried: Option<ReadyEvent>) -> io::Result<Option<ReadyEvent>> {
        let now = self.readiness.load();
        if now.is_shutdown() {
            return Err(error::shut_down());
        }
        if tried.is_some_and(|tried| tried.is_newest_of(now)) {
            return Ok(None);
        }
        Ok(now.event(flags))
    }

    /// Returns the resource that a task waits for if it waits for these flags.
    fn resource(&self, flags: Ready) -> Resource {
        let direction = match (flags.is_readable(), flags.is_writable()) {
            (true, false) => Direction::Read,
            (false, true) => Direction::Write,
            _ => Direction::Other,
        };
        let source = ptr::from_ref(self).addr();
        Resource::Readiness { source, direction }
    }

    fn poll_slot(
        &self,
        cx: &Context<'_>,
        flags: Ready,
        tried: Option<ReadyEvent>,
        slot: impl FnOnce(&mut Waiters) -> &mut Option<Waker>,
    ) -> Poll<io::Result<ReadyEvent>> {
        // Clone the new waker before the lock, and drop the old one after it: both may run user
        // code.
        let waker = cx.waker().clone();
        let mut waiters = self.waiters.lock();
        // CHECK: an event since the first check. The reactor takes the wakers in a later critical
        // section, or has set the word before this check.
        if let Some(result) = self.check(flags, tried).transpose() {
            return Poll::Ready(result);
        }
        let former = slot(&mut waiters).replace(waker);
        drop(waiters);
        drop(former);
        raddle_leaf::wait::note(cx, "socket", None, self.resource(flags));
        Poll::Pending
    }
}

impl Default for IoState {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for IoState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IoState")
            .field("readiness", &self.readiness.load())
            .finish_non_exhaustive()
    }
}

/// The future of [`IoState::ready`].
///
/// Cancel safe: dropping it gives its place in the list back and loses nothing.
#[must_use = "futures do nothing unless polled"]
pub struct WaitReady<'a> {
    state: &'a IoState,
    interest: Ready,
    /// The event with which the wait must not end.
    tried: Option<ReadyEvent>,
    key: Option<u64>,
}

impl WaitReady<'_> {
    #[inline]
    fn check(&self) -> Option<io::Result<ReadyEvent>> {
        self.state.check(self.interest, self.tried).transpose()
    }
}

impl Future for WaitReady<'_> {
    type Output = io::Result<ReadyEvent>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.check() {
            return Poll::Ready(result);
        }
        // As in `poll_slot`.
        let waker = cx.waker().clone();
        let state = self.state;
        let mut waiters = state.waiters.lock();
        // CHECK: as in `poll_slot`.
        if let Some(result) = self.check() {
            return Poll::Ready(result);
        }
        let former = match self.key {
            Some(key) => waiters.list.replace(key, waker),
            None => {
                self.key = Some(waiters.list.insert(self.interest, waker));
                None
            }
        };
        drop(waiters);
        drop(former);
        raddle_leaf::wait::note(cx, "socket", None, self.state.resource(self.interest));
        Poll::Pending
    }
}

impl Drop for WaitReady<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let removed = self.state.waiters.lock().list.remove(key);
            drop(removed);
        }
    }
}

impl fmt::Debug for WaitReady<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitReady")
            .field("interest", &self.interest)
            .finish_non_exhaustive()
    }
}
