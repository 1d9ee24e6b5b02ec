//! The way to the timers: cloned freely, and entered on a thread.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::time::Duration;

use raddle_std::sync::Arc;

use crate::instant::Instant;
use crate::shared::Shared;

raddle_std::thread_local! {
    static CURRENT: RefCell<Option<Handle>> = RefCell::new(None);
}

/// Reaches the [`Timers`](crate::Timers) it was taken from.
///
/// Futures such as [`Sleep`](crate::Sleep) use the handle that is current where
/// they are made: a thread that makes them must have [entered](Self::enter) one.
/// A handle outlives its timers without harm.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Shared>);

/// Keeps a [`Handle`] current on this thread until it is dropped, and then
/// restores the one that was current before.
#[derive(Debug)]
#[must_use = "the handle stays current only as long as the guard lives"]
pub struct EnterGuard<'a> {
    former: Option<Handle>,
    /// The guard belongs to its thread, and borrows the handle as in the other
    /// layers.
    _not_send: PhantomData<(&'a Handle, *const ())>,
}

/// Keeps a stopped clock where it is, but for
/// [`advance`](Handle::advance), until it is dropped.
#[derive(Debug)]
#[must_use = "the clock is held only as long as the guard lives"]
pub struct ClockHold(Handle);

impl Drop for ClockHold {
    fn drop(&mut self) {
        let shared = self.0.shared();
        shared.clock.release();
        // The owner may have parked for want of anything else to do.
        if shared.clock.is_paused() {
            shared.unpark();
        }
    }
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Makes this the current handle of the calling thread. On one that is
    /// ending it may do nothing.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard {
            former: replace_current(Some(self.clone())),
            _not_send: PhantomData,
        }
    }

    /// Leaves the calling thread without a current handle until the guard is
    /// dropped: for an owner without timers inside one that has some.
    pub fn enter_none() -> EnterGuard<'static> {
        EnterGuard {
            former: replace_current(None),
            _not_send: PhantomData,
        }
    }

    /// The handle that is current on this thread.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    #[inline]
    pub fn current() -> Self {
        match Self::try_current() {
            Some(handle) => handle,
            None => no_timers(),
        }
    }

    /// The handle that is current on this thread, if there is one.
    #[inline]
    pub fn try_current() -> Option<Self> {
        with_current(Self::clone)
    }

    /// The present, by the clock of these timers.
    #[inline]
    pub fn now(&self) -> Instant {
        self.0.clock.now()
    }

    /// Stops the clock of these timers: from now on time passes only by
    /// [`advance`](Self::advance).
    ///
    /// It stops at the next whole millisecond of its run, so that a sleep of so
    /// many milliseconds fires when the clock is advanced by as many.
    ///
    /// # Panics
    ///
    /// If it is stopped already.
    #[track_caller]
    pub fn pause(&self) {
        self.0.clock.pause();
    }

    /// Lets the clock run again, from the time it shows.
    ///
    /// # Panics
    ///
    /// If it is not stopped.
    #[track_caller]
    pub fn resume(&self) {
        self.0.clock.resume();
        self.0.unpark();
    }

    /// Moves a stopped clock forward by `duration`. What is due then fires when
    /// the owner of the timers next calls
    /// [`fire_due`](crate::Timers::fire_due); it is unparked for that.
    ///
    /// # Panics
    ///
    /// If the clock is not stopped, or if the platform cannot count that far.
    #[track_caller]
    pub fn advance(&self, duration: Duration) {
        self.0.clock.advance(duration);
        self.0.unpark();
    }

    /// Fires what is due, as [`Timers::fire_due`](crate::Timers::fire_due) does,
    /// for who has moved the clock and does not want to wait for the owner.
    ///
    /// # Panics
    ///
    /// As [`Timers::fire_due`](crate::Timers::fire_due).
    pub fn fire_due(&self) -> usize {
        self.0.fire_due()
    }

    /// Whether the clock is stopped. An owner that has nothing else to do may
    /// then [move it on](crate::Timers::auto_advance) in place of parking.
    pub fn is_paused(&self) -> bool {
        self.0.clock.is_paused()
    }

    /// Keeps a stopped clock from being moved on by
    /// [`Timers::auto_advance`](crate::Timers::auto_advance) until the guard is
    /// dropped: for work that goes on where the owner of the timers does not see
    /// it.
    pub fn hold_clock(&self) -> ClockHold {
        self.0.clock.hold();
        ClockHold(self.clone())
    }
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        // What was current is dropped after the borrow has ended.
        drop(replace_current(self.former.take()));
    }
}

/// Exchanges the current handle. While a thread ends its variables may be
/// gone; then it has no current handle, and is given none.
fn replace_current(handle: Option<Handle>) -> Option<Handle> {
    CURRENT
        .try_with(|current| current.replace(handle))
        .ok()
        .flatten()
}

/// Gives `f` the current handle, if there is one. `f` must not enter another.
#[inline]
pub(crate) fn with_current<R>(f: impl FnOnce(&Handle) -> R) -> Option<R> {
    let result = CURRENT.try_with(|current| current.borrow().as_ref().map(f));
    result.ok().flatten()
}

#[cold]
#[track_caller]
fn no_timers() -> ! {
    panic!("no timers on this thread; run inside a Raddle runtime built with enable_time")
}
