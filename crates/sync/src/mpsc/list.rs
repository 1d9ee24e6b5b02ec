//! The senders' end of the list of blocks.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::block::{Block, Fill, MessageSlot, SLOTS};
use super::head::Head;
use super::position::{Position, STEP};
use crate::waker_cell::WakerCell;

/// Set once no further position can be reserved; never cleared.
const CLOSED: usize = 1;

/// Set once the end is in the slot after the last message, or is about to be; never without
/// `CLOSED`; never cleared. The thread that sets it writes the end.
const ENDED: usize = CLOSED << 1;

const _: () = assert!(STEP == ENDED << 1, "positions lie above the flags");

/// An unbounded queue of many producers and one consumer: positions in a linked list of blocks.
///
/// A sender reserves a position, finds its block, and fills its slot. The search begins at
/// `tail_block`. Rules:
///
/// 1. `tail_block` moves past a block when all its slots are filled, so the senders of its
///    positions have found the block. No later sender has its position in that block.
/// 2. The sender that moved `tail_block` then reads the tail by a read-modify-write. A sender that
///    reserves later sees the new `tail_block`; all senders that may have seen the old one have
///    earlier positions than the tail that was read.
/// 3. So once the receiver has taken all messages before that position, no sender accesses the
///    block. (The algorithm is that of Tokio's channel by Carl Lerche, 2019, except for which party
///    sets which mark.)
#[repr(C)]
pub(super) struct List<T> {
    /// The next position to reserve, `CLOSED` and `ENDED`.
    tail: AtomicUsize,
    tail_block: AtomicPtr<Block<T>>,
    /// An emptied block, which can be linked again.
    spare: AtomicPtr<Block<T>>,
    /// The waker that is registered at the slot that the receiver waits for.
    pub(super) waker: WakerCell,
    /// The head, once the receiver was dropped: written by the receiver, and read when the list is
    /// not shared any more.
    last_head: UnsafeCell<Option<Head<T>>>,
}

/// A snapshot of the tail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail(usize);

impl Tail {
    /// Returns the next position. After the close it may be too high for a moment, because of sends
    /// that are refused.
    pub(super) fn position(self) -> Position {
        Position::of(self.0)
    }

    pub(super) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    fn has_end(self) -> bool {
        self.0 & ENDED != 0
    }
}

// SAFETY: the list moves messages between threads; its other fields are atomic.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for List<T> {}

impl<T> List<T> {
    /// Makes an empty list and its only head.
    pub(super) fn new() -> (Self, Head<T>) {
        Self::starting_at(Position::of(0))
    }

    /// Like [`new`](Self::new), but the first message has the position `first`, the start of a
    /// block.
    pub(super) fn starting_at(first: Position) -> (Self, Head<T>) {
        let block = NonNull::from(Box::leak(Block::new(first)));
        let list = Self {
            tail: AtomicUsize::new(first.word()),
            tail_block: AtomicPtr::new(block.as_ptr()),
            spare: AtomicPtr::new(ptr::null_mut()),
            waker: WakerCell::new(),
            last_head: UnsafeCell::new(None),
        };
        (list, Head::new(block))
    }

    /// Appends a message, and wakes the receiver if it waits for it. Returns the message if the
    /// list is closed.
    #[inline]
    pub(super) fn push(&self, message: T) -> Result<(), T> {
        // ORDERING: Acquire pairs with `advance`: the caller sees a `tail_block` that was moved
        // before.
        let tail = Tail(self.tail.fetch_add(STEP, Ordering::Acquire));
        if tail.is_closed() {
            self.take_back();
            return Err(message);
        }
        let slot = self.slot(tail.position());
        // SAFETY: the caller has reserved the position.
        unsafe { slot.write(message) };
        self.fill(slot, Fill::Message);
        Ok(())
    }

    /// Subtracts what a sender has added to the tail of a closed list, so that the tail stays where
    /// the end is written.
    #[cold]
    fn take_back(&self) {
        // ORDERING: the count of the senders orders the end after it.
        self.tail.fetch_sub(STEP, Ordering::Relaxed);
    }

    /// Refuses further reservations, and returns the previous tail.
    pub(super) fn close(&self) -> Tail {
        // ORDERING: Release pairs with `tail` and `push`: a thread that sees the close also sees
        // the writes before it.
        Tail(self.tail.fetch_or(CLOSED, Ordering::Release))
    }

    /// Ends the list once no further position is reserved, and wakes the receiver, even if it has
    /// closed the list itself while a task waited in it.
    pub(super) fn end(&self) {
        // ORDERING: Release as in `close`, Acquire as in `push`.
        let tail = Tail(self.tail.fetch_or(CLOSED | ENDED, Ordering::AcqRel));
        if !tail.has_end() {
            self.fill(self.slot(tail.position()), Fill::End);
        }
    }

    #[inline]
    pub(super) fn tail(&self) -> Tail {
        // ORDERING: Acquire pairs with `close`.
        Tail(self.tail.load(Ordering::Acquire))
    }

    #[inline]
    fn fill(&self, slot: &MessageSlot<T>, fill: Fill) {
        if !slot.fill(fill) {
            // SAFETY: the caller has set the slot to `WAKING`, so it owns the waker.
            let waker = unsafe { self.waker.take() };
            slot.fill_after_waking(fill);
            waker.wake();
        }
    }

    /// Returns the slot of a position that the caller has reserved.
    #[inline]
    fn slot(&self, position: Position) -> &MessageSlot<T> {
        // ORDERING: Acquire pairs with `advance`, which passes on what it has seen of the block's
        // link.
        let block = self.tail_block.load(Ordering::Acquire);
        // SAFETY: by the third rule the block is not freed before the caller has filled its slot.
        let block = unsafe { &*block };
        if block.holds(position) {
            return block.slot(position.index());
        }
        self.search(block, position)
    }

    #[cold]
    fn search<'a>(&'a self, mut block: &'a Block<T>, position: Position) -> &'a MessageSlot<T> {
        let mut moves = true;
        while !block.holds(position) {
            let next = self.next(block);
            moves = moves && block.is_full() && self.advance(block, next);
            // SAFETY: as in `slot`.
            block = unsafe { next.as_ref() };
        }
        block.slot(position.index())
    }

    /// Moves `tail_block` past `block`, which is full, if it points to it. Returns whether it did.
    fn advance(&self, block: &Block<T>, next: NonNull<Block<T>>) -> bool {
        // ORDERING: Release pairs with `slot`: the next block is initialised, as the caller has
        // acquired.
        let moved = self.tail_block.compare_exchange(
            ptr::from_ref(block).cast_mut(),
            next.as_ptr(),
            Ordering::Release,
            Ordering::Relaxed,
        );
        if moved.is_err() {
            return false;
        }
        // ORDERING: Release pairs with `push`, by the second rule; it writes, so that a later
        // reservation reads from it.
        let tail = Tail(self.tail.fetch_add(0, Ordering::Release));
        block.retire(tail.position());
        true
    }

    /// Keeps the head of a receiver that is being dropped.
    ///
    /// # Safety
    ///
    /// It is the list's head, and is not used again.
    pub(super) unsafe fn keep_head(&self, head: Head<T>) {
        self.last_head.with_mut(|last_head| {
            // SAFETY: only the receiver writes the field, and only the drop of the list reads it.
            unsafe { *last_head = Some(head) };
        });
    }

    /// Returns the block after `block`, and appends it if there is none.
    pub(super) fn next(&self, block: &Block<T>) -> NonNull<Block<T>> {
        // ORDERING: Acquire pairs with the exchange of `append`: the block is initialised.
        match NonNull::new(block.next.load(Ordering::Acquire)) {
            Some(next) => next,
            None => self.append(block),
        }
    }

    /// Appends a block to `block`, unless another thread has.
    #[cold]
    fn append(&self, block: &Block<T>) -> NonNull<Block<T>> {
        let new = self.unused_block(block.start().plus(SLOTS));
        // ORDERING: Release pairs with the loads in `next` and in `Head`. Acquire as in `next`.
        match block.next.compare_exchange(
            ptr::null_mut(),
            new.as_ptr(),
            Ordering::Release,
            Ordering::Acquire,
        ) {
            Ok(_) => new,
            Err(next) => {
                // SAFETY: no other thread has seen the block.
                self.recycle(unsafe { Box::from_raw(new.as_ptr()) });
                NonNull::new(next).expect("the exchange failed, so there is a block")
            }
        }
    }

    fn unused_block(&self, start: Position) -> NonNull<Block<T>> {
        // ORDERING: Acquire pairs with `recycle`: all accesses to the block are over.
        let spare = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        let block = match NonNull::new(spare) {
            None => Block::new(start),
            Some(spare) => {
                // SAFETY: the thread that swaps the pointer out owns the block.
                let mut spare = unsafe { Box::from_raw(spare.as_ptr()) };
                spare.place(start);
                spare
            }
        };
        NonNull::from(Box::leak(block))
    }

    /// Keeps a block that is not shared any more as the spare one, or frees it if there is one
    /// already.
    pub(super) fn recycle(&self, mut block: Box<Block<T>>) {
        block.reset();
        let block = Box::into_raw(block);
        // ORDERING: Release pairs with `unused_block`.
        let kept = self.spare.compare_exchange(
            ptr::null_mut(),
            block,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if kept.is_err() {
            // SAFETY: the pointer was made from a box just above.
            drop(unsafe { Box::from_raw(block) });
        }
    }
}

impl<T> Drop for List<T> {
    /// Drops the messages that were sent after the receiver was dropped.
    fn drop(&mut self) {
        self.last_head.with_mut(|last_head| {
            // SAFETY: the list is not shared any more.
            if let Some(head) = unsafe { &mut *last_head } {
                RemainingBlocks { list: self, head }.drop_messages();
            }
        });
    }
}

/// The remaining blocks of a list that is dropped. They are freed even if the drop of a message
/// panics.
struct RemainingBlocks<'a, T> {
    list: &'a List<T>,
    head: &'a mut Head<T>,
}

impl<T> RemainingBlocks<'_, T> {
    fn drop_messages(&mut self) {
        // SAFETY: the head is that of the list.
        while unsafe { self.head.pop(self.list) }.is_ok() {}
    }
}

impl<T> Drop for RemainingBlocks<'_, T> {
    fn drop(&mut self) {
        while catch_unwind(AssertUnwindSafe(|| self.drop_messages())).is_err() {}
        // SAFETY: the list is being dropped.
        unsafe { self.head.free() };
        // ORDERING: Acquire as in `unused_block`.
        let spare = self.list.spare.swap(ptr::null_mut(), Ordering::Acquire);
        if !spare.is_null() {
            // SAFETY: as in `unused_block`.
            drop(unsafe { Box::from_raw(spare) });
        }
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("tail", &self.tail())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
