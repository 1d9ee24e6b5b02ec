//! Permits and those who wait for them: what the locks and the bounded channel
//! count on.

use std::mem;
use std::task::{Context, Poll, Waker, ready};

use raddle_std::sync::{Mutex, MutexGuard, Rank};

use super::acquire::Acquire;
use super::returned::{Returned, Returns};
use super::state::{Give, MAX_PERMITS, State, Take, too_many};
use crate::wait_list::{Marks, Told, WaitList};
use crate::wakers::Wakers;

/// A fair counting semaphore without guards: whoever acquires permits releases
/// them.
///
/// Permits are taken from the state. They come back there too, or apart from it, as `R` says.
#[derive(Debug)]
pub(crate) struct Core<R = ()> {
    state: State,
    marks: Marks,
    waiters: Mutex<WaitList<Waiter>>,
    returned: R,
}

type Waiters<'a> = MutexGuard<'a, WaitList<Waiter>>;

/// The semaphore is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed;

/// Why permits were not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There are too few, or somebody waits for them.
    NoPermits,
    /// There will be none.
    Closed,
}

#[derive(Debug)]
struct Waiter {
    permits: usize,
    turn: Turn,
}

/// How far a waiter has come.
#[derive(Debug)]
enum Turn {
    /// It is queued, and this wakes it.
    Waiting(Waker),
    /// It has its permits, and is no longer queued.
    Served,
    /// The semaphore was closed before its turn; it is no longer queued.
    Closed,
}

/// One wait for permits, from its first poll until it is ready or abandoned.
#[derive(Debug, Default)]
pub(crate) struct Place(Option<usize>);

impl Core {
    /// A semaphore with `permits`.
    ///
    /// # Panics
    ///
    /// If those are more than [`MAX_PERMITS`].
    #[cfg(not(raddle_loom))]
    #[track_caller]
    pub(crate) const fn new(permits: usize) -> Self {
        if permits > MAX_PERMITS {
            too_many();
        }
        Self {
            state: State::new(permits),
            marks: Marks::new(),
            waiters: Mutex::ranked(Rank::leaf("waiters of a semaphore"), WaitList::new()),
            returned: (),
        }
    }

    /// The same in a model, whose primitives have no constants.
    #[cfg(raddle_loom)]
    pub(crate) fn new(permits: usize) -> Self {
        if permits > MAX_PERMITS {
            too_many();
        }
        Self {
            state: State::new(permits),
            marks: Marks::new(),
            waiters: Mutex::ranked(Rank::leaf("waiters of a semaphore"), WaitList::new()),
            returned: (),
        }
    }
}

impl Core<Returned> {
    /// A semaphore with `permits`, at most [`MAX_PERMITS`], that come back apart.
    pub(crate) fn with_returned(permits: usize) -> Self {
        debug_assert!(permits <= MAX_PERMITS, "the caller checks it");
        Self {
            state: State::new(permits),
            marks: Marks::new(),
            waiters: Mutex::ranked(Rank::leaf("waiters of a semaphore"), WaitList::new()),
            returned: Returned::new(),
        }
    }

    /// Gives permits back.
    #[inline]
    pub(crate) fn give_back(&self, permits: usize) {
        if !self.returned.give(permits) {
            self.release_slow(permits);
        }
    }
}

impl<R: Returns> Core<R> {
    /// The permits that nobody has and nobody waits for. Those that come and go meanwhile may
    /// count twice or not at all, unless the semaphore is closed: then none is apart.
    pub(crate) fn available(&self) -> usize {
        self.state.load().available() + self.returned.permits()
    }

    /// Whether [`close`](Self::close) was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.load().is_closed()
    }

    /// Takes permits, if there are as many and nobody waits.
    #[inline]
    pub(crate) fn try_acquire(&self, permits: usize) -> Result<(), Refused> {
        let taken = match self.take(permits) {
            // They may be on their way from where they came back.
            Take::Short if R::IS_APART => self.take_moved(permits),
            taken => taken,
        };
        match taken {
            Take::Taken => Ok(()),
            Take::Short => Err(Refused::NoPermits),
            Take::Closed => Err(Refused::Closed),
        }
    }

    /// As [`try_acquire`](Self::try_acquire), but may find too few although there are enough.
    #[inline]
    fn take(&self, permits: usize) -> Take {
        match self.state.take(permits) {
            // They came back while nobody waited, so none who waits is overtaken.
            Take::Short if self.returned.take(permits) => Take::Taken,
            Take::Short if self.returned.permits() != 0 => self.take_moved(permits),
            taken => taken,
        }
    }

    /// Takes permits from the state, where it puts those that have come back. Under the lock: so nobody
    /// begins to wait for them meanwhile, and nobody who looks under it finds them in neither place.
    fn take_moved(&self, permits: usize) -> Take {
        let _waiters = self.waiters.lock();
        let mut taken = self.state.take(permits);
        while taken == Take::Short && self.returned.permits() != 0 {
            let given = self.state.give(self.returned.collect());
            debug_assert_eq!(given, Give::Given, "they would have gone to who waits");
            taken = self.state.take(permits);
        }
        taken
    }

    /// Waits for permits, in order of the first polls. Dropped before it is
    /// ready, it has taken none.
    #[inline]
    pub(crate) fn acquire(&self, permits: usize) -> Acquire<'_, R> {
        Acquire::new(self, permits)
    }

    /// As [`acquire`](Self::acquire), for futures that cannot borrow. Charged to
    /// the budget of the poll.
    ///
    /// `place` begins as the default and belongs to this semaphore and to
    /// `permits` until this is ready; to stop before, call
    /// [`abandon`](Self::abandon).
    #[inline]
    pub(crate) fn poll_acquire(
        &self,
        cx: &mut Context<'_>,
        permits: usize,
        place: &mut Place,
    ) -> Poll<Result<(), Closed>> {
        let coop = ready!(raddle_coop::poll_proceed(cx));
        let result = match place.0 {
            None => match self.take(permits) {
                Take::Taken => Poll::Ready(Ok(())),
                Take::Short => self.queue(cx, permits, place),
                Take::Closed => Poll::Ready(Err(Closed)),
            },
            Some(key) if self.marks.take(key) => {
                place.0 = None;
                Poll::Ready(self.accept(permits))
            }
            Some(key) => self.poll_queued(cx, key, permits, place),
        };
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
        place: &mut Place,
    ) -> Poll<Result<(), Closed>> {
        // Before the lock: cloning is the executor's code. It is dropped after
        // the lock, should it not be needed.
        let mut waker = Some(cx.waker().clone());
        let mut waiters = self.waiters.lock();
        match self.state.take_or_transition_to_awaited(permits) {
            Take::Taken => Poll::Ready(Ok(())),
            Take::Closed => Poll::Ready(Err(Closed)),
            Take::Short => {
                let returned = self.returned.transition_to_awaited();
                if let Some(waker) = waker.take() {
                    let turn = Turn::Waiting(waker);
                    place.0 = Some(self.marks.push_back(&mut waiters, Waiter { permits, turn }));
                }
                if returned != 0 {
                    // They came since the caller looked, and may be all it needs.
                    self.serve(waiters, returned);
                }
                Poll::Pending
            }
        }
    }

    #[cold]
    fn poll_queued(
        &self,
        cx: &mut Context<'_>,
        key: usize,
        permits: usize,
        place: &mut Place,
    ) -> Poll<Result<(), Closed>> {
        // A waker that is replaced is dropped after the lock.
        let mut waker = None;
        loop {
            let mut waiters = self.waiters.lock();
            let served = match &mut waiters.get_mut(key).turn {
                Turn::Waiting(old) if old.will_wake(cx.waker()) => return Poll::Pending,
                Turn::Waiting(old) => match &mut waker {
                    Some(new) => {
                        mem::swap(old, new);
                        return Poll::Pending;
                    }
                    None => {
                        drop(waiters);
                        waker = Some(cx.waker().clone());
                        continue;
                    }
                },
                Turn::Served => true,
                Turn::Closed => false,
            };
            waiters.remove(key);
            place.0 = None;
            drop(waiters);
            return Poll::Ready(if served {
                self.accept(permits)
            } else {
                Err(Closed)
            });
        }
    }

    /// Takes what a wait was served; or gives it back, if the semaphore was closed since.
    #[inline]
    fn accept(&self, permits: usize) -> Result<(), Closed> {
        if self.is_closed() {
            self.release(permits);
            return Err(Closed);
        }
        Ok(())
    }

    /// Ends a wait that is not ready: gives back what it was served, or lets
    /// the next in line move up. Without a wait it does nothing.
    #[inline]
    pub(crate) fn abandon(&self, place: &mut Place) {
        if let Some(key) = place.0.take() {
            self.abandon_queued(key);
        }
    }

    #[cold]
    fn abandon_queued(&self, key: usize) {
        let mut waiters = self.waiters.lock();
        let waiter = waiters.remove(key);
        match waiter.turn {
            Turn::Waiting(waker) => {
                // The waker is dropped after the service, also if that unwinds.
                let _waker = waker;
                self.serve(waiters, 0);
            }
            Turn::Served => {
                drop(waiters);
                self.release(waiter.permits);
            }
            Turn::Closed => {}
        }
    }

    /// Gives permits back, or adds new ones.
    ///
    /// # Panics
    ///
    /// If there would be more than [`MAX_PERMITS`].
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
            // The last of those who waited may be gone.
            Give::Given if self.is_closed() => {}
            Give::Given => self.returned.transition_to_quiet(),
        }
    }

    /// Refuses those who wait and all who come later. What is held can still be
    /// released.
    pub(crate) fn close(&self) {
        let waiters = self.waiters.lock();
        // So that one word tells whether all have come back; and first, so that none is taken from the
        // other once somebody may have seen that they have.
        let returned = self.returned.transition_to_awaited();
        self.state.transition_to_closed();
        match self.state.give(returned) {
            Give::Serve => self.serve(waiters, returned),
            Give::Given => {}
        }
    }

    /// Takes up to `permits` out of circulation, and returns how many.
    pub(crate) fn forget(&self, permits: usize) -> usize {
        self.state.forget(permits)
    }

    /// Serves those who wait with the permits in the word and `permits` more.
    fn serve(&self, mut waiters: Waiters<'_>, permits: usize) {
        let mut wakers = Wakers::default();
        self.serve_listed(&mut waiters, permits, &mut wakers);
        drop(waiters);
        wakers.wake_all();
    }

    /// Tells waiters that their turn has come. Under the lock.
    #[inline]
    fn serve_listed(&self, waiters: &mut WaitList<Waiter>, permits: usize, wakers: &mut Wakers) {
        let now = self.state.peek();
        if !now.has_waiters() {
            debug_assert_eq!(permits, 0, "they would have been in the word");
            return;
        }
        let mut permits = now.sum(permits);
        let mut told = Told::default();
        while let Some(key) = waiters.first() {
            let waiter = waiters.get_mut(key);
            if !now.is_closed() && waiter.permits > permits {
                break;
            }
            let turn = if now.is_closed() {
                Turn::Closed
            } else {
                permits -= waiter.permits;
                Turn::Served
            };
            if let Turn::Waiting(waker) = mem::replace(&mut waiter.turn, turn) {
                wakers.push(waker);
            }
            waiters.unqueue(key);
            if !now.is_closed() {
                told.add(key);
            }
        }
        self.state.settle(permits, !waiters.is_empty());
        // Now, so that whoever has its permits finds in the word what is left.
        self.marks.tell_all(told);
    }
}
