//! A count that only grows, and the tasks that wait until it does.

mod word;

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle_std::CachePadded;
use raddle_std::sync::{Mutex, MutexGuard, Rank};
use slab::Slab;

use self::word::Word;
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
#[derive(Debug)]
struct Crowd {
    /// How often it has been woken: a place is good in its own round.
    round: u64,
    wakers: Slab<Waker>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    round: u64,
    key: usize,
}

impl Crowd {
    /// The key of a place that is still in the crowd.
    fn find(&self, place: Option<Place>) -> Option<usize> {
        place
            .filter(|place| place.round == self.round)
            .map(|place| place.key)
    }
}

impl Sequence {
    pub(crate) fn new() -> Self {
        Self {
            word: CachePadded::new(Word::new()),
            crowds: std::array::from_fn(|_| {
                CachePadded::new(Mutex::ranked(
                    Rank::leaf("crowd of a sequence"),
                    Crowd {
                        round: 0,
                        wakers: Slab::new(),
                    },
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
            crowd.round += 1;
            for waker in crowd.wakers.drain() {
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
            place: None,
        }
    }
}

/// The future of [`Sequence::changed`]. It takes no part in the poll budget:
/// its callers do.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Changed<'a> {
    sequence: &'a Sequence,
    seen: u64,
    index: usize,
    place: Option<Place>,
}

impl Changed<'_> {
    fn crowd(&self) -> MutexGuard<'_, Crowd> {
        self.sequence.crowds[self.index].lock()
    }

    /// Ready if it need not wait.
    fn check(&self, now: Now) -> Poll<Now> {
        if now.count != self.seen || now.closed {
            Poll::Ready(now)
        } else {
            Poll::Pending
        }
    }

    /// Goes into the crowd, unless it need not wait.
    fn join(&mut self, waker: Waker) -> Poll<Now> {
        let mut crowd = self.crowd();
        if let Some(key) = crowd.find(self.place) {
            let old = mem::replace(&mut crowd.wakers[key], waker);
            drop(crowd);
            drop(old);
            return Poll::Pending;
        }
        let word = &self.sequence.word;
        if let Poll::Ready(now) = self.check(word.start_waiting(self.index)) {
            if crowd.wakers.is_empty() {
                word.stop_waiting(self.index);
            }
            drop(crowd);
            return Poll::Ready(now);
        }
        let place = Place {
            round: crowd.round,
            key: crowd.wakers.insert(waker),
        };
        drop(crowd);
        self.place = Some(place);
        Poll::Pending
    }
}

impl Future for Changed<'_> {
    type Output = Now;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Now> {
        if let Poll::Ready(now) = self.check(self.sequence.now()) {
            return Poll::Ready(now);
        }
        if self.place.is_some() {
            let crowd = self.crowd();
            if let Some(key) = crowd.find(self.place)
                && crowd.wakers[key].will_wake(cx.waker())
            {
                return Poll::Pending;
            }
        }
        self.join(cx.waker().clone())
    }
}

impl Drop for Changed<'_> {
    fn drop(&mut self) {
        if self.place.is_none() || !self.sequence.word.is_waiting(self.index) {
            return;
        }
        let mut crowd = self.crowd();
        let Some(key) = crowd.find(self.place) else {
            return;
        };
        let waker = crowd.wakers.remove(key);
        if crowd.wakers.is_empty() {
            self.sequence.word.stop_waiting(self.index);
        }
        drop(crowd);
        drop(waker);
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
