//! What becomes of a scheduler when a task panics.

use std::fmt;
use std::task::Waker;

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::sync::{Mutex, Rank};

/// What the panic of a task does to its scheduler.
///
/// A task panics in a poll, or in the drop of its future when that is ready.
/// What panics in the drop of a future that was aborted, or of an output, goes
/// no further than the join handle in either case.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::runtime::UnhandledPanic;
///
/// /// For `Builder::unhandled_panic`.
/// fn behavior(in_test: bool) -> UnhandledPanic {
///     if in_test { UnhandledPanic::ShutdownRuntime } else { UnhandledPanic::Ignore }
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnhandledPanic {
    /// Nothing: the panic goes to the task's join handle.
    #[default]
    Ignore,
    /// The scheduler ends: it drops every other task, as soon as the polls
    /// that are under way return, and cancels what is spawned later. Every
    /// `block_on`, those under way and later ones, panics. The panic goes to
    /// the task's join handle nevertheless.
    ShutdownRuntime,
}

/// Whether a panic of a task has shut the scheduler down, and the threads to wake then.
pub(crate) struct Panics {
    fatal: AtomicBool,
    /// Those that block on futures.
    blocked: Mutex<Vec<Waker>>,
}

impl Default for Panics {
    fn default() -> Self {
        Self {
            fatal: AtomicBool::new(false),
            blocked: Mutex::ranked(Rank::leaf("threads that block"), Vec::new()),
        }
    }
}

impl Panics {
    /// Wakes those that block on futures, after the scheduler was closed.
    pub(crate) fn shut_down(&self) {
        // ORDERING: Release pairs with `is_fatal`: a thread that sees it finds the
        // scheduler closed. A thread that blocks is woken after, so that it
        // looks again.
        self.fatal.store(true, Ordering::Release);
        let blocked = std::mem::take(&mut *self.blocked.lock());
        blocked.into_iter().for_each(Waker::wake);
    }

    /// Whether a task has panicked and the scheduler ends by that.
    pub(crate) fn is_fatal(&self) -> bool {
        // ORDERING: pairs with `shut_down`; a join handle that gives the
        // panic sees it too, by the completion of the task.
        self.fatal.load(Ordering::Acquire)
    }

    /// Has a thread that blocks on a future woken by a panic that ends the
    /// scheduler, until the guard is dropped. A panic before this wakes no thread.
    pub(crate) fn wake_on_panic(
        &self,
        behavior: UnhandledPanic,
        waker: &Waker,
    ) -> Option<WokenByPanic<'_>> {
        if behavior == UnhandledPanic::Ignore {
            return None;
        }
        self.blocked.lock().push(waker.clone());
        Some(WokenByPanic {
            panics: self,
            waker: waker.clone(),
        })
    }
}

/// A place among the threads that a panic wakes. The wakers are this crate's,
/// not a user's, so that they may be touched under the lock.
pub(crate) struct WokenByPanic<'a> {
    panics: &'a Panics,
    waker: Waker,
}

impl Drop for WokenByPanic<'_> {
    fn drop(&mut self) {
        let mut blocked = self.panics.blocked.lock();
        if let Some(place) = blocked
            .iter()
            .position(|other| other.will_wake(&self.waker))
        {
            blocked.swap_remove(place);
        }
    }
}

impl fmt::Debug for WokenByPanic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WokenByPanic").field(&self.waker).finish()
    }
}

/// Ends a `block_on` whose scheduler has ended by a task's panic.
#[cold]
#[track_caller]
pub(crate) fn end_block_on() -> ! {
    panic!(
        "a task panicked, and its runtime is set to shut down then; its own message says why it \
         panicked, and UnhandledPanic::Ignore lets the runtime go on"
    )
}
