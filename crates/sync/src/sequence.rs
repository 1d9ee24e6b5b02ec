//! A count that only grows, and the tasks that wait until it does.

mod shards;
mod word;

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;

use self::shards::Shards;
use self::word::Word;
use crate::wait_list::Node;
use crate::wakers::Wakers;

pub(crate) use self::word::{Now, Waiting};

/// The number of waiter shards.
const SHARDS: usize = if cfg!(raddle_loom) { 2 } else { 8 };

/// A count that starts at 0 and grows by one with each [`advance`](Self::advance), until it is
/// [closed](Self::close). Each advance wakes all waiters.
///
/// One word has the count, the flag of the close, and a bit for each *waiter shard* that has
/// waiters. So without waiters an advance is one operation on this word.
///
/// A shard is allocated when its first waiter comes, and has cache lines of its own: other threads
/// load the word while waiters enter and leave a shard.
#[derive(Debug)]
pub(crate) struct Sequence {
    word: Word,
    shards: Shards,
}

impl Sequence {
    pub(crate) fn new() -> Self {
        Self {
            word: Word::new(),
            shards: Shards::new(),
        }
    }

    /// Returns the count, and whether it is closed. The caller sees the writes before the advance
    /// that made this count.
    pub(crate) fn now(&self) -> Now {
        self.word.load()
    }

    /// Adds one to the count. The caller then calls [`wake`](Self::wake), separately, so that it
    /// can release a lock in between.
    pub(crate) fn advance(&self) -> Waiting {
        self.word.advance()
    }

    /// Closes the sequence: the count does not grow any more.
    pub(crate) fn close(&self) -> Waiting {
        self.word.close()
    }

    /// Wakes the shards that had waiters.
    pub(crate) fn wake(&self, waiting: Waiting) {
        if !waiting.is_empty() {
            self.wake_shards(waiting);
        }
    }

    fn wake_shards(&self, waiting: Waiting) {
        let mut wakers = Wakers::default();
        for index in waiting.shards() {
            let mut shard = self.shards.get(index).lock();
            while let Some(waker) = shard.release_first(()) {
                wakers.push(waker);
            }
        }
        wakers.wake_all();
    }

    /// Waits until the count is not `seen`, or is closed. The waiter is queued in the shard `shard`
    /// modulo the number of shards; waiters in different shards share no lock.
    pub(crate) fn changed(&self, seen: u64, shard: usize) -> Changed<'_> {
        Changed {
            sequence: self,
            seen,
            index: shard % SHARDS,
            node: Node::new(),
        }
    }
}

pin_project! {
    /// The future of [`Sequence::changed`]. It uses no poll budget; its callers do.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct Changed<'a> {
        sequence: &'a Sequence,
        seen: u64,
        index: usize,
        // The node in the list of the shard; idle while it is not queued, released by an advance.
        #[pin]
        node: Node<Waker, ()>,
    }

    impl PinnedDrop for Changed<'_> {
        #[inline]
        fn drop(this: Pin<&mut Self>) {
            if !this.node.is_idle() {
                this.leave();
            }
        }
    }
}

impl Changed<'_> {
    /// Queues the node in the shard, unless the wait is over.
    fn join(self: Pin<&mut Self>, mut waker: Waker) -> Poll<Now> {
        let (sequence, index, seen) = (self.sequence, self.index, self.seen);
        let mut shard = sequence.shards.get(index).lock();
        let mut node = self.project().node;
        if let Some(registered) = shard.get_mut(node.as_mut()) {
            mem::swap(registered, &mut waker);
            drop(shard);
            // The previous waker is dropped after the lock.
            drop(waker);
            return Poll::Pending;
        }
        // An earlier wait of this node was released.
        let _ = node.as_mut().take_verdict();
        let now = sequence.word.start_waiting(index);
        if now.is_after(seen) {
            if shard.is_empty() {
                sequence.word.stop_waiting(index);
            }
            // The lock is released before `waker`, a parameter, is dropped.
            return Poll::Ready(now);
        }
        shard.push_back(node, waker);
        Poll::Pending
    }

    /// Removes the node from the shard, unless it was released.
    #[cold]
    fn leave(self: Pin<&mut Self>) {
        let mut this = self.project();
        if this.node.as_mut().take_verdict().is_some() {
            return;
        }
        let mut shard = this.sequence.shards.get(*this.index).lock();
        let waker = shard.remove(this.node);
        if waker.is_some() && shard.is_empty() {
            this.sequence.word.stop_waiting(*this.index);
        }
        // The lock is released before the waker is dropped.
        drop(shard);
    }
}

impl Future for Changed<'_> {
    type Output = Now;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Now> {
        let now = self.sequence.now();
        if now.is_after(self.seen) {
            return Poll::Ready(now);
        }
        if !self.node.is_idle() {
            let this = self.as_mut().project();
            let mut shard = this.sequence.shards.get(*this.index).lock();
            if let Some(waker) = shard.get_mut(this.node) {
                if waker.will_wake(cx.waker()) {
                    return Poll::Pending;
                }
            }
        }
        self.join(cx.waker().clone())
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
