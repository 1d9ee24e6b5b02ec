//! Blocks one worker until another one unparks it. See "The parker" in `docs/scheduler.md`.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use raddle_primitives::sync::{Mutex, Rank};
use raddle_primitives::thread::{self, Thread, ThreadId};

/// Not blocked.
const AWAKE: u32 = 0;
/// Blocked in `thread::park` on the worker's first thread, or about to be.
const ON_THREAD: u32 = 1;
/// Blocked in `thread::park` on another thread, or about to be.
const ON_OTHER_THREAD: u32 = 2;
/// Blocked in the driver, or about to be.
const ON_DRIVER: u32 = 3;
/// The current or next park returns at once.
const NOTIFIED: u32 = 4;

/// What a worker blocks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockedOn {
    /// On its thread, in [`Parker::block`].
    Parker,
    /// On the driver, which waits for events too. The pool knows how to unpark it.
    Driver,
}

/// The blocking of one worker.
///
/// A park is [`enter`](Self::enter), then the wait, unless that was refused, then
/// [`leave`](Self::leave).
pub(crate) struct Parker {
    state: AtomicU32,
    /// The thread that first drove the worker, and still drives it unless a task has blocked in
    /// place, so that an unpark needs no lock.
    first_thread: OnceLock<(ThreadId, Thread)>,
    /// The thread that drives the worker now, if it is another.
    other_thread: Mutex<Option<Thread>>,
    /// Whether another thread than the first drives the worker. Read and written by that thread.
    is_on_other_thread: AtomicBool,
}

impl Default for Parker {
    fn default() -> Self {
        Self {
            state: named("parker", AtomicU32::new(AWAKE)),
            first_thread: OnceLock::new(),
            other_thread: Mutex::ranked(Rank::leaf("thread of a parker"), None),
            is_on_other_thread: AtomicBool::new(false),
        }
    }
}

impl Parker {
    /// Records that the calling thread runs the worker from now on.
    pub(crate) fn attach(&self) {
        let id = thread::current_id();
        let (first, _) = self.first_thread.get_or_init(|| (id, thread::current()));
        let is_other = *first != id;
        if is_other {
            *self.other_thread.lock() = Some(thread::current());
        }
        // ORDERING: the handoff of the worker between threads orders it.
        self.is_on_other_thread.store(is_other, Ordering::Relaxed);
    }

    /// The thread that runs the worker, or did last.
    #[cfg(not(raddle_loom))]
    pub(crate) fn thread_id(&self) -> Option<ThreadId> {
        // ORDERING: only shown to users; no access depends on it.
        match self.is_on_other_thread.load(Ordering::Relaxed) {
            true => self.other_thread.lock().as_ref().map(Thread::id),
            false => self.first_thread.get().map(|(id, _)| *id),
        }
    }

    /// Announces what the worker blocks on. Returns `false` if it was notified, which uses the
    /// notification up.
    #[inline]
    #[must_use]
    pub(crate) fn enter(&self, blocks_on: BlockedOn) -> bool {
        // ORDERING: see `attach`.
        let is_on_other_thread = || self.is_on_other_thread.load(Ordering::Relaxed);
        let state = match blocks_on {
            BlockedOn::Driver => ON_DRIVER,
            BlockedOn::Parker if is_on_other_thread() => ON_OTHER_THREAD,
            BlockedOn::Parker => ON_THREAD,
        };
        // ORDERING: Release pairs with `unpark`, which then sees the first thread. It sees another
        // thread because it takes the lock of `other_thread` after `attach` did: if it had taken
        // the lock before, its swap would have come before this exchange. On failure `leave`
        // follows.
        let entered =
            self.state
                .compare_exchange(AWAKE, state, Ordering::Release, Ordering::Relaxed);
        if entered.is_err() {
            self.leave();
        }
        entered.is_ok()
    }

    /// Blocks the thread that has entered until unparked, at most for `timeout`.
    #[inline]
    pub(crate) fn block(&self, timeout: Option<Duration>) {
        match timeout {
            Some(timeout) => thread::park_timeout(timeout),
            None => {
                while !self.is_notified() {
                    thread::park();
                }
            }
        }
    }

    /// Uses up a notification, and is no longer blocked.
    #[inline]
    pub(crate) fn leave(&self) {
        // ORDERING: Acquire pairs with `unpark`.
        self.state.swap(AWAKE, Ordering::Acquire);
    }

    /// Ends the current park, or makes the next one return at once. Calls `wake_driver` if the
    /// worker is blocked on the driver, or about to be.
    ///
    /// # Panics
    ///
    /// Panics if the worker parked on a thread without [`attach`](Self::attach).
    #[inline]
    pub(crate) fn unpark(&self, wake_driver: impl FnOnce()) {
        // ORDERING: Release pairs with `leave`: the worker sees why it was unparked. Acquire pairs
        // with `enter`.
        match self.state.swap(NOTIFIED, Ordering::AcqRel) {
            ON_THREAD => {
                let first = self.first_thread.get();
                let (_, thread) = first.expect("a worker that parks has attached its thread");
                thread.unpark();
            }
            ON_OTHER_THREAD => {
                let thread = self.other_thread.lock().clone();
                let thread = thread.expect("a worker that parks has attached its thread");
                thread.unpark();
            }
            ON_DRIVER => wake_driver(),
            _ => {}
        }
    }

    /// Returns whether the worker is blocked in the driver, or about to be.
    #[inline]
    pub(crate) fn is_in_driver(&self) -> bool {
        // ORDERING: a hint for the choice of which worker to wake.
        self.state.load(Ordering::Relaxed) == ON_DRIVER
    }

    /// Returns whether the worker is blocked, or about to be.
    #[inline]
    pub(crate) fn is_parked(&self) -> bool {
        // ORDERING: a hint for the monitor.
        !matches!(self.state.load(Ordering::Relaxed), AWAKE | NOTIFIED)
    }

    /// Returns whether the worker was unparked and has not left the park yet.
    #[inline]
    pub(crate) fn is_notified(&self) -> bool {
        // ORDERING: Relaxed: `leave` follows.
        self.state.load(Ordering::Relaxed) == NOTIFIED
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: only shown to users; no access depends on it.
        let state = match self.state.load(Ordering::Relaxed) {
            AWAKE => "awake",
            ON_THREAD => "on thread",
            ON_OTHER_THREAD => "on other thread",
            ON_DRIVER => "on driver",
            _ => "notified",
        };
        f.debug_tuple("Parker").field(&state).finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
