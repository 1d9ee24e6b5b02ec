//! A condition variable whose timed waits end by a notification or a time-out.

use std::collections::VecDeque;
use std::sync::{Mutex as StdMutex, MutexGuard as StdMutexGuard, PoisonError};
use std::time::Duration;

use loom::thread::{self, Thread};

use super::sync::{Mutex, MutexGuard};

/// A condition variable that notifies its waiters in the order of their waits.
///
/// loom's condition variable has no timed wait. Here each waiter is in a list, and each change of
/// the list is one operation of the model. A timed wait ends when its waiter leaves the list: a
/// notification removes it, or it removes itself when the time is over.
#[derive(Debug, Default)]
pub struct Condvar {
    /// Orders the operations. No thread waits on it: notifying it only gives loom a point to switch
    /// threads, which depends on the other operations here.
    order: loom::sync::Condvar,
    /// Changed only right after an operation on `order`, with no other switch point in between.
    waiters: StdMutex<Waiters>,
}

#[derive(Debug, Default)]
struct Waiters {
    list: VecDeque<Waiter>,
    next_number: u64,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    /// The thread to unpark, unless its wait has a time limit.
    parked: Option<Thread>,
}

impl Condvar {
    /// Makes a condition variable that no thread waits on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Releases the lock, waits for a notification and takes the lock again.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let mutex = self.enlist(guard, Some(thread::current())).0;
        thread::park();
        mutex.lock()
    }

    /// Releases the lock, waits for a notification or until the time is over, and takes the lock
    /// again. The boolean is true if the time was over.
    ///
    /// loom has no clock: the time may be over at any moment after another thread has made a step,
    /// even if a notification follows before the lock is taken again.
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        _timeout: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        let (mutex, number) = self.enlist(guard, None);
        // Yields, so that a loop of timed waits ends: the other threads make progress.
        thread::yield_now();
        let mut waiters = self.waiters();
        let place = waiters.list.iter().position(|one| one.number == number);
        let timed_out = place.is_some_and(|place| waiters.list.remove(place).is_some());
        drop(waiters);
        (mutex.lock(), timed_out)
    }

    /// Wakes the thread that has waited longest.
    #[track_caller]
    pub fn notify_one(&self) {
        let waiter = self.waiters().list.pop_front();
        unpark(waiter);
    }

    /// Wakes every waiting thread.
    #[track_caller]
    pub fn notify_all(&self) {
        let waiters = std::mem::take(&mut self.waiters().list);
        unpark(waiters);
    }

    /// Adds a waiter and releases the lock, with no switch point in between or after. Returns the
    /// mutex, to be taken again, and the number of the waiter.
    #[track_caller]
    fn enlist<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        parked: Option<Thread>,
    ) -> (&'a Mutex<T>, u64) {
        let mut waiters = self.waiters();
        let number = waiters.next_number;
        waiters.next_number += 1;
        waiters.list.push_back(Waiter { number, parked });
        (guard.release(), number)
    }

    /// Makes one operation of the model. The caller's change of the list is part of it.
    #[track_caller]
    fn waiters(&self) -> StdMutexGuard<'_, Waiters> {
        self.order.notify_one();
        // An execution that failed has poisoned the lock.
        let waiters = self.waiters.lock();
        waiters.unwrap_or_else(PoisonError::into_inner)
    }
}

fn unpark(waiters: impl IntoIterator<Item = Waiter>) {
    for thread in waiters.into_iter().filter_map(|waiter| waiter.parked) {
        thread.unpark();
    }
}
