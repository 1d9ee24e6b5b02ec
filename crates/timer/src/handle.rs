//! Handles of the timers, which can be cloned, and entered on a thread.

mod futures;

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use raddle_primitives::current::{self, EnterGuard, HandleFrame};
use raddle_primitives::sync::Arc;

use crate::deadline::NEVER;
use crate::instant::Instant;
use crate::shard::Shard;

/// The current handle of a thread, as a [`Frame`](current::Frame) stores it.
///
/// ```
/// use std::sync::Arc;
/// use raddle_primitives::current::{self, Frame, Request};
/// use raddle_timer::{CurrentHandle, Handle, Timers};
///
/// struct Owned(CurrentHandle);
///
/// impl Frame for Owned {
///     fn provide<'a>(&'a self, request: &mut Request<'a>) {
///         request.offer(|| Some(&self.0));
///     }
/// }
///
/// let timers = Timers::new(Arc::new(|| {}));
/// let _entered = current::enter(Owned(CurrentHandle::new(timers.handle())));
/// assert!(Handle::try_current().is_some());
/// ```
pub struct CurrentHandle {
    handle: Handle,
    /// A handle that an earlier timer of this thread has left for the next one, so that short-lived
    /// timers do not change the reference count.
    spare: Cell<Option<Handle>>,
}

impl CurrentHandle {
    /// Makes the value with which a frame makes `handle` current.
    pub fn new(handle: Handle) -> Self {
        Self {
            handle,
            spare: Cell::new(None),
        }
    }
}

impl fmt::Debug for CurrentHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CurrentHandle").field(&self.handle).finish()
    }
}

/// A handle of [`Timers`](crate::Timers), with which futures set timers.
///
/// Its methods [`sleep`](Self::sleep), [`timeout`](Self::timeout) and so on work on any thread. The
/// functions of the same names use the current handle of the thread that calls them, so that thread
/// must have [entered](Self::enter) one.
///
/// A handle and its clones belong to one [shard](crate::Timers::sharded) of the timers. A handle
/// may outlive its timers.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use raddle_timer::{Timers, sleep};
///
/// let mut timers = Timers::new(Arc::new(|| {}));
/// let handle = timers.handle();
/// let mut future = {
///     // The future keeps the handle that is current here, and sets its timer there.
///     let _entered = handle.enter();
///     Box::pin(sleep(Duration::from_millis(1)))
/// };
/// assert!(raddle_testing::poll(future.as_mut()).is_pending());
/// while timers.fire_due() == 0 {
///     std::thread::yield_now();
/// }
/// assert!(raddle_testing::poll(future.as_mut()).is_ready());
/// ```
#[derive(Clone, Debug)]
pub struct Handle(Arc<Shard>);

/// While this exists, only [`advance`](Handle::advance) moves a paused clock.
///
/// ```
/// use std::pin::pin;
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use raddle_timer::{Timers, sleep};
///
/// let mut timers = Timers::new(Arc::new(|| {}));
/// let handle = timers.handle();
/// let _entered = handle.enter();
/// handle.pause();
/// let mut future = pin!(sleep(Duration::from_secs(60)));
/// assert!(raddle_testing::poll(future.as_mut()).is_pending());
/// // A file is being read on another thread. Until it is there, no time passes.
/// let hold = handle.hold_auto_advance();
/// assert_eq!(timers.auto_advance(), 0);
/// drop(hold);
/// assert_eq!(timers.auto_advance(), 1);
/// ```
#[derive(Debug)]
#[must_use = "the clock is held only as long as the guard lives"]
pub struct AutoAdvanceHold(Handle);

impl Drop for AutoAdvanceHold {
    fn drop(&mut self) {
        let shared = &self.0.shard().shared;
        shared.clock.release();
        // The owner may have parked because it had nothing else to do.
        if shared.clock.is_paused() {
            shared.unpark();
        }
    }
}

impl Handle {
    pub(crate) fn new(shard: Arc<Shard>) -> Self {
        Self(shard)
    }

    /// Takes the current handle for a timer, which later [returns it](Self::give_back).
    #[track_caller]
    #[inline]
    pub(crate) fn lend() -> Self {
        let handle = current::with(|current: &CurrentHandle| {
            let spare = current.spare.take();
            spare.unwrap_or_else(|| current.handle.clone())
        });
        match handle {
            Some(handle) => handle,
            None => no_timers(),
        }
    }

    /// Drops the handle, or keeps it for the next timer of this thread.
    #[inline]
    pub(crate) fn give_back(self) {
        let mut handle = Some(self);
        current::with(|current: &CurrentHandle| {
            if handle
                .as_ref()
                .is_some_and(|handle| current.handle.is_same_shard(handle))
            {
                // If a handle was there already, it is dropped below.
                handle = current.spare.replace(handle.take());
            }
        });
        // Otherwise it is dropped here, when the stack is not borrowed.
        drop(handle);
    }

    /// Returns whether both handles belong to the same shard of the same timers.
    pub fn is_same_shard(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    #[inline]
    pub(crate) fn shard(&self) -> &Shard {
        &self.0
    }

    /// Makes this the current handle of the calling thread. It may have no effect on a thread that
    /// is exiting.
    ///
    /// An owner of several layers enters them in one [`Frame`](current::Frame), which offers a
    /// [`CurrentHandle`].
    pub fn enter(&self) -> EnterGuard<'_> {
        current::enter(HandleFrame(Some(CurrentHandle::new(self.clone()))))
    }

    /// Returns the current handle of this thread.
    ///
    /// # Panics
    ///
    /// Panics if no handle is current.
    #[track_caller]
    #[inline]
    pub fn current() -> Self {
        match Self::try_current() {
            Some(handle) => handle,
            None => no_timers(),
        }
    }

    /// Returns the current handle of this thread, if there is one.
    #[inline]
    pub fn try_current() -> Option<Self> {
        with_current(Self::clone)
    }

    /// Returns the current time of these timers' clock.
    #[inline]
    pub fn now(&self) -> Instant {
        self.0.shared.clock.now()
    }

    /// Returns the time before which no timer of this shard is due, for a caller that steps the
    /// owner of the timers. It may be earlier than the first deadline: the owner then only moves
    /// timers within the wheel.
    ///
    /// ```
    /// use std::pin::pin;
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use raddle_timer::{Timers, sleep};
    ///
    /// let timers = Timers::new(Arc::new(|| {}));
    /// let handle = timers.handle();
    /// let _entered = handle.enter();
    /// assert_eq!(handle.next_deadline(), None);
    /// let mut future = pin!(sleep(Duration::from_millis(5)));
    /// assert!(raddle_testing::poll(future.as_mut()).is_pending());
    /// assert!(handle.next_deadline().is_some());
    /// ```
    pub fn next_deadline(&self) -> Option<Instant> {
        let tick = self.0.earliest.load();
        (tick != NEVER).then(|| self.0.shared.instant_of(tick))
    }

    /// Pauses the clock of these timers: from now on only [`advance`](Self::advance) moves it.
    ///
    /// It pauses at the next whole millisecond, so that a sleep of `n` milliseconds fires when the
    /// clock is advanced by `n` milliseconds.
    ///
    /// # Panics
    ///
    /// Panics if the clock is already paused, or if the timers have more than one shard: with
    /// several threads it is not known when time may advance.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use raddle_timer::{Timers, sleep};
    ///
    /// let mut timers = Timers::new(Arc::new(|| {}));
    /// let handle = timers.handle();
    /// let _entered = handle.enter();
    /// handle.pause();
    /// let mut future = pin!(sleep(Duration::from_secs(60)));
    /// assert!(raddle_testing::poll(future.as_mut()).is_pending());
    /// // A test need not wait for a minute.
    /// handle.advance(Duration::from_secs(60));
    /// assert_eq!(timers.fire_due(), 1);
    /// assert!(raddle_testing::poll(future).is_ready());
    /// ```
    #[track_caller]
    pub fn pause(&self) {
        assert!(
            !self.0.shared.is_sharded,
            "the clock of timers in several shards cannot be paused; make them by Timers::new"
        );
        self.0.shared.clock.pause();
        // The clock is at a whole tick: a timer for it is due before the owner's next turn.
        self.0.shared.present_tick();
    }

    /// Resumes the clock from its current time.
    ///
    /// # Panics
    ///
    /// Panics if the clock is not paused.
    #[track_caller]
    pub fn resume(&self) {
        self.0.shared.clock.resume();
        self.0.shared.unpark();
    }

    /// Advances a paused clock by `duration`. Timers that are due then fire when the owner of the
    /// timers next calls [`fire_due`](crate::Timers::fire_due); the owner is unparked for that.
    ///
    /// # Panics
    ///
    /// Panics if the clock is not paused, or if the platform cannot count that far.
    #[track_caller]
    pub fn advance(&self, duration: Duration) {
        self.0.shared.clock.advance(duration);
        self.0.shared.unpark();
    }

    /// Fires the due timers of the handle's shard, as [`Timers::fire_due`](crate::Timers::fire_due)
    /// does in all shards. It is for a caller that has advanced the clock and does not wait for the
    /// owner.
    pub fn fire_due(&self) -> usize {
        self.0.fire(self.0.shared.present_tick())
    }

    /// Advances a paused clock by `duration`, fires the timers of the handle's shard that are due
    /// then, and returns their number. It is for a caller on the owner's thread: the owner is not
    /// parked, so it need not be unparked as by [`advance`](Self::advance).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`advance`](Self::advance).
    #[track_caller]
    pub fn advance_on_owner(&self, duration: Duration) -> usize {
        self.0.shared.clock.advance(duration);
        self.fire_due()
    }

    /// Returns whether the clock is paused. An owner that has nothing else to do may then [advance
    /// it](crate::Timers::auto_advance) instead of parking.
    pub fn is_paused(&self) -> bool {
        self.0.shared.clock.is_paused()
    }

    /// Prevents [`Timers::auto_advance`](crate::Timers::auto_advance) from advancing a paused clock
    /// until the guard is dropped: for work in progress that the owner of the timers does not know
    /// of.
    pub fn hold_auto_advance(&self) -> AutoAdvanceHold {
        self.0.shared.clock.hold();
        AutoAdvanceHold(self.clone())
    }
}

/// Calls `f` with the current handle, if there is one. `f` must not enter another.
#[inline]
pub(crate) fn with_current<R>(f: impl FnOnce(&Handle) -> R) -> Option<R> {
    current::with(|current: &CurrentHandle| f(&current.handle))
}

#[cold]
#[track_caller]
fn no_timers() -> ! {
    if current::is_hidden::<CurrentHandle>() {
        panic!("no timers in this runtime; call Builder::enable_time or Builder::enable_all");
    }
    // The arguments of block_on are evaluated before it enters the runtime.
    panic!(
        "no timers on this thread, which is outside a runtime; create the timer inside \
         `rt.block_on(async {{ sleep(duration).await }})` or after `let _guard = rt.enter()`; \
         without a runtime, enter a raddle_timer::Handle"
    )
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
