//! The hierarchical wheel: which timers come next, in what order.
//!
//! The algorithm is scheme 7 of Varghese and Lauck, *Hashed and Hierarchical Timing Wheels* (1987),
//! with as many levels as a tick has digits, so that no level ever wraps around. `docs/timers.md`
//! has the argument and the access rules.

use std::fmt;
use std::ptr::NonNull;

use raddle_primitives::WakerBatch;

use crate::entry::{Links, Node};
use crate::state::{Fire, MAX_TICK, TICK_BITS};

/// The bits of a tick that one level is responsible for.
const DIGIT_BITS: u32 = 6;

/// The slots of a level: one for each value of its digit.
const SLOTS: usize = 1 << DIGIT_BITS;

/// The levels: one for each digit of a tick.
const LEVELS: usize = (TICK_BITS / DIGIT_BITS) as usize;

// A tick without a level would be lost.
const _: () = assert!(LEVELS as u32 * DIGIT_BITS == TICK_BITS);

/// The timers of one level. The digit of each is greater than that of the wheel's `elapsed`, in
/// level 0 greater or equal.
struct Level {
    /// Bit `i` is set while slot `i` is not empty.
    occupied: u64,
    /// The first node of each slot's circular list.
    slots: [Option<NonNull<Node>>; SLOTS],
}

/// All timers that are armed. Protected by the lock of its `Core`.
pub(crate) struct Wheel {
    /// All timers of earlier ticks have fired; the timers of this tick are being fired.
    elapsed: u64,
    levels: [Level; LEVELS],
}

// SAFETY: the wheel accesses its nodes only under the lock, and nothing in them belongs to a
// thread.
unsafe impl Send for Wheel {}

/// The earliest slot that is not empty.
#[derive(Clone, Copy, Debug)]
struct NextSlot {
    level: usize,
    slot: usize,
    /// The first tick of the slot: no timer in the wheel is earlier.
    start: u64,
}

/// The result of an insertion.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insert {
    /// The node is linked and armed.
    Armed,
    /// The tick has been fired already; the node is unchanged.
    Elapsed,
}

/// The state of a slot after a removal.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotAfterRemoval {
    /// The slot is empty: recompute the next tick.
    Empty,
    /// The slot has other timers.
    Others,
}

/// Whether the wheel can return more timers.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The batch is full: wake its wakers, then call again.
    BatchFull,
    /// No further timer is due.
    Done,
}

impl Wheel {
    pub(crate) fn new() -> Self {
        Self {
            elapsed: 0,
            levels: [const {
                Level {
                    occupied: 0,
                    slots: [None; SLOTS],
                }
            }; LEVELS],
        }
    }

    /// Links a node and arms it for `tick`.
    ///
    /// # Safety
    ///
    /// `node` is alive and not linked, the cell of its waker is filled, and its owner keeps it
    /// alive and in place until it is unlinked.
    pub(crate) unsafe fn insert(&mut self, node: NonNull<Node>, tick: u64) -> Insert {
        if tick <= self.elapsed {
            return Insert::Elapsed;
        }
        // SAFETY: the caller ensures the state of the node.
        unsafe {
            self.link(node, tick);
            node.as_ref().state.transition_to_armed(tick);
        }
        Insert::Armed
    }

    /// Unlinks a node. The caller changes its phase.
    ///
    /// # Safety
    ///
    /// `node` is armed in this wheel.
    pub(crate) unsafe fn remove(&mut self, node: NonNull<Node>) -> SlotAfterRemoval {
        // SAFETY: an armed node is linked and alive. Only the holder of the lock accesses links,
        // and the borrow of the wheel proves that the caller holds it.
        let Links {
            prev,
            next,
            position,
        } = unsafe { node.as_ref().links.with(|links| *links) };
        let level = &mut self.levels[usize::from(position) / SLOTS];
        let slot = usize::from(position) % SLOTS;
        if next == node {
            level.slots[slot] = None;
            level.occupied &= !(1 << slot);
            return SlotAfterRemoval::Empty;
        }
        // SAFETY: the neighbours of a linked node are linked, so they are alive, and they are not
        // `node` itself. The caller holds the lock, as above.
        unsafe {
            prev.as_ref().links.with_mut(|links| (*links).next = next);
            next.as_ref().links.with_mut(|links| (*links).prev = prev);
        }
        if level.slots[slot] == Some(node) {
            level.slots[slot] = Some(next);
        }
        SlotAfterRemoval::Others
    }

    /// Returns the tick before which nothing is due: that of the earliest timer, or an earlier one
    /// at which timers change their level.
    pub(crate) fn next_tick(&self) -> Option<u64> {
        self.next_slot().map(|next| next.start)
    }

    /// Moves on to `now` if nothing is due before.
    #[inline]
    pub(crate) fn skip_to(&mut self, now: u64) {
        if now > self.elapsed && self.next_tick().is_none_or(|next| next > now) {
            self.elapsed = now;
        }
    }

    /// Takes out the timers that are due at `now` and adds their wakers to `batch` until it is
    /// full.
    pub(crate) fn fire(&mut self, now: u64, batch: &mut WakerBatch) -> Progress {
        debug_assert!(now <= MAX_TICK);
        while let Some(next) = self.next_slot().filter(|next| next.start <= now) {
            debug_assert!(next.start >= self.elapsed);
            self.elapsed = next.start;
            if next.level > 0 {
                self.cascade(next);
            } else if self.fire_slot(next, batch) == Progress::BatchFull {
                return Progress::BatchFull;
            }
        }
        self.elapsed = self.elapsed.max(now);
        Progress::Done
    }

    /// Takes out all timers, because the timers shut down.
    pub(crate) fn shut_down(&mut self, batch: &mut WakerBatch) -> Progress {
        while let Some(next) = self.next_slot() {
            if batch.is_full() {
                return Progress::BatchFull;
            }
            if let Some(node) = self.pop(next) {
                // SAFETY: the node was linked until now, so it is alive and armed. The caller holds
                // the lock and ends the phase, so it takes the waker; it does not access the node
                // afterwards.
                unsafe {
                    let waker = node.as_ref().copy_waker();
                    node.as_ref().state.transition_to_shut_down();
                    batch.push(waker.into_waker());
                }
            }
        }
        Progress::Done
    }

    /// Fires the timers of a slot of level 0, in which all share one tick.
    fn fire_slot(&mut self, slot: NextSlot, batch: &mut WakerBatch) -> Progress {
        while !batch.is_full() {
            let Some(node) = self.pop(slot) else {
                return Progress::Done;
            };
            // SAFETY: as in `shut_down`. `Postponed` means that the node is still armed, so it may
            // be linked again.
            unsafe {
                let waker = node.as_ref().copy_waker();
                match node.as_ref().state.transition_to_fired(self.elapsed) {
                    Fire::Fired => batch.push(waker.into_waker()),
                    Fire::Postponed(tick) => self.link(node, tick),
                }
            }
        }
        Progress::BatchFull
    }

    /// Moves the timers of a slot to the levels below, now that `elapsed` has reached its start.
    fn cascade(&mut self, slot: NextSlot) {
        while let Some(node) = self.pop(slot) {
            // SAFETY: the node was linked until now, so it is alive and armed. Without the lock its
            // tick only grows, so it is not before the start of its slot.
            unsafe {
                let tick = node.as_ref().state.tick();
                debug_assert!(tick >= self.elapsed);
                self.link(node, tick);
            }
        }
    }

    #[inline]
    fn next_slot(&self) -> Option<NextSlot> {
        let (index, level) = self
            .levels
            .iter()
            .enumerate()
            .find(|(_, level)| level.occupied != 0)?;
        let slot = level.occupied.trailing_zeros() as usize;
        let shift = index as u32 * DIGIT_BITS;
        let above = self.elapsed >> (shift + DIGIT_BITS) << (shift + DIGIT_BITS);
        Some(NextSlot {
            level: index,
            slot,
            start: above | (slot as u64) << shift,
        })
    }

    /// Puts a node at the end of the slot that its tick belongs to, as seen from `elapsed`.
    ///
    /// # Safety
    ///
    /// `node` is alive and not linked, and stays alive while it is linked.
    unsafe fn link(&mut self, node: NonNull<Node>, tick: u64) {
        debug_assert!(tick >= self.elapsed);
        let (index, slot) = place(self.elapsed, tick);
        let level = &mut self.levels[index];
        level.occupied |= 1 << slot;
        let position = (index * SLOTS + slot) as u16;
        let (prev, next) = match level.slots[slot] {
            None => {
                level.slots[slot] = Some(node);
                (node, node)
            }
            // SAFETY: a slot refers only to a linked node, which is alive. The borrow of the wheel
            // proves that the caller holds the lock.
            Some(first) => unsafe {
                let last = first.as_ref().links.with_mut(|links| {
                    let last = (*links).prev;
                    (*links).prev = node;
                    last
                });
                last.as_ref().links.with_mut(|links| (*links).next = node);
                (last, first)
            },
        };
        // SAFETY: the caller ensures that the node is alive, and the borrow of the wheel proves
        // that it holds the lock.
        unsafe {
            node.as_ref().links.with_mut(|links| {
                *links = Links {
                    prev,
                    next,
                    position,
                };
            });
        }
    }

    /// Unlinks the first node of a slot. It stays armed. The caller, which holds the lock, must
    /// disarm it or link it again.
    fn pop(&mut self, slot: NextSlot) -> Option<NonNull<Node>> {
        let node = self.levels[slot.level].slots[slot.slot]?;
        // SAFETY: a slot refers only to a linked node, which is armed.
        let _ = unsafe { self.remove(node) };
        Some(node)
    }
}

/// Returns the level and slot of `tick` in a wheel whose time is `elapsed`: the highest digit in
/// which the two differ, and its value.
fn place(elapsed: u64, tick: u64) -> (usize, usize) {
    // The lowest bit does not change the level. Setting it gives equal ticks a level too: 0.
    let highest = u64::BITS - 1 - ((elapsed ^ tick) | 1).leading_zeros();
    let level = highest / DIGIT_BITS;
    let slot = tick >> (level * DIGIT_BITS) & (SLOTS as u64 - 1);
    (level as usize, slot as usize)
}

impl fmt::Debug for Wheel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wheel")
            .field("elapsed", &self.elapsed)
            .field("next", &self.next_tick())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
