//! The effect of a task's panic on its scheduler.

use std::task::Waker;

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::sync::{Mutex, Rank};
use scopeguard::guard;

/// The effect of a task's panic on its scheduler.
///
/// A task panics if a poll of its future panics, or the drop of the future after it was ready. A
/// panic in the drop of an aborted future, or of an output, reaches only the join handle, under
/// either policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnhandledPanic {
    /// Only the task's join handle receives the panic.
    #[default]
    Ignore,
    /// The scheduler shuts down: it drops every other task, as soon as the polls that are running
    /// return, and cancels tasks that are spawned later. Every `block_on`, running or later,
    /// panics. The task's join handle receives the panic too.
    ShutdownRuntime,
}

/// Whether a panic of a task has shut the scheduler down, and the threads to wake then.
pub(crate) struct Panics {
    behavior: UnhandledPanic,
    fatal: AtomicBool,
    /// The wakers of threads that block on futures.
    blocked: Mutex<Vec<Waker>>,
}

impl Panics {
    pub(crate) fn new(behavior: UnhandledPanic) -> Self {
        Self {
            behavior,
            fatal: AtomicBool::new(false),
            blocked: Mutex::ranked(Rank::leaf("threads that block"), Vec::new()),
        }
    }

    /// Wakes the threads that block on futures. The scheduler is closed.
    pub(crate) fn shut_down(&self) {
        // ORDERING: Release pairs with `is_fatal`: a thread that sees it finds the scheduler
        // closed. A thread that blocks is woken afterwards, so it reads the flag again.
        self.fatal.store(true, Ordering::Release);
        let blocked = std::mem::take(&mut *self.blocked.lock());
        blocked.into_iter().for_each(Waker::wake);
    }

    /// Whether a task's panic has shut the scheduler down.
    pub(crate) fn is_fatal(&self) -> bool {
        // ORDERING: pairs with `shut_down`; a thread whose join handle returns the panic sees the
        // flag too, through the completion of the task.
        self.fatal.load(Ordering::Acquire)
    }

    /// Registers the waker of a thread that blocks on a future, until the guard is dropped: a panic
    /// that shuts the scheduler down wakes it. An earlier panic does not. The waker is this
    /// crate's, not a user's, so it may be called under the lock.
    pub(crate) fn wake_on_panic<'a>(&'a self, waker: &Waker) -> Option<impl Drop + use<'a>> {
        if self.behavior == UnhandledPanic::Ignore {
            return None;
        }
        self.blocked.lock().push(waker.clone());
        Some(guard(waker.clone(), |waker| {
            let mut blocked = self.blocked.lock();
            if let Some(place) = blocked.iter().position(|other| other.will_wake(&waker)) {
                blocked.swap_remove(place);
            }
        }))
    }
}

/// Panics in a `block_on` whose scheduler was shut down by a task's panic.
#[cold]
#[track_caller]
pub(crate) fn end_block_on() -> ! {
    panic!(
        "a task panicked, and its runtime is set to shut down then; its own message says why it \
         panicked, and UnhandledPanic::Ignore lets the runtime go on"
    )
}
