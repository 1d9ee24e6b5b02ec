//! The atomic word of an entry: its phase and its tick.
//!
//! `docs/timers.md` draws the phases. Nothing outside this file touches the word.

use std::fmt;

use raddle_primitives::sync::atomic::{AtomicU64, Ordering};

/// Set while the entry is linked in the wheel and holds a waker; never with another phase. Cleared
/// by the thread that takes the entry out of the wheel.
const ARMED: u64 = 1;

/// Set once the deadline was reached; never with another phase. Cleared by a reset.
const FIRED: u64 = ARMED << 1;

/// Set once the timers shut down under the entry; never with another phase. Cleared by a reset.
const SHUT_DOWN: u64 = FIRED << 1;

/// The low bits that are kept for the phase. None of them set is the phase idle.
const PHASE_BITS: u32 = 16;

const PHASE_MASK: u64 = (1 << PHASE_BITS) - 1;

/// The number of bits of a tick.
pub(crate) const TICK_BITS: u32 = u64::BITS - PHASE_BITS;

/// The last tick that the word can hold: 8,900 years of milliseconds.
pub(crate) const MAX_TICK: u64 = (1 << TICK_BITS) - 1;

/// The word itself.
pub(crate) struct State(AtomicU64);

/// A copy of the word at one moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot(u64);

/// The result of the firer's attempt to fire an armed entry.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fire {
    /// The entry has fired, and the caller owns the waker that it copied before. The node must not
    /// be accessed again.
    Fired,
    /// The owner has postponed the deadline to this tick: link it there.
    Postponed(u64),
}

/// The result of the owner's attempt to move a deadline without the lock.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Postpone {
    /// The entry is armed for the new tick, or is now idle and will be armed by its next poll.
    Done,
    /// The new tick is before the one for which it is armed: take the lock.
    Sooner,
}

impl State {
    /// The word of an entry that has not been polled.
    pub(crate) fn idle() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The word of an entry whose deadline had passed when it was made.
    pub(crate) fn fired() -> Self {
        Self(AtomicU64::new(FIRED))
    }

    #[inline]
    pub(crate) fn load(&self) -> Snapshot {
        // ORDERING: pairs with the release in `transition_to_fired` and `transition_to_shut_down`:
        // an owner that sees either may free the node, after everything the firer did to it.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// Returns the tick for which the entry is armed. The caller holds the lock.
    pub(crate) fn tick(&self) -> u64 {
        // ORDERING: the only concurrent writer is an owner that postpones, which publishes only the
        // tick.
        Snapshot(self.0.load(Ordering::Relaxed)).tick()
    }

    /// Arms the entry; the caller holds the lock and has linked the node.
    pub(crate) fn transition_to_armed(&self, tick: u64) {
        debug_assert!(tick <= MAX_TICK);
        // ORDERING: other threads reach the node through the lock.
        self.0.store(tick << PHASE_BITS | ARMED, Ordering::Relaxed);
    }

    /// Fires an armed entry whose tick is `now`. The caller holds the lock, has unlinked the node
    /// and copied its waker.
    pub(crate) fn transition_to_fired(&self, now: u64) -> Fire {
        // ORDERING: release pairs with the acquire in `load`; it is the firer's last access to the
        // node. A failure returns only the tick. No load comes first: it would hide the
        // compare-exchange from loom, which remembers only the last access to an atomic.
        match self.0.compare_exchange(
            now << PHASE_BITS | ARMED,
            FIRED,
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            Ok(_) => Fire::Fired,
            Err(actual) => {
                let tick = Snapshot(actual).tick();
                debug_assert!(Snapshot(actual).is_armed() && tick > now);
                Fire::Postponed(tick)
            }
        }
    }

    /// Ends an armed entry because the timers shut down, with the same duties as
    /// [`transition_to_fired`](Self::transition_to_fired).
    pub(crate) fn transition_to_shut_down(&self) {
        // ORDERING: release pairs with the acquire in `load`; it is the firer's last access to the
        // node. It is an exchange, because loom would order a plain store before the owner's
        // earlier compare-exchange.
        self.0.swap(SHUT_DOWN, Ordering::Release);
    }

    /// Postpones the deadline to `tick` if that needs no lock. Only the owner may call it.
    pub(crate) fn transition_to_later(&self, tick: u64) -> Postpone {
        let mut snapshot = self.load();
        loop {
            if !snapshot.is_armed() {
                self.transition_to_idle();
                return Postpone::Done;
            }
            if tick < snapshot.tick() {
                return Postpone::Sooner;
            }
            // ORDERING: success publishes only the tick; failure is like `load`, since the firer
            // may have been faster.
            match self.0.compare_exchange_weak(
                snapshot.0,
                tick << PHASE_BITS | ARMED,
                Ordering::Relaxed,
                Ordering::Acquire,
            ) {
                Ok(_) => return Postpone::Done,
                Err(actual) => snapshot = Snapshot(actual),
            }
        }
    }

    /// Makes the entry idle. Only the owner may call it, for an entry that is not linked.
    pub(crate) fn transition_to_idle(&self) {
        // ORDERING: only the owner reads an entry that is not linked.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Marks an entry as fired that was never in the wheel, or that its owner has just unlinked
    /// under the lock.
    pub(crate) fn transition_to_fired_by_owner(&self) {
        // ORDERING: as in `transition_to_idle`.
        self.0.store(FIRED, Ordering::Relaxed);
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load().fmt(f)
    }
}

impl Snapshot {
    #[inline]
    pub(crate) fn is_armed(self) -> bool {
        self.0 & ARMED != 0
    }

    #[inline]
    pub(crate) fn is_fired(self) -> bool {
        self.0 & FIRED != 0
    }

    #[inline]
    pub(crate) fn is_shut_down(self) -> bool {
        self.0 & SHUT_DOWN != 0
    }

    /// The tick of an armed entry; meaningless in another phase.
    pub(crate) fn tick(self) -> u64 {
        (self.0 & !PHASE_MASK) >> PHASE_BITS
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_armed() {
            write!(f, "Armed({})", self.tick())
        } else if self.is_fired() {
            f.write_str("Fired")
        } else if self.is_shut_down() {
            f.write_str("ShutDown")
        } else {
            f.write_str("Idle")
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
