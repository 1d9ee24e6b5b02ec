//! The receiver's end of the list of blocks.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::atomic::Ordering;

use super::block::{Block, Look, MessageSlot, SLOTS};
use super::list::List;
use super::position::Position;

/// The position of the receiver in its list, and the blocks that it still has to free.
///
/// Each method takes the list; it must be the one that the head was made with.
pub(super) struct Head<T> {
    /// The block of the next message, or the one before, if `index` is `SLOTS`.
    block: NonNull<Block<T>>,
    index: usize,
    /// The first block that has not been recycled.
    oldest: NonNull<Block<T>>,
    /// The position behind the last message, once that is known.
    end: Option<Position>,
}

/// The reason why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A message may come.
    Yet,
    /// No message will come.
    Forever,
}

// SAFETY: it has what the list has, and goes with it.
unsafe impl<T: Send> Send for Head<T> {}
// SAFETY: nothing is done with a shared one but to read where it is.
unsafe impl<T: Send> Sync for Head<T> {}

/// A panic during a receive leaves the head at that message or after it.
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
        // SAFETY: the head frees blocks, and does not free this one.
        unsafe { self.block.as_ref() }
    }

    /// The position of the next message.
    pub(super) fn position(&self) -> Position {
        self.block().start().plus(self.index)
    }

    /// The number of messages that are there or are being sent.
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
    pub(super) unsafe fn pop(&mut self, list: &List<T>) -> Result<T, Missing> {
        // SAFETY: as the caller says.
        if unsafe { self.reach(list) } {
            let slot = self.block().slot(self.index);
            match slot.look() {
                Look::Filled => {
                    // SAFETY: the slot is filled, and the head moves on.
                    let message = unsafe { slot.read() };
                    self.index += 1;
                    return Ok(message);
                }
                Look::End => return Err(Missing::Forever),
                Look::Empty | Look::Waiting | Look::Waking => {}
            }
        }
        Err(if self.end == Some(self.position()) {
            Missing::Forever
        } else {
            Missing::Yet
        })
    }

    /// Puts back the message that was popped last.
    ///
    /// # Safety
    ///
    /// The caller forgets that message, and has done nothing else with the head since.
    pub(super) unsafe fn unpop(&mut self) {
        // Its slot is as it was, and its block the head's, as blocks are left before a message is
        // popped.
        self.index -= 1;
    }

    /// Like [`pop`](Self::pop), but a message that is on its way is waited for, so that none that
    /// was sent is missed because another one is before it.
    ///
    /// # Safety
    ///
    /// `list` is the head's.
    pub(super) unsafe fn pop_settled(&mut self, list: &List<T>) -> Result<T, Missing> {
        loop {
            // SAFETY: as the caller says.
            match unsafe { self.pop(list) } {
                Err(Missing::Yet) => {}
                settled => return settled,
            }
            let tail = list.tail();
            if self.position() == tail.position() {
                let closed = tail.is_closed();
                return Err(if closed {
                    Missing::Forever
                } else {
                    Missing::Yet
                });
            }
            // Its sender is between two instructions, or was suspended there.
            raddle_primitives::thread::yield_now();
        }
    }

    /// Registers the waker of `cx` at the next slot. Ready if there is something to see.
    ///
    /// # Safety
    ///
    /// `list` is the head's.
    pub(super) unsafe fn poll_wait(&mut self, list: &List<T>, cx: &mut Context<'_>) -> Poll<()> {
        if self.index == SLOTS {
            let next = list.next(self.block());
            // SAFETY: it is the block after the head's, all of whose messages were received.
            unsafe { self.enter(next, list) };
        }
        let slot = self.block().slot(self.index);
        match slot.look() {
            Look::Filled | Look::End => return Poll::Ready(()),
            Look::Waking => {
                // The sender is about to fill it, but with another waker.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            // SAFETY: the receiver's waker is registered.
            Look::Waiting if unsafe { list.waker.will_wake(cx.waker()) } => return Poll::Pending,
            Look::Waiting | Look::Empty => {}
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
        // SAFETY: it has not been registered.
        drop(unsafe { list.waker.take() });
        Poll::Ready(())
    }

    /// Takes the registered waker back, if there is one, so that the receiver can be dropped.
    ///
    /// # Safety
    ///
    /// `list` is the head's.
    pub(super) unsafe fn withdraw(&mut self, list: &List<T>) -> Option<Waker> {
        // Behind the last slot of a block it has registered none. This is the first slot then,
        // which is filled.
        withdraw(self.block().slot(self.index), list).ok().flatten()
    }

    /// Moves to the block of the next message, unless that is missing.
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
        // SAFETY: it is the block after the head's, all of whose messages were received.
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
            // SAFETY: the blocks from the oldest on are not freed.
            let oldest = unsafe { self.oldest.as_ref() };
            if !oldest.is_abandoned(received) {
                break;
            }
            // ORDERING: the head was there, and acquired it.
            let after = oldest.next.load(Ordering::Relaxed);
            // SAFETY: all its messages were received, and by the third rule of the list no sender
            // touches it.
            list.recycle(unsafe { Box::from_raw(self.oldest.as_ptr()) });
            self.oldest = NonNull::new(after).expect("the head is in a block behind it");
        }
    }

    /// Takes the head out, so that the list keeps it; `self` is not used again.
    pub(super) fn take(&mut self) -> Self {
        Self { ..*self }
    }

    /// Frees the blocks. What messages are left in them is forgotten.
    ///
    /// # Safety
    /// The list is not shared any more, and the head is not used again.
    pub(super) unsafe fn free(&mut self) {
        let mut next = Some(self.oldest);
        while let Some(block) = next {
            // SAFETY: the caller promises that no other code uses it.
            let block = unsafe { Box::from_raw(block.as_ptr()) };
            // ORDERING: as above.
            next = NonNull::new(block.next.load(Ordering::Relaxed));
        }
    }
}

/// A sender has the waker already, and fills the slot.
struct Withdrawn;

fn withdraw<T>(slot: &MessageSlot<T>, list: &List<T>) -> Result<Option<Waker>, Withdrawn> {
    match slot.look() {
        Look::Waiting if slot.transition_to_empty() => {
            // SAFETY: the receiver has taken the cell back.
            Ok(Some(unsafe { list.waker.take() }))
        }
        Look::Waiting | Look::Waking => Err(Withdrawn),
        Look::Empty | Look::Filled | Look::End => Ok(None),
    }
}

impl<T> fmt::Debug for Head<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Head")
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}
