//! The word of a `Notify`.

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

/// Set while a permit is stored, by a notification without waiters; never with `WAITING`; cleared
/// by the task that takes the permit.
const PERMIT: usize = 1 << 0;

/// Set while the list of waiters is not empty; set and cleared under its lock; never with `PERMIT`.
/// While it is set, the word changes only under the lock.
const WAITING: usize = 1 << 1;

/// One call of `notify_waiters`. The bits from here up count the calls, and wrap.
const CALL: usize = 1 << 2;

const CALLS: usize = !(CALL - 1);

#[derive(Debug)]
pub(super) struct State(AtomicUsize);

/// A number of calls of `notify_waiters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Calls(usize);

/// The duty of a `Notified` that is about to wait.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToWaiting {
    /// Nothing: `notify_waiters` was called, or the future has taken the permit.
    Done,
    /// Queue the future before the lock is released.
    Queue,
}

/// The duty of the caller of `notify_one`.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToPermit {
    /// Nothing: a permit is stored.
    Stored,
    /// Notify a waiter, under the lock.
    NotifyOne,
}

/// The duty of the caller of `notify_waiters`.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToCalled {
    /// Nothing: there is no waiter, and the call is counted.
    Counted,
    /// Take the lock, and count the call there.
    NotifyAll,
}

impl State {
    #[cfg(not(raddle_loom))]
    pub(super) const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    #[cfg(raddle_loom)]
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    #[inline]
    pub(super) fn calls(&self) -> Calls {
        // ORDERING: Acquire pairs with `transition_to_called` and `call_all`: a task that sees a
        // call counted sees the writes before the call.
        Calls(self.0.load(Ordering::Acquire) & CALLS)
    }

    /// Returns whether a `Notified` need not wait: there was a call since `calls`, or there is a
    /// permit, which it takes. Takes no lock.
    #[inline]
    pub(super) fn try_take(&self, calls: Calls) -> bool {
        // ORDERING: Acquire as in `calls`.
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            if word & CALLS != calls.0 {
                return true;
            }
            if word & PERMIT == 0 {
                return false;
            }
            match self.exchange(word, word & !PERMIT) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// Like [`try_take`](Self::try_take), but sets `WAITING` if the `Notified` has to wait. Under
    /// the lock.
    #[inline]
    pub(super) fn transition_to_waiting(&self, calls: Calls) -> ToWaiting {
        // ORDERING: Acquire as in `calls`.
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            if word & CALLS != calls.0 {
                return ToWaiting::Done;
            }
            let (next, verdict) = if word & PERMIT != 0 {
                (word & !PERMIT, ToWaiting::Done)
            } else if word & WAITING != 0 {
                return ToWaiting::Queue;
            } else {
                (word | WAITING, ToWaiting::Queue)
            };
            match self.exchange(word, next) {
                Ok(()) => return verdict,
                Err(now) => word = now,
            }
        }
    }

    /// Stores a permit, unless there is a waiter.
    #[inline]
    pub(super) fn transition_to_permit(&self) -> ToPermit {
        // ORDERING: a hint; an exchange or the lock follows.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if word & WAITING != 0 {
                return ToPermit::NotifyOne;
            }
            // Exchanged even if a permit is stored already: the task that takes it must also see
            // the writes before this notification.
            match self.exchange(word, word | PERMIT) {
                Ok(()) => return ToPermit::Stored,
                Err(now) => word = now,
            }
        }
    }

    /// Counts a call of `notify_waiters`, unless there is a waiter.
    pub(super) fn transition_to_called(&self) -> ToCalled {
        // ORDERING: as in `transition_to_permit`.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if word & WAITING != 0 {
                return ToCalled::NotifyAll;
            }
            match self.exchange(word, word.wrapping_add(CALL)) {
                Ok(()) => return ToCalled::Counted,
                Err(now) => word = now,
            }
        }
    }

    /// Counts a call of `notify_waiters` and clears `WAITING`. Under the lock; all waiters leave
    /// the list before it is released.
    pub(super) fn call_all(&self) {
        // The last waiter may have left before the lock was taken.
        if self.transition_to_called() == ToCalled::NotifyAll {
            self.change_while_waiting(|word| (word & !WAITING).wrapping_add(CALL));
        }
    }

    /// Clears `WAITING`, which is set. Under the lock, when the last waiter has left the list.
    pub(super) fn stop_waiting(&self) {
        self.change_while_waiting(|word| word & !WAITING);
    }

    /// Changes the word while `WAITING` is set. Only the holder of the lock does so, so a store
    /// suffices.
    #[inline]
    fn change_while_waiting(&self, change: impl FnOnce(usize) -> usize) {
        // ORDERING: Relaxed: the last change was made under this lock.
        let word = self.0.load(Ordering::Relaxed);
        debug_assert_ne!(word & WAITING, 0);
        // ORDERING: Release pairs with Acquire by the `Notified` that finds the call counted: this
        // call, or an earlier one. The lock, or the exchange that set `WAITING`, orders an earlier
        // call before this store.
        self.0.store(change(word), Ordering::Release);
    }

    #[inline]
    fn exchange(&self, from: usize, to: usize) -> Result<(), usize> {
        // ORDERING: Release by a notification pairs with Acquire by the `Notified` that takes the
        // permit or finds the call counted.
        self.0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .map(drop)
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn masks_are_disjoint() {
        assert_eq!(PERMIT & WAITING, 0);
        assert_eq!((PERMIT | WAITING) & CALLS, 0);
        assert_eq!(PERMIT | WAITING | CALLS, usize::MAX);
    }

    #[test]
    fn counted_calls_wrap_without_changing_the_other_bits() {
        let state = State(AtomicUsize::new(CALLS | PERMIT));
        let calls = state.calls();
        assert_eq!(state.transition_to_called(), ToCalled::Counted);
        assert_eq!(state.calls(), Calls(0));
        // A call was counted since, so the permit is not taken.
        assert!(state.try_take(calls));
        assert!(state.try_take(Calls(0)));
        assert!(!state.try_take(Calls(0)));
    }

    /// The waiters have left since the caller's check.
    #[test]
    fn a_call_without_waiters_is_counted_once() {
        let state = State::new();
        state.call_all();
        assert_eq!(state.calls(), Calls(CALL));
    }

    #[test]
    fn no_permit_is_stored_while_there_is_a_waiter() {
        let state = State::new();
        let calls = state.calls();
        assert_eq!(state.transition_to_waiting(calls), ToWaiting::Queue);
        assert_eq!(state.transition_to_permit(), ToPermit::NotifyOne);
        assert_eq!(state.transition_to_called(), ToCalled::NotifyAll);
        state.call_all();
        assert_ne!(state.calls(), calls);
        assert_eq!(state.transition_to_permit(), ToPermit::Stored);
    }
}
