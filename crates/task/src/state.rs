//! The state word: lifecycle bits and reference count, and their transitions.
//!
//! `docs/task-states.md` draws them. Nothing outside this file touches the word.

mod duty;
mod word;

use std::fmt;

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use duty::{Completion, Detach, Release, Start, Stop, Wake};
use word::{
    CANCELLED, COMPLETE, COMPLETED_AND_RELEASED, JOIN_INTEREST, JOIN_WAKER, NOTIFIED, REF_ONE,
    RUNNING, Snapshot,
};

/// The word.
pub(crate) struct State(AtomicUsize);

impl State {
    /// The word of a task that is scheduled for the first time: notified, with a join handle, and
    /// referenced by its liveness and by that handle.
    pub(crate) fn new() -> Self {
        let state = NOTIFIED | JOIN_INTEREST | (2 * REF_ONE);
        Self(named("task state", AtomicUsize::new(state)))
    }

    #[inline]
    pub(crate) fn load(&self) -> Snapshot {
        // ORDERING: Acquire pairs with `transition_to_complete`: a caller that sees `COMPLETE` may
        // read the output. It is not a relaxed load with a fence, because ThreadSanitizer does not
        // support fences.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// Starts a run. The caller holds the runnable. `alone` says that no live list of another
    /// thread has the task.
    #[inline]
    pub(crate) fn transition_to_running(&self, alone: impl FnOnce() -> bool) -> Start {
        // ORDERING: Acquire pairs with the Release of the thread that gave up a reference, if only
        // the liveness reference remains. Otherwise only the caller changes `RUNNING` or clears
        // `NOTIFIED`, and the caller got the runnable through a queue.
        let current = Snapshot(self.0.load(Ordering::Acquire));
        debug_assert!(current.0 & (RUNNING | NOTIFIED) != 0 && !current.is(COMPLETE));
        let before = if !current.is(NOTIFIED) {
            // Only the task has woken itself. A later wake finds it running, and is handled when
            // its poll ends.
            current
        } else if current.references() == 1 && alone() {
            // ORDERING: no other thread can reach the word: no handle, no waker.
            self.0
                .store((current.0 | RUNNING) & !NOTIFIED, Ordering::Relaxed);
            current
        } else {
            let change = NOTIFIED | (!current.0 & RUNNING);
            // ORDERING: Acquire pairs with the Release of every wake so far, including wakes that
            // found the task notified, and through them with `transition_to_idle` of the last run.
            Snapshot(self.0.fetch_xor(change, Ordering::Acquire))
        };
        if before.is(CANCELLED) {
            Start::Cancel
        } else {
            Start::Poll
        }
    }

    /// Ends a poll that was pending.
    #[inline]
    pub(crate) fn transition_to_idle(&self) -> Stop {
        // ORDERING: a guess for the exchange; `NOTIFIED` is never cleared while the task runs, so
        // it suffices to see it once.
        let mut current = Snapshot(self.0.load(Ordering::Relaxed));
        loop {
            debug_assert!(current.is(RUNNING) && !current.is(COMPLETE));
            if current.is(NOTIFIED) {
                return Stop::Again;
            }
            // ORDERING: Release pairs with the Acquire of `wake_by_ref`, `wake_by_value` and
            // `abort` and, through them, of the next run, which then own the future and the queue
            // link.
            match self.0.compare_exchange_weak(
                current.0,
                current.0 & !RUNNING,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Stop::Idle,
                Err(actual) => current = Snapshot(actual),
            }
        }
    }

    /// Returns the number of wakers and abort handles, without the caller's reference.
    pub(crate) fn wakers(&self) -> usize {
        // ORDERING: no data depends on the count.
        let state = Snapshot(self.0.load(Ordering::Relaxed));
        // A task that has completed may have no liveness reference any more.
        let others = 2 + usize::from(state.is(JOIN_INTEREST));
        state.references().saturating_sub(others)
    }

    /// Returns whether the join handle was dropped, which is permanent. The caller is the runner.
    #[inline]
    pub(crate) fn is_detached(&self) -> bool {
        // ORDERING: the bit is never set again, and no data depends on it.
        !Snapshot(self.0.load(Ordering::Relaxed)).is(JOIN_INTEREST)
    }

    /// Completes a detached task, and gives up its liveness reference. The stage must be empty.
    #[inline]
    pub(crate) fn transition_to_complete_and_release(&self) -> Release {
        if self.is_last() {
            return Release::Dealloc;
        }
        // ORDERING: AcqRel: as in `release`.
        let before = Snapshot(self.0.fetch_sub(COMPLETED_AND_RELEASED, Ordering::AcqRel));
        debug_assert!(before.is(RUNNING) && !before.is(COMPLETE) && !before.is(JOIN_INTEREST));
        before.released()
    }

    /// Completes a task without a registered join waker, and gives up its liveness reference.
    /// Returns false if there is a waker, or no join handle any more.
    #[inline]
    pub(crate) fn transition_to_complete_unawaited(&self) -> bool {
        // ORDERING: a guess for the exchange.
        let mut current = Snapshot(self.0.load(Ordering::Relaxed));
        while current.0 & (JOIN_INTEREST | JOIN_WAKER) == JOIN_INTEREST {
            // ORDERING: Release pairs with `load` by the join handle, which reads the output then,
            // and as in `release`.
            match self.0.compare_exchange_weak(
                current.0,
                current.0 - COMPLETED_AND_RELEASED,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(actual) => current = Snapshot(actual),
            }
        }
        false
    }

    /// Completes a task. The liveness reference remains.
    #[inline]
    pub(crate) fn transition_to_complete(&self) -> Completion {
        // ORDERING: Release pairs with `load` by the join handle, which reads the output then;
        // Acquire with `set_join_waker`, whose waker is read next.
        Snapshot(self.0.fetch_xor(RUNNING | COMPLETE, Ordering::AcqRel)).on_completion()
    }

    /// Wakes the task; the caller keeps its reference.
    #[inline]
    pub(crate) fn wake_by_ref(&self) -> Wake {
        // ORDERING: Release pairs with `transition_to_running`, which sees the caller's earlier
        // writes, even if the task was notified already. Acquire pairs with `transition_to_idle`,
        // whose runner used the queue link.
        Snapshot(self.0.fetch_or(NOTIFIED, Ordering::AcqRel)).on_wake()
    }

    /// Wakes the task and gives up the caller's reference.
    #[inline]
    pub(crate) fn wake_by_value(&self) -> Wake {
        // ORDERING: a guess for the exchange.
        let mut current = Snapshot(self.0.load(Ordering::Relaxed));
        loop {
            let notified = if current.is(COMPLETE) { 0 } else { NOTIFIED };
            // ORDERING: as `wake_by_ref`, and as `release`.
            match self.0.compare_exchange_weak(
                current.0,
                (current.0 | notified) - REF_ONE,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                // While the task is not complete, its liveness reference remains.
                Ok(_) if current.is(COMPLETE) && current.released() == Release::Dealloc => {
                    return Wake::Dealloc;
                }
                Ok(_) => return current.on_wake(),
                Err(actual) => current = Snapshot(actual),
            }
        }
    }

    /// Aborts the task: its next run drops the future.
    pub(crate) fn abort(&self) -> Wake {
        // ORDERING: as `wake_by_ref`.
        Snapshot(self.0.fetch_or(CANCELLED | NOTIFIED, Ordering::AcqRel)).on_wake()
    }

    /// Marks the task as aborted. The caller holds the runnable and will run it.
    pub(crate) fn cancel(&self) {
        // ORDERING: only the caller's own `transition_to_running` reads it.
        self.0.fetch_or(CANCELLED, Ordering::Relaxed);
    }

    /// Passes the join waker, just written, to the thread that completes the task. Returns false if
    /// the task has completed: then the caller still owns the waker.
    pub(crate) fn set_join_waker(&self) -> bool {
        // ORDERING: Release pairs with `transition_to_complete`.
        self.change_unless_complete(|state| state | JOIN_WAKER, Ordering::Release)
    }

    /// Takes the join waker back from the thread that completes the task. Returns false if the task
    /// has completed: then that thread owns the waker.
    pub(crate) fn unset_join_waker(&self) -> bool {
        // ORDERING: only the caller has written the field.
        self.change_unless_complete(|state| state & !JOIN_WAKER, Ordering::Relaxed)
    }

    fn change_unless_complete(&self, change: impl Fn(usize) -> usize, success: Ordering) -> bool {
        let mut current = self.load();
        while !current.is(COMPLETE) {
            // ORDERING: the callers justify `success`. Acquire on failure as in `load`: if the task
            // has completed, the caller reads the output next.
            match self.0.compare_exchange_weak(
                current.0,
                change(current.0),
                success,
                Ordering::Acquire,
            ) {
                Ok(_) => return true,
                Err(actual) => current = Snapshot(actual),
            }
        }
        false
    }

    /// Drops the join handle's interest and, if nothing else remains to do, its reference.
    #[inline]
    pub(crate) fn detach(&self) -> Detach {
        let mut current = self.load();
        loop {
            debug_assert!(current.is(JOIN_INTEREST));
            if current.is(COMPLETE) {
                return Detach::DropOutput;
            }
            let (change, duty) = if current.is(JOIN_WAKER) {
                (JOIN_INTEREST | JOIN_WAKER, Detach::DropWaker)
            } else {
                // The liveness reference remains: this is not the last one.
                (JOIN_INTEREST + REF_ONE, Detach::Nothing)
            };
            // ORDERING: Release as in `release`: the handle's accesses of the cell happen before it
            // is freed. Acquire on failure as in `load`: if the task has completed, the caller
            // drops the output next.
            match self.0.compare_exchange_weak(
                current.0,
                current.0 - change,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return duty,
                Err(actual) => current = Snapshot(actual),
            }
        }
    }

    /// Takes another reference. The caller must hold one.
    #[inline]
    pub(crate) fn retain(&self) {
        // ORDERING: the caller's reference keeps the cell; as in `Arc::clone`.
        let before = self.0.fetch_add(REF_ONE, Ordering::Relaxed);
        if before > isize::MAX as usize {
            // So many wakers were leaked that the count is about to wrap. A panic could be caught,
            // and the count would continue to grow.
            std::process::abort();
        }
    }

    /// Drops a reference.
    #[inline]
    pub(crate) fn release(&self) -> Release {
        if self.is_last() {
            return Release::Dealloc;
        }
        // ORDERING: Release and Acquire pair with each other: every access of the cell happens
        // before it is freed.
        Snapshot(self.0.fetch_sub(REF_ONE, Ordering::AcqRel)).released()
    }

    /// Returns whether the caller's reference is the only one, so that no other thread can reach
    /// the word, and giving it up need not change it.
    #[inline]
    fn is_last(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of the thread that gave up the last other
        // reference: its accesses happen before the cell is freed.
        Snapshot(self.0.load(Ordering::Acquire)).references() == 1
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load().fmt(f)
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
