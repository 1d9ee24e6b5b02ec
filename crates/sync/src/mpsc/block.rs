//! A run of slots, the unit in which a list grows.

use std::array;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use super::position::Position;

/// The number of slots of a block, a power of two. With few slots, models reach the next block
/// sooner.
pub(super) const SLOTS: usize = if cfg!(raddle_loom) { 2 } else { 32 };

/// The state word of a slot.
mod state {
    /// No message yet.
    pub(super) const EMPTY: u32 = 0;
    /// No message yet, and the receiver's waker is registered.
    pub(super) const WAITING: u32 = 1;
    /// No message yet, but its sender is taking the waker.
    pub(super) const WAKING: u32 = 2;
    /// A message, which may have been received.
    pub(super) const FILLED: u32 = 3;
    /// The end of the channel: no message will follow.
    pub(super) const END: u32 = 4;
}

/// The state of a slot as the receiver finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotState {
    Empty,
    Waiting,
    Waking,
    Filled,
    End,
}

impl SlotState {
    fn new(word: u32) -> Self {
        match word {
            state::EMPTY => Self::Empty,
            state::WAITING => Self::Waiting,
            state::WAKING => Self::Waking,
            state::FILLED => Self::Filled,
            _ => Self::End,
        }
    }
}

/// The content that a sender puts into a slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fill {
    Message,
    End,
}

/// A slot for one message.
///
/// The sender of a slot is the one that reserved its position. It changes `EMPTY` to `FILLED` or
/// `END`, which are final. Before that, the receiver may change the state to `WAITING` and back to
/// `EMPTY`. A sender that finds `WAITING` sets `WAKING`, takes the waker, and then sets `FILLED` or
/// `END`. So the receiver cannot write the waker for the next slot before this one has been taken.
pub(super) struct MessageSlot<T> {
    state: AtomicU32,
    message: UnsafeCell<MaybeUninit<T>>,
}

impl<T> MessageSlot<T> {
    fn new() -> Self {
        Self {
            state: AtomicU32::new(state::EMPTY),
            message: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[inline]
    pub(super) fn load_state(&self) -> SlotState {
        // ORDERING: Acquire pairs with `fill` and `fill_after_waking`: the receiver sees the
        // message, and the sender's accesses to the list are over.
        SlotState::new(self.state.load(Ordering::Acquire))
    }

    /// Writes the message, which the receiver does not see before [`fill`](Self::fill).
    ///
    /// # Safety
    ///
    /// The caller is the slot's sender, and calls it once.
    #[inline]
    pub(super) unsafe fn write(&self, message: T) {
        self.message.with_mut(|place| {
            // SAFETY: no other thread accesses the message before the slot is filled.
            unsafe { (*place).write(message) };
        });
    }

    /// Moves the message out.
    ///
    /// # Safety
    ///
    /// The caller is the receiver; the slot is filled, and was not read before.
    #[inline]
    pub(super) unsafe fn read(&self) -> T {
        self.message.with(|place| {
            // SAFETY: the message was written before the slot was filled, and no other thread has
            // accessed it since.
            unsafe { (*place).assume_init_read() }
        })
    }

    /// Publishes the message. If it returns `false`, the receiver has to be woken: take the waker,
    /// and continue with [`fill_after_waking`](Self::fill_after_waking). Only the slot's sender
    /// calls it.
    #[inline]
    #[must_use]
    pub(super) fn fill(&self, fill: Fill) -> bool {
        // ORDERING: a hint, which saves an exchange that would fail.
        self.state.load(Ordering::Relaxed) == state::EMPTY && self.fill_empty(fill)
            || self.fill_waiting(fill)
    }

    #[inline]
    fn fill_empty(&self, fill: Fill) -> bool {
        // ORDERING: Release pairs with `load_state`.
        let empty = self.state.compare_exchange(
            state::EMPTY,
            word(fill),
            Ordering::Release,
            Ordering::Relaxed,
        );
        empty.is_ok()
    }

    #[cold]
    fn fill_waiting(&self, fill: Fill) -> bool {
        loop {
            // ORDERING: Acquire pairs with `transition_to_waiting`: the waker has been written.
            let exchanged = self.state.compare_exchange(
                state::WAITING,
                state::WAKING,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if exchanged.is_ok() {
                return false;
            }
            if self.fill_empty(fill) {
                return true;
            }
        }
    }

    /// Publishes the content of the slot after the receiver's waker has been taken.
    pub(super) fn fill_after_waking(&self, fill: Fill) {
        // ORDERING: Release pairs with `load_state`, also for the waker's cell.
        self.state.store(word(fill), Ordering::Release);
    }

    /// Announces that the receiver's waker is registered. Returns `false` if the slot is filled or
    /// has the end.
    #[must_use]
    pub(super) fn transition_to_waiting(&self) -> bool {
        // ORDERING: Release pairs with `fill_waiting`. On failure the caller loads again.
        let empty = self.state.compare_exchange(
            state::EMPTY,
            state::WAITING,
            Ordering::Release,
            Ordering::Relaxed,
        );
        empty.is_ok()
    }

    /// Undoes [`transition_to_waiting`](Self::transition_to_waiting). Returns `false` if a sender
    /// has the waker.
    #[must_use]
    pub(super) fn transition_to_empty(&self) -> bool {
        // ORDERING: the caller wrote the waker itself.
        let exchanged = self.state.compare_exchange(
            state::WAITING,
            state::EMPTY,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        exchanged.is_ok()
    }
}

fn word(fill: Fill) -> u32 {
    match fill {
        Fill::Message => state::FILLED,
        Fill::End => state::END,
    }
}

/// Set in `Block::retired` once the block is retired.
const RETIRED: usize = 1;

/// Slots of successive positions.
pub(super) struct Block<T> {
    /// The position of the first slot. Written before the block is shared.
    start: UnsafeCell<Position>,
    /// The next block; null until a sender needs it.
    pub(super) next: AtomicPtr<Block<T>>,
    /// Nonzero once senders no longer begin their search in this block: `RETIRED`, and above it the
    /// first position that was not reserved when that became certain.
    retired: AtomicUsize,
    slots: [MessageSlot<T>; SLOTS],
}

impl<T> Block<T> {
    pub(super) fn new(start: Position) -> Box<Self> {
        Box::new(Self {
            start: UnsafeCell::new(start),
            next: AtomicPtr::new(ptr::null_mut()),
            retired: AtomicUsize::new(0),
            slots: array::from_fn(|_| MessageSlot::new()),
        })
    }

    /// Empties a block whose messages were received. The block has to be placed before it is used
    /// again.
    pub(super) fn reset(&mut self) {
        // ORDERING: the block is not shared; the sender that links it releases these stores.
        self.next.store(ptr::null_mut(), Ordering::Relaxed);
        // ORDERING: as above.
        self.retired.store(0, Ordering::Relaxed);
        for slot in &self.slots {
            // ORDERING: as above.
            slot.state.store(state::EMPTY, Ordering::Relaxed);
        }
    }

    /// Assigns the positions from `start` on to the block.
    pub(super) fn place(&mut self, start: Position) {
        self.start.with_mut(|place| {
            // SAFETY: the block is not shared.
            unsafe { *place = start };
        });
    }

    #[inline]
    pub(super) fn start(&self) -> Position {
        // SAFETY: the start is written only while the block is not shared.
        self.start.with(|start| unsafe { *start })
    }

    /// Returns whether the block has the slot of a position, which is in this block or a later one.
    #[inline]
    pub(super) fn holds(&self, position: Position) -> bool {
        position.is_within(SLOTS, self.start())
    }

    #[inline]
    pub(super) fn slot(&self, index: usize) -> &MessageSlot<T> {
        &self.slots[index % SLOTS]
    }

    /// Returns whether all slots of the block are filled. The last slots are checked first, because
    /// they are usually filled last.
    pub(super) fn is_full(&self) -> bool {
        self.slots
            .iter()
            .rev()
            .all(|slot| slot.load_state() == SlotState::Filled)
    }

    /// Announces that no sender which reserves a position from `reserved` on accesses the block.
    pub(super) fn retire(&self, reserved: Position) {
        // ORDERING: Release pairs with `is_abandoned`: the caller's accesses are over.
        self.retired
            .store(reserved.word() | RETIRED, Ordering::Release);
    }

    /// Returns whether no sender accesses the block any more, given that all messages before
    /// `received` have arrived.
    pub(super) fn is_abandoned(&self, received: Position) -> bool {
        // ORDERING: pairs with `retire`.
        let retired = self.retired.load(Ordering::Acquire);
        let start = self.start();
        retired & RETIRED != 0 && received.since(start) >= Position::of(retired).since(start)
    }
}

impl<T> fmt::Debug for Block<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("start", &self.start())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
