//! A count that only grows, and the tasks that wait until it does.

mod word;

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;
use raddle_primitives::CachePadded;
use raddle_primitives::sync::{Mutex, Rank};

use self::word::Word;
use crate::wait_list::{Node, WaitList};
use crate::wakers::Wakers;

pub(crate) use self::word::{Now, Waiting};

/// Over how many locks those who wait are spread.
const CROWDS: usize = if cfg!(raddle_loom) { 2 } else { 8 };

/// A count, at first 0, that [`advance`](Self::advance) raises by one, until it
/// is [closed](Self::close). Whoever waits for it is woken by the next advance.
///
/// One word tells the count, whether it is closed, and in which *crowds*
/// somebody waits; so an advance is one operation on it if nobody does.
///
/// The word and each crowd have cache lines of their own: others look at the word
/// while those of one crowd go in and out of it.
#[derive(Debug)]
pub(crate) struct Sequence {
    word: CachePadded<Word>,
    crowds: [CachePadded<Mutex<Crowd>>; CROWDS],
}

/// Some of those who wait, all woken together.
type Crowd = WaitList<Waker, ()>;

impl Sequence {
    pub(crate) fn new() -> Self {
        Self {
            word: CachePadded::new(Word::new()),
            crowds: std::array::from_fn(|_| {
                CachePadded::new(Mutex::ranked(
                    Rank::leaf("crowd of a sequence"),
                    Crowd::new(),
                ))
            }),
        }
    }

    /// The count, and whether it is closed. What was done before the advance
    /// that made it is visible afterwards.
    pub(crate) fn now(&self) -> Now {
        self.word.load()
    }

    /// Raises the count by one. Whoever waits has to be woken then: a step of
    /// its own, so that a lock of the caller can be released in between.
    pub(crate) fn advance(&self) -> Waiting {
        self.word.advance()
    }

    /// Says that the count grows no more.
    pub(crate) fn close(&self) -> Waiting {
        self.word.close()
    }

    /// Wakes the crowds in which somebody waited.
    pub(crate) fn wake(&self, waiting: Waiting) {
        if !waiting.is_empty() {
            self.wake_crowds(waiting);
        }
    }

    fn wake_crowds(&self, waiting: Waiting) {
        let mut wakers = Wakers::default();
        for index in waiting.crowds() {
            let mut crowd = self.crowds[index].lock();
            while let Some(waker) = crowd.release_first(()) {
                wakers.push(waker);
            }
        }
        wakers.wake_all();
    }

    /// Waits until the count is not `seen`, or closed. Those who give different
    /// numbers for `spread` share no lock, as long as these are few.
    pub(crate) fn changed(&self, seen: u64, spread: usize) -> Changed<'_> {
        Changed {
            sequence: self,
            seen,
            index: spread % CROWDS,
            node: Node::new(),
        }
    }
}

pin_project! {
    /// The future of [`Sequence::changed`]. It takes no part in the poll budget:
    /// its callers do.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct Changed<'a> {
        sequence: &'a Sequence,
        seen: u64,
        index: usize,
        // In the crowd, unless it is idle; released by an advance.
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
    /// Goes into the crowd, unless it need not wait.
    fn join(self: Pin<&mut Self>, mut waker: Waker) -> Poll<Now> {
        let (sequence, index, seen) = (self.sequence, self.index, self.seen);
        let mut crowd = sequence.crowds[index].lock();
        let mut node = self.project().node;
        if let Some(registered) = crowd.get_mut(node.as_mut()) {
            mem::swap(registered, &mut waker);
            drop(crowd);
            // The former waker is dropped after the lock.
            drop(waker);
            return Poll::Pending;
        }
        // A former wait was released.
        let _ = node.as_mut().take_verdict();
        let now = sequence.word.start_waiting(index);
        if now.is_after(seen) {
            if crowd.is_empty() {
                sequence.word.stop_waiting(index);
            }
            drop(crowd);
            return Poll::Ready(now);
        }
        crowd.push_back(node, waker);
        Poll::Pending
    }

    /// Leaves the crowd, unless it was released.
    #[cold]
    fn leave(self: Pin<&mut Self>) {
        let mut this = self.project();
        if this.node.as_mut().take_verdict().is_some() {
            return;
        }
        let mut crowd = this.sequence.crowds[*this.index].lock();
        let waker = crowd.remove(this.node);
        if waker.is_some() && crowd.is_empty() {
            this.sequence.word.stop_waiting(*this.index);
        }
        drop(crowd);
        drop(waker);
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
            let mut crowd = this.sequence.crowds[*this.index].lock();
            if let Some(waker) = crowd.get_mut(this.node)
                && waker.will_wake(cx.waker())
            {
                return Poll::Pending;
            }
        }
        self.join(cx.waker().clone())
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
