//! One source: its readiness and its waiters.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::{Mutex, Rank};
use raddle_wait::{Direction, Resource};

use crate::readiness::{Clearing, Readiness, ReadyEvent};
use crate::waiters::WaiterList;
use crate::{Interest, Ready, WakerBatch, error};

/// The readiness of one source and the wakers of the tasks that wait for it.
///
/// This is the part of a registration that knows neither selector nor socket: the code that
/// receives events calls [`set_ready`](Self::set_ready), operations on the source poll and clear.
/// All methods may be called from any thread.
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

/// Whether all wakers that an event concerns fitted into the batch.
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
        match self.look(Ready::READ, None).transpose() {
            Some(result) => Poll::Ready(result),
            None => self.poll_slot(cx, Ready::READ, |waiters| &mut waiters.reader),
        }
    }

    /// Waits for room to write; keeps the waker of the last caller only.
    ///
    /// # Errors
    ///
    /// Returns an error if the reactor has shut down.
    #[inline]
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<ReadyEvent>> {
        match self.look(Ready::WRITE, None).transpose() {
            Some(result) => Poll::Ready(result),
            None => self.poll_slot(cx, Ready::WRITE, |waiters| &mut waiters.writer),
        }
    }

    /// Waits for `interest`; any number of tasks may wait at the same time.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub fn ready(&self, interest: Interest) -> WaitReady<'_> {
        WaitReady {
            state: self,
            interest: Ready::from_interest(interest),
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
    pub fn ready_after(&self, interest: Interest, tried: ReadyEvent) -> WaitReady<'_> {
        WaitReady {
            tried: Some(tried),
            ..self.ready(interest)
        }
    }

    /// Clears `event`, for the operation it promised would have blocked.
    ///
    /// Call it only if the source itself said so: otherwise no event will come.
    pub fn clear_readiness(&self, event: ReadyEvent) -> Clearing {
        self.readiness.transition_to_blocked(event)
    }

    /// Clears readable and writable of `event`, after an operation that moved less
    /// than it was asked to. The end of the stream remains to be seen.
    pub fn clear_drained(&self, event: ReadyEvent) -> Clearing {
        self.readiness.transition_to_drained(event)
    }

    /// Takes the source for ready until an operation proves it wrong. For a new
    /// source, of which the reactor has reported no event: present waiters are not woken.
    pub fn assume_ready(&self, ready: Ready) {
        self.readiness.transition_to_ready(ready);
    }

    /// Makes the source ready and collects the wakers concerned. When the batch
    /// was full, [`collect`](Self::collect) moves on.
    pub fn set_ready(&self, ready: Ready, batch: &mut WakerBatch) -> Collected {
        self.readiness.transition_to_ready(ready);
        self.collect(ready, batch)
    }

    /// Moves the wakers that wait for any of `ready` to `batch`.
    pub fn collect(&self, ready: Ready, batch: &mut WakerBatch) -> Collected {
        let mut waiters = self.waiters.lock();
        let Waiters {
            reader,
            writer,
            list,
        } = &mut *waiters;
        let slots = [(Ready::READ, reader), (Ready::WRITE, writer)].into_iter();
        for (interest, slot) in slots.chain(list.iter_mut()) {
            if slot.is_none() || !interest.intersects(ready) {
                continue;
            }
            if batch.is_full() {
                return Collected::BatchFull;
            }
            if let Some(waker) = slot.take() {
                batch.push(waker);
            }
        }
        Collected::All
    }

    /// Ends every present and future wait with an error. Call it without a
    /// lock, for it wakes. A panic of a waker ends here.
    pub fn shut_down(&self) {
        self.readiness.transition_to_shutdown();
        self.wake(Ready::ALL, &mut WakerBatch::new());
    }

    /// Wakes all waiters for any of `ready`, after what is in the batch, also if
    /// wakers panic.
    pub(crate) fn wake(&self, ready: Ready, batch: &mut WakerBatch) {
        loop {
            let collected = self.collect(ready, batch);
            batch.wake_all_contained();
            if collected == Collected::All {
                break;
            }
        }
    }

    /// The set flags among `flags`, unless `tried` is the newest event.
    #[inline]
    fn look(&self, flags: Ready, tried: Option<ReadyEvent>) -> io::Result<Option<ReadyEvent>> {
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
        slot: impl FnOnce(&mut Waiters) -> &mut Option<Waker>,
    ) -> Poll<io::Result<ReadyEvent>> {
        // Cloned before the lock, which makes it outlive the guard, and the former
        // one dropped after it: both may run code of the user.
        let waker = cx.waker().clone();
        let mut waiters = self.waiters.lock();
        // CHECK: an event since the first look. The reactor takes the wakers in
        // a later section than this one, or has set the word before this look.
        if let Some(result) = self.look(flags, None).transpose() {
            return Poll::Ready(result);
        }
        let former = slot(&mut waiters).replace(waker);
        drop(waiters);
        drop(former);
        raddle_wait::note(cx, "socket", None, self.resource(flags));
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
    /// The event that the wait must not end with.
    tried: Option<ReadyEvent>,
    key: Option<u64>,
}

impl WaitReady<'_> {
    #[inline]
    fn look(&self) -> Option<io::Result<ReadyEvent>> {
        self.state.look(self.interest, self.tried).transpose()
    }
}

impl Future for WaitReady<'_> {
    type Output = io::Result<ReadyEvent>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.look() {
            return Poll::Ready(result);
        }
        // As in `poll_slot`.
        let waker = cx.waker().clone();
        let state = self.state;
        let mut waiters = state.waiters.lock();
        // CHECK: as there.
        if let Some(result) = self.look() {
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
        raddle_wait::note(cx, "socket", None, self.state.resource(self.interest));
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
