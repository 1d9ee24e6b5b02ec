//! The semaphore under the locks and the bounded channel: permits and their waiters.

use std::mem;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker, ready};

use raddle_primitives::sync::{Mutex, MutexGuard, Rank};

use super::acquire::Acquire;
use super::release_word::{ReleaseWord, SeparateWord};
use super::state::{Give, MAX_PERMITS, State, Take, too_many};
use crate::wait_list::{Node, WaitList};
use crate::wakers::Wakers;

/// A fair counting semaphore without guards: the code that acquires permits releases them.
///
/// Permits are taken from the state. They are returned to it too, or to a second word, as `R` says.
///
/// In this order a second word is on another cache line than the state.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Core<R = ()> {
    state: State,
    waiters: Mutex<WaitList<Waiter, Verdict>>,
    release_word: R,
}

// Words that start 64 bytes apart share no line.
#[cfg(all(target_pointer_width = "64", not(raddle_loom)))]
const _: () = {
    let word = std::mem::offset_of!(Core<SeparateWord>, release_word) + SeparateWord::OFFSET;
    assert!(word >= 64);
};

type Waiters<'a> = MutexGuard<'a, WaitList<Waiter, Verdict>>;

/// The semaphore is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed;

/// The reason why permits were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There are too few permits, or another waiter comes first.
    NoPermits,
    /// The semaphore is closed.
    Closed,
}

/// A waiter of the list.
#[derive(Debug)]
pub(super) struct Waiter {
    permits: usize,
    waker: Waker,
}

/// The end of a wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    /// The waiter has its permits.
    Served,
    /// The semaphore was closed before the waiter was served.
    Refused,
}

/// The node of one wait for permits: idle before it is queued, and after it is ready or abandoned.
pub(super) type Waiting = Node<Waiter, Verdict>;

impl Core {
    /// Makes a semaphore with `permits` permits.
    ///
    /// # Panics
    ///
    /// Panics if `permits` is more than [`MAX_PERMITS`].
    #[cfg(not(raddle_loom))]
    #[track_caller]
    pub(crate) const fn new(permits: usize) -> Self {
        if permits > MAX_PERMITS {
            too_many();
        }
        Self {
            state: State::new(permits),
            waiters: Mutex::ranked(Rank::leaf("waiters of a semaphore"), WaitList::new()),
            release_word: (),
        }
    }

    /// The same in a model, whose primitives have no `const` constructors.
    #[cfg(raddle_loom)]
    pub(crate) fn new(permits: usize) -> Self {
        if permits > MAX_PERMITS {
            too_many();
        }
        Self {
            state: State::new(permits),
            waiters: Mutex::ranked(Rank::leaf("waiters of a semaphore"), WaitList::new()),
            release_word: (),
        }
    }
}

impl Core<SeparateWord> {
    /// Makes a semaphore with `permits` permits, at most [`MAX_PERMITS`], which are returned to a
    /// second word.
    pub(crate) fn with_separate_word(permits: usize) -> Self {
        debug_assert!(permits <= MAX_PERMITS, "the caller checks it");
        Self {
            state: State::new(permits),
            waiters: Mutex::ranked(Rank::leaf("waiters of a semaphore"), WaitList::new()),
            release_word: SeparateWord::new(),
        }
    }

    /// Returns permits to the semaphore.
    #[inline]
    pub(crate) fn give_back(&self, permits: usize) {
        if !self.release_word.give(permits) {
            self.release_slow(permits);
        }
    }
}

impl<R> Drop for Core<R> {
    #[inline]
    fn drop(&mut self) {
        raddle_leaf::wait::object_dropped(ptr::from_ref(self).addr());
    }
}

impl<R: ReleaseWord> Core<R> {
    /// Returns the number of available permits: zero while there is a waiter. Permits that are
    /// acquired or released at the same time may count twice or not at all, unless the semaphore is
    /// closed.
    pub(crate) fn available(&self) -> usize {
        self.state.load().available() + self.release_word.permits()
    }

    /// Returns whether [`close`](Self::close) was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.load().is_closed()
    }

    /// Takes permits, if there are as many and there is no waiter.
    #[inline]
    pub(crate) fn try_acquire(&self, permits: usize) -> Result<(), Refused> {
        let taken = match self.take(permits) {
            // The permits may be between the two words, so it checks under the lock.
            Take::Short if R::IS_SEPARATE => self.take_moved(permits),
            taken => taken,
        };
        match taken {
            Take::Taken => Ok(()),
            Take::Short => Err(Refused::NoPermits),
            Take::Closed => Err(Refused::Closed),
        }
    }

    /// Like [`try_acquire`](Self::try_acquire), but may find too few although there are enough.
    #[inline]
    fn take(&self, permits: usize) -> Take {
        match self.state.take(permits) {
            // These permits were returned while there was no waiter, so no waiter is overtaken.
            Take::Short if self.release_word.take(permits) => Take::Taken,
            Take::Short if self.release_word.permits() != 0 => self.take_moved(permits),
            taken => taken,
        }
    }

    /// Takes permits from the state, after moving the returned ones there. Under the lock, so that
    /// no waiter is queued for them in the meantime, and no thread that checks under the lock finds
    /// them in neither word.
    fn take_moved(&self, permits: usize) -> Take {
        let _waiters = self.waiters.lock();
        let mut taken = self.state.take(permits);
        while taken == Take::Short && self.release_word.permits() != 0 {
            let given = self.state.give(self.release_word.collect());
            debug_assert_eq!(
                given,
                Give::Given,
                "with a waiter the second word holds no permits"
            );
            taken = self.state.take(permits);
        }
        taken
    }

    /// Waits for permits, in order of the first polls. A future that is dropped before it is ready
    /// takes none.
    #[inline]
    pub(crate) fn acquire(&self, permits: usize) -> Acquire<'_, R> {
        Acquire::new(self, permits)
    }

    /// Waits for permits in `waiting`, which belongs to this semaphore and to `permits` until this
    /// is ready; to stop before, call [`abandon`](Self::abandon). Charged to the budget of the
    /// poll.
    #[inline]
    pub(super) fn poll_acquire(
        &self,
        cx: &mut Context<'_>,
        permits: usize,
        waiting: Pin<&mut Waiting>,
    ) -> Poll<Result<(), Closed>> {
        let Some(coop) = raddle_leaf::coop::try_proceed() else {
            return self.poll_without_budget(cx, permits, waiting);
        };
        let result = self.poll_with_budget(cx, permits, waiting);
        if result.is_ready() {
            coop.made_progress();
        }
        result
    }

    #[inline]
    fn poll_with_budget(
        &self,
        cx: &mut Context<'_>,
        permits: usize,
        mut waiting: Pin<&mut Waiting>,
    ) -> Poll<Result<(), Closed>> {
        if waiting.is_idle() {
            return match self.take(permits) {
                Take::Taken => Poll::Ready(Ok(())),
                Take::Short => self.queue(cx, permits, waiting),
                Take::Closed => Poll::Ready(Err(Closed)),
            };
        }
        match waiting.as_mut().take_verdict() {
            Some(verdict) => Poll::Ready(self.accept(verdict, permits)),
            None => self.poll_queued(cx, permits, waiting),
        }
    }

    /// Polls for a task whose budget is used up. If the task has to wait for permits, it enters the
    /// wait list, so that it keeps its position and the release of permits wakes it; otherwise it
    /// yields. If permits come between the check and the lock, takes them without a unit of the
    /// budget.
    #[cold]
    fn poll_without_budget(
        &self,
        cx: &mut Context<'_>,
        permits: usize,
        waiting: Pin<&mut Waiting>,
    ) -> Poll<Result<(), Closed>> {
        let has_to_wait = || self.state.load().has_waiters() || self.available() < permits;
        if waiting.is_idle() && !self.is_closed() && has_to_wait() {
            return self.queue(cx, permits, waiting);
        }
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        let result = self.poll_with_budget(cx, permits, waiting);
        if result.is_ready() {
            coop.made_progress();
        }
        result
    }

    #[cold]
    fn queue(
        &self,
        cx: &mut Context<'_>,
        permits: usize,
        waiting: Pin<&mut Waiting>,
    ) -> Poll<Result<(), Closed>> {
        // Cloned before the lock, because cloning is the executor's code. If it is not needed, it
        // is dropped after the lock.
        let waker = cx.waker().clone();
        let mut waiters = self.waiters.lock();
        match self.state.take_or_transition_to_waiting(permits) {
            Take::Short => {}
            Take::Closed => return Poll::Ready(Err(Closed)),
            Take::Taken => return Poll::Ready(Ok(())),
        }
        let returned = self.release_word.transition_to_disabled();
        waiters.push_back(waiting, Waiter { permits, waker });
        if returned != 0 {
            // These permits were returned after the caller's check, and may suffice.
            self.serve(waiters, returned);
        }
        Poll::Pending
    }

    #[cold]
    fn poll_queued(
        &self,
        cx: &mut Context<'_>,
        permits: usize,
        mut waiting: Pin<&mut Waiting>,
    ) -> Poll<Result<(), Closed>> {
        // A waker that is replaced is dropped after the lock.
        let mut waker = None;
        loop {
            let mut waiters = self.waiters.lock();
            let Some(waiter) = waiters.get_mut(waiting.as_mut()) else {
                drop(waiters);
                let verdict = waiting.take_verdict();
                let verdict = verdict.expect("a waiter that is not in the list was released");
                return Poll::Ready(self.accept(verdict, permits));
            };
            if waiter.waker.will_wake(cx.waker()) {
                return Poll::Pending;
            }
            if let Some(new) = &mut waker {
                mem::swap(&mut waiter.waker, new);
                return Poll::Pending;
            }
            drop(waiters);
            waker = Some(cx.waker().clone());
        }
    }

    /// Accepts the permits that a wait was given, or releases them if the semaphore was closed
    /// since.
    #[inline]
    fn accept(&self, verdict: Verdict, permits: usize) -> Result<(), Closed> {
        match verdict {
            Verdict::Served if !self.is_closed() => Ok(()),
            Verdict::Served => {
                self.release(permits);
                Err(Closed)
            }
            Verdict::Refused => Err(Closed),
        }
    }

    /// Ends a wait that is not ready: releases the permits that it was given, or serves the waiters
    /// behind it. Does nothing if there is no wait.
    #[inline]
    pub(super) fn abandon(&self, permits: usize, waiting: Pin<&mut Waiting>) {
        if !waiting.is_idle() {
            self.abandon_queued(permits, waiting);
        }
    }

    #[cold]
    fn abandon_queued(&self, permits: usize, mut waiting: Pin<&mut Waiting>) {
        let mut verdict = waiting.as_mut().take_verdict();
        if verdict.is_none() {
            let mut waiters = self.waiters.lock();
            if let Some(waiter) = waiters.remove(waiting.as_mut()) {
                // The waker is dropped after `serve`, even if that unwinds.
                let _waker = waiter.waker;
                return self.serve(waiters, 0);
            }
            verdict = waiting.take_verdict();
        }
        if let Some(Verdict::Served) = verdict {
            self.release(permits);
        }
    }

    /// Returns permits to the semaphore, or adds new ones.
    ///
    /// # Panics
    ///
    /// Panics if there would be more than [`MAX_PERMITS`].
    #[inline]
    #[track_caller]
    pub(crate) fn release(&self, permits: usize) {
        if self.state.give(permits) == Give::Serve {
            self.release_slow(permits);
        }
    }

    #[cold]
    #[track_caller]
    fn release_slow(&self, permits: usize) {
        let waiters = self.waiters.lock();
        match self.state.give(permits) {
            Give::Serve => self.serve(waiters, permits),
            // The last waiter may have left.
            Give::Given if self.is_closed() => {}
            Give::Given => self.release_word.transition_to_enabled(),
        }
    }

    /// Refuses all present and later waiters. Permits that are held can still be released.
    pub(crate) fn close(&self) {
        let waiters = self.waiters.lock();
        // After this, the state alone shows whether all permits were returned. It comes before
        // `CLOSED` is set, so that no permit is taken from the second word once a thread may have
        // seen the close.
        let returned = self.release_word.transition_to_disabled();
        self.state.transition_to_closed();
        match self.state.give(returned) {
            Give::Serve => self.serve(waiters, returned),
            Give::Given => {}
        }
    }

    /// Removes up to `permits` permits for good, and returns their number.
    pub(crate) fn forget(&self, permits: usize) -> usize {
        self.state.forget(permits)
    }

    /// Serves the waiters with the permits in the word and `permits` more.
    #[track_caller]
    fn serve(&self, mut waiters: Waiters<'_>, permits: usize) {
        let mut wakers = Wakers::default();
        self.serve_listed(&mut waiters, permits, &mut wakers);
        drop(waiters);
        wakers.wake_all();
    }

    /// Releases the waiters that can be served. Under the lock.
    #[inline]
    #[track_caller]
    fn serve_listed(
        &self,
        waiters: &mut WaitList<Waiter, Verdict>,
        permits: usize,
        wakers: &mut Wakers,
    ) {
        let now = self.state.peek();
        debug_assert!(
            now.has_waiters(),
            "the caller has checked that there are waiters"
        );
        let verdict = match now.is_closed() {
            true => Verdict::Refused,
            false => Verdict::Served,
        };
        let mut permits = now.sum(permits);
        let mut released = 0;
        let mut some_stay = false;
        for waiter in waiters.items() {
            if let Verdict::Served = verdict {
                some_stay = waiter.permits > permits;
                if some_stay {
                    break;
                }
                permits -= waiter.permits;
            }
            released += 1;
        }
        // Stored first, so that a waiter that has its permits finds the remaining number in the
        // word.
        self.state.settle(permits, some_stay);
        for _ in 0..released {
            if let Some(waiter) = waiters.release_first(verdict) {
                wakers.push(waiter.waker);
            }
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
