//! Blocking one worker until another unparks it: `docs/idle-protocol.md`.

use std::fmt;
use std::time::Duration;

use raddle_std::sync::atomic::{AtomicU32, Ordering};
use raddle_std::sync::{Mutex, Rank};
use raddle_std::thread::{self, Thread};

use crate::driver::{Driver, Unpark};

/// Not blocked.
const AWAKE: u32 = 0;
/// Blocked in `thread::park`, or about to be.
pub(crate) const ON_THREAD: u32 = 1;
/// Blocked in `Driver::park`, or about to be.
pub(crate) const ON_DRIVER: u32 = 2;
/// The next or present park returns at once.
const NOTIFIED: u32 = 3;

/// The blocking of one worker.
pub(crate) struct Parker {
    state: AtomicU32,
    /// The thread that runs the worker now.
    thread: Mutex<Option<Thread>>,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU32::new(AWAKE),
            thread: Mutex::ranked(Rank::leaf("thread of a parker"), None),
        }
    }

    /// Says that the calling thread runs the worker from now on.
    pub(crate) fn attach(&self) {
        *self.thread.lock() = Some(thread::current());
    }

    /// The thread that runs the worker, or did last.
    #[cfg(not(raddle_loom))]
    pub(crate) fn thread_id(&self) -> Option<thread::ThreadId> {
        self.thread.lock().as_ref().map(thread::Thread::id)
    }

    /// Blocks on the thread until unparked, at most for `timeout`.
    pub(crate) fn park_on_thread(&self, timeout: Option<Duration>) {
        if !self.enter(ON_THREAD) {
            return;
        }
        match timeout {
            Some(timeout) => {
                thread::park_timeout(timeout);
                self.leave();
            }
            // ORDERING: Relaxed: nobody else ends a notification, and `leave` follows.
            None => {
                while self.state.load(Ordering::Relaxed) != NOTIFIED {
                    thread::park();
                }
                self.leave();
            }
        }
    }

    /// Blocks in the driver until it comes back.
    pub(crate) fn park_on_driver(
        &self,
        driver: &mut dyn Driver,
        timeout: Option<Duration>,
        limit: usize,
    ) {
        if self.enter(ON_DRIVER) {
            driver.park(timeout, limit);
            self.leave();
        }
    }

    /// Ends the present park, or makes the next return at once. Whether it was
    /// one in the driver.
    pub(crate) fn unpark(&self, driver: Option<&dyn Unpark>) -> bool {
        // ORDERING: Release pairs with `leave`: the worker sees why it was
        // unparked. Its thread is attached: see `enter`.
        let place = self.state.swap(NOTIFIED, Ordering::Release);
        match place {
            ON_THREAD => {
                let thread = self.thread.lock().clone();
                thread
                    .expect("a worker that parks has attached its thread")
                    .unpark();
            }
            ON_DRIVER => {
                let driver = driver.expect("a worker parked on the driver");
                // A user's code: who unparks may be about to unpark others, or to
                // queue more tasks.
                raddle_std::contain(|| driver.unpark());
            }
            _ => {}
        }
        place == ON_DRIVER
    }

    /// Whether the worker is blocked in the driver, or about to be.
    pub(crate) fn is_in_driver(&self) -> bool {
        // ORDERING: a hint for the choice of whom to wake.
        self.state.load(Ordering::Relaxed) == ON_DRIVER
    }

    /// Whether the worker is blocked, or about to be.
    pub(crate) fn is_parked(&self) -> bool {
        // ORDERING: a watcher's hint.
        matches!(self.state.load(Ordering::Relaxed), ON_THREAD | ON_DRIVER)
    }

    /// Whether the worker was unparked and has not come out yet.
    pub(crate) fn is_notified(&self) -> bool {
        // ORDERING: Relaxed: `leave` follows.
        self.state.load(Ordering::Relaxed) == NOTIFIED
    }

    /// Announces where the worker blocks. False if it was notified, which uses
    /// the notification up.
    pub(crate) fn enter(&self, place: u32) -> bool {
        // ORDERING: Relaxed: on failure `leave` follows. On success, an unpark
        // that finds the place takes the lock of the thread next, and takes it
        // after `attach` did: had it been before, its swap would have come
        // before this.
        let entered =
            self.state
                .compare_exchange(AWAKE, place, Ordering::Relaxed, Ordering::Relaxed);
        if entered.is_err() {
            self.leave();
        }
        entered.is_ok()
    }

    /// Uses up a notification, and is not blocked any more.
    pub(crate) fn leave(&self) {
        // ORDERING: Acquire pairs with `unpark`.
        self.state.swap(AWAKE, Ordering::Acquire);
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: for people.
        let state = match self.state.load(Ordering::Relaxed) {
            AWAKE => "awake",
            ON_THREAD => "on thread",
            ON_DRIVER => "on driver",
            _ => "notified",
        };
        f.debug_tuple("Parker").field(&state).finish()
    }
}
