//! The receiver's end of the list of blocks.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use raddle_primitives::hint::Backoff;
use raddle_primitives::sync::atomic::Ordering;

use super::block::{Block, MessageSlot, SLOTS, SlotState};
use super::list::List;
use super::position::Position;

/// The receiver's position in its list, and the blocks that it still has to free.
///
/// Each method takes the list, which must be the one that the head was made with.
pub(super) struct Head<T> {
    /// The block of the next message, or the block before it if `index` is `SLOTS`.
    block: NonNull<Block<T>>,
    index: usize,
    /// The first block that has not been recycled.
    oldest: NonNull<Block<T>>,
    /// The position after the last message, once it is known.
    end: Option<Position>,
}

/// The reason why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoMessage {
    /// A message may arrive later.
    Empty,
    /// No message will arrive.
    Ended,
}

// SAFETY: the head owns blocks of messages, as the list does, and messages are `Send`.
unsafe impl<T: Send> Send for Head<T> {}
// SAFETY: a shared head gives access only to its position.
unsafe impl<T: Send> Sync for Head<T> {}

/// After a panic during a receive, the head is at that message or after it.
impl<T> UnwindSafe for Head<T> {}
impl<T> RefUnwindSafe for Head<T> {}

impl<T> Head<T> {
    pub(super) fn new(block: NonNull<Block<T>>) -> Self {
        Self {
            block,
            index: 0,
            oldest: block,
            end: None,
        }
    }

    fn block(&self) -> &Block<T> {
        // SAFETY: only the head frees blocks, and it does not free its current one.
        unsafe { self.block.as_ref() }
    }

    /// Returns the position of the next message.
    pub(super) fn position(&self) -> Position {
        self.block().start().plus(self.index)
    }

    /// Returns the number of messages that have arrived or are being sent.
    pub(super) fn len(&self, list: &List<T>) -> usize {
        let end = self.end.unwrap_or_else(|| list.tail().position());
        end.since(self.position())
    }

    /// Returns whether the number of messages is known.
    pub(super) fn has_end(&self) -> bool {
        self.end.is_some()
    }

    /// Announces that the messages before `position` are the last.
    pub(super) fn set_end(&mut self, position: Position) {
        self.end = Some(position);
    }

    /// Returns the next message, if it has arrived.
    ///
    /// # Safety
    ///
    /// `list` is the head's.
    #[inline]
    pub(super) unsafe fn pop(&mut self, list: &List<T>) -> Result<T, NoMessage> {
        // SAFETY: as the caller promises.
        if unsafe { self.reach(list) } {
            let slot = self.block().slot(self.index);
            match slot.load_state() {
                SlotState::Filled => {
                    // SAFETY: the slot is filled, and the head moves past it.
                    let message = unsafe { slot.read() };
                    self.index += 1;
                    return Ok(message);
                }
                SlotState::End => return Err(NoMessage::Ended),
                SlotState::Empty | SlotState::Waiting | SlotState::Waking => {}
            }
        }
        Err(if self.end == Some(self.position()) {
            NoMessage::Ended
        } else {
            NoMessage::Empty
        })
    }

    /// Undoes the last pop.
    ///
    /// # Safety
    ///
    /// The caller forgets that message, and has done nothing else with the head since.
    pub(super) unsafe fn unpop(&mut self) {
        // The slot still has the message, and is in the head's block, because the head leaves a
        // block only before it pops the next message.
        self.index -= 1;
    }

    /// Like [`pop`](Self::pop), but waits for a message that is being sent, so that an earlier
    /// unfinished send does not hide a message that was sent.
    ///
    /// # Safety
    ///
    /// `list` is the head's.
    pub(super) unsafe fn pop_settled(&mut self, list: &List<T>) -> Result<T, NoMessage> {
        let backoff = Backoff::new();
        loop {
            // SAFETY: as the caller promises.
            match unsafe { self.pop(list) } {
                Err(NoMessage::Empty) => {}
                settled => return settled,
            }
            let tail = list.tail();
            if self.position() == tail.position() {
                let closed = tail.is_closed();
                return Err(if closed {
                    NoMessage::Ended
                } else {
                    NoMessage::Empty
                });
            }
            // The sender has reserved the position and not filled the slot yet.
            backoff.snooze();
        }
    }

    /// Registers the waker of `cx` at the next slot. Returns `Ready` if the slot is filled or has
    /// the end.
    ///
    /// # Safety
    ///
    /// `list` is the head's.
    pub(super) unsafe fn poll_wait(&mut self, list: &List<T>, cx: &mut Context<'_>) -> Poll<()> {
        if self.index == SLOTS {
            let next = list.next(self.block());
            // SAFETY: the block follows the head's block, all of whose messages were received.
            unsafe { self.enter(next, list) };
        }
        let slot = self.block().slot(self.index);
        match slot.load_state() {
            SlotState::Filled | SlotState::End => return Poll::Ready(()),
            SlotState::Waking => {
                // The sender is about to fill the slot, and has taken an earlier waker.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            // SAFETY: the state that was just read shows that the receiver's waker is registered.
            SlotState::Waiting if unsafe { list.waker.will_wake(cx.waker()) } => {
                return Poll::Pending;
            }
            SlotState::Waiting | SlotState::Empty => {}
        }
        let waker = cx.waker().clone();
        let Ok(_former) = withdraw(slot, list) else {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        };
        // SAFETY: the receiver's waker is not registered.
        unsafe { list.waker.put(waker) };
        if slot.transition_to_waiting() {
            return Poll::Pending;
        }
        // SAFETY: the waker has not been registered.
        drop(unsafe { list.waker.take() });
        Poll::Ready(())
    }

    /// Takes the registered waker back, if there is one, before the receiver is dropped.
    ///
    /// # Safety
    ///
    /// `list` is the head's.
    pub(super) unsafe fn withdraw(&mut self, list: &List<T>) -> Option<Waker> {
        // After the last slot of a block no waker is registered; the slot read here is then the
        // first slot, which is filled.
        withdraw(self.block().slot(self.index), list).ok().flatten()
    }

    /// Moves to the block of the next message. Returns `false` if there is no such block.
    ///
    /// # Safety
    ///
    /// `list` is the head's.
    #[inline]
    unsafe fn reach(&mut self, list: &List<T>) -> bool {
        if self.index < SLOTS {
            return true;
        }
        // ORDERING: Acquire pairs with `List::next`: the block is initialised.
        let next = NonNull::new(self.block().next.load(Ordering::Acquire));
        // SAFETY: the block follows the head's block, all of whose messages were received.
        next.inspect(|&next| unsafe { self.enter(next, list) })
            .is_some()
    }

    /// Moves to the next block, and recycles the blocks that no sender accesses any more.
    ///
    /// # Safety
    ///
    /// `list` is the head's, and `next` is after its block, all of whose messages were received.
    #[cold]
    unsafe fn enter(&mut self, next: NonNull<Block<T>>, list: &List<T>) {
        self.block = next;
        self.index = 0;
        let received = self.position();
        while self.oldest != self.block {
            // SAFETY: the blocks from the oldest on have not been freed.
            let oldest = unsafe { self.oldest.as_ref() };
            if !oldest.is_abandoned(received) {
                break;
            }
            // ORDERING: the head has moved past this block, and has acquired the link.
            let after = oldest.next.load(Ordering::Relaxed);
            // SAFETY: all messages of the block were received, and by the third rule of the list no
            // sender accesses it.
            list.recycle(unsafe { Box::from_raw(self.oldest.as_ptr()) });
            self.oldest = NonNull::new(after).expect("the head is in a block behind it");
        }
    }

    /// Moves the head out, so that the list can keep it; `self` is not used again.
    pub(super) fn take(&mut self) -> Self {
        Self { ..*self }
    }

    /// Frees the blocks. Messages in them are forgotten, not dropped.
    ///
    /// # Safety
    /// The list is not shared any more, and the head is not used again.
    pub(super) unsafe fn free(&mut self) {
        let mut next = Some(self.oldest);
        while let Some(block) = next {
            // SAFETY: the caller promises that no other code uses the block.
            let block = unsafe { Box::from_raw(block.as_ptr()) };
            // ORDERING: as above.
            next = NonNull::new(block.next.load(Ordering::Relaxed));
        }
    }
}

/// A sender has taken the waker, and fills the slot.
struct WakerTaken;

fn withdraw<T>(slot: &MessageSlot<T>, list: &List<T>) -> Result<Option<Waker>, WakerTaken> {
    match slot.load_state() {
        SlotState::Waiting if slot.transition_to_empty() => {
            // SAFETY: the receiver has taken the cell back.
            Ok(Some(unsafe { list.waker.take() }))
        }
        SlotState::Waiting | SlotState::Waking => Err(WakerTaken),
        SlotState::Empty | SlotState::Filled | SlotState::End => Ok(None),
    }
}

impl<T> fmt::Debug for Head<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Head")
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}
