//! The content of a channel, which is under its lock.

use std::collections::VecDeque;
use std::task::Waker;

use crate::mpsc::error::TrySendError;
use crate::wait_list::{Node, WaitList};

/// The number of messages for which an empty channel keeps memory.
const KEPT: usize = 256;

/// The node of a waiting send or receive.
pub(super) type Waiting = Node<Waker, ()>;

/// The messages of a channel, and the tasks that wait.
///
/// A send waits for room, and a receive for a message. Both follow the same rules:
///
/// 1. The operation that makes room, or that adds a message, *grants* it to the first waiter: the
///    waiter leaves the list, and the count `granted` of its side goes up.
/// 2. A waiter that was granted a unit takes it at its next poll. If it is dropped instead, the unit
///    is granted to the next waiter.
/// 3. While the channel is open, other operations do not take granted units. So while a task waits
///    for a unit, none is free.
/// 4. The close releases all waiters. From then on there is no room, and the grants mean nothing:
///    each message is free.
pub(super) struct State<T> {
    messages: VecDeque<T>,
    /// The greatest number of messages.
    pub(super) limit: usize,
    pub(super) is_closed: bool,
    /// The receives: a unit is a message.
    pub(super) receives: Waits,
    /// The sends: a unit is room for one message.
    pub(super) sends: Waits,
}

/// The waiters of one side, and what was granted to those that have left the list.
pub(super) struct Waits {
    pub(super) list: WaitList<Waker, ()>,
    granted: usize,
}

impl Waits {
    const fn new() -> Self {
        Self {
            list: WaitList::new(),
            granted: 0,
        }
    }

    fn grant(&mut self) -> Option<Waker> {
        let waker = self.list.release_first(())?;
        self.granted += 1;
        Some(waker)
    }
}

/// A side of the channel.
pub(super) trait Side {
    /// The waiters of this side.
    fn waits<T>(state: &mut State<T>) -> &mut Waits;

    /// Grants a free unit to the first waiter, and returns its waker.
    fn grant<T>(state: &mut State<T>) -> Option<Waker>;
}

/// The side that waits for messages.
pub(super) struct Receives;

/// The side that waits for room.
pub(super) struct Sends;

impl Side for Receives {
    #[inline]
    fn waits<T>(state: &mut State<T>) -> &mut Waits {
        &mut state.receives
    }

    #[inline]
    fn grant<T>(state: &mut State<T>) -> Option<Waker> {
        match state.has_message() {
            true => state.receives.grant(),
            false => None,
        }
    }
}

impl Side for Sends {
    #[inline]
    fn waits<T>(state: &mut State<T>) -> &mut Waits {
        &mut state.sends
    }

    #[inline]
    fn grant<T>(state: &mut State<T>) -> Option<Waker> {
        match state.has_room() {
            true => state.sends.grant(),
            false => None,
        }
    }
}

impl<T> State<T> {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            messages: VecDeque::new(),
            limit,
            is_closed: false,
            receives: Waits::new(),
            sends: Waits::new(),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether there is a message that was not granted.
    #[inline]
    fn has_message(&self) -> bool {
        self.messages.len() > self.receives.granted
    }

    /// Returns whether there is room that was not granted.
    #[inline]
    fn has_room(&self) -> bool {
        self.limit.saturating_sub(self.messages.len()) > self.sends.granted
    }

    /// Appends a message. Returns the waker of the receive that it was granted to.
    #[inline]
    pub(super) fn push(&mut self, message: T) -> Result<Option<Waker>, TrySendError<T>> {
        if self.is_closed {
            return Err(TrySendError::Closed(message));
        }
        if !self.has_room() {
            return Err(TrySendError::Full(message));
        }
        self.messages.push_back(message);
        Ok(Receives::grant(self))
    }

    /// Takes the first message, unless it was granted. Returns it with the waker of the send that
    /// its room was granted to.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(T, Option<Waker>)> {
        if !self.is_closed && !self.has_message() {
            return None;
        }
        let message = self.messages.pop_front()?;
        if self.messages.is_empty() && self.messages.capacity() > KEPT {
            self.messages.shrink_to(KEPT);
        }
        Some((message, Sends::grant(self)))
    }

    /// Undoes a `pop`. Returns the waker of the receive that the message was granted to. The send
    /// that got the room finds none, and waits again behind the others.
    pub(super) fn unpop(&mut self, message: T) -> Option<Waker> {
        self.messages.push_front(message);
        Receives::grant(self)
    }

    /// Takes all messages.
    pub(super) fn take_messages(&mut self) -> VecDeque<T> {
        std::mem::take(&mut self.messages)
    }

    /// Takes back the unit that a waiter of a side was granted, when it has left the list.
    #[inline]
    pub(super) fn revoke<S: Side>(&mut self) {
        if !self.is_closed {
            S::waits(self).granted -= 1;
        }
    }
}
