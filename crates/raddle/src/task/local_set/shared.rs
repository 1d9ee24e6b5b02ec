//! The side of a set that any thread may touch.

use std::collections::VecDeque;
use std::task::Waker;

use raddle_std::sync::atomic::{AtomicBool, Ordering};
use raddle_std::sync::{Condvar, Mutex, Rank};
use raddle_task::{LocalRunnable, ScheduleLocal};
use slab::Slab;

use super::local::{self, Pushed};

/// Where a task goes that is woken while its set is not at hand, and whom to
/// call for it.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Set when a task has panicked; cleared by the thread of the set, which
    /// ran it.
    panicked: AtomicBool,
    /// A task has arrived for the thread that waits in `wait`.
    arrived: Condvar,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            state: Mutex::ranked(Rank::leaf("local set"), State::default()),
            panicked: AtomicBool::new(false),
            arrived: Condvar::new(),
        }
    }
}

#[derive(Default)]
struct State {
    arrived: VecDeque<LocalRunnable>,
    /// Who polls the set, each at its place: the waker of one that waits.
    drivers: Slab<Option<Waker>>,
    /// Set while a thread is in `wait`.
    waiting: bool,
}

impl ScheduleLocal for Shared {
    fn schedule(&self, task: LocalRunnable) {
        match local::push(self, task) {
            Pushed::Seen => {}
            Pushed::Unseen => self.call(),
            Pushed::Elsewhere(task) => self.push(task),
        }
    }

    fn panicked(&self) {
        // ORDERING: read by this very thread.
        self.panicked.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// Whether a task has panicked since the last call.
    pub(super) fn take_panicked(&self) -> bool {
        // ORDERING: written by this very thread.
        let panicked = self.panicked.load(Ordering::Relaxed);
        if panicked {
            // ORDERING: as above.
            self.panicked.store(false, Ordering::Relaxed);
        }
        panicked
    }

    /// A place for one more driver.
    pub(super) fn join(&self) -> usize {
        self.state.lock().drivers.insert(None)
    }

    /// Gives a driver's place up.
    pub(super) fn leave(&self, place: usize) {
        // The lock is gone when the waker is dropped: that is the user's code.
        let waker = self.state.lock().drivers.remove(place);
        drop(waker);
    }

    /// Sees to it that the next [`call`](Self::call) wakes this driver.
    pub(super) fn register(&self, place: usize, waker: &Waker) {
        let registered = self.state.lock().drivers[place]
            .as_ref()
            .is_some_and(|former| former.will_wake(waker));
        if registered {
            return;
        }
        // Cloned and dropped without the lock.
        let waker = waker.clone();
        let former = self.state.lock().drivers[place].replace(waker);
        drop(former);
    }

    /// Wakes every driver that waits.
    pub(super) fn call(&self) {
        while let Some(waker) = self.waiting_driver() {
            waker.wake();
        }
    }

    fn waiting_driver(&self) -> Option<Waker> {
        self.state.lock().waiting_driver()
    }

    /// Takes a task that is due, and calls the drivers for it.
    fn push(&self, task: LocalRunnable) {
        // A panic would leak the task, for which the end of the set waits; so the order
        // of locks is checked after the push.
        let mut state = self.state.lock_unordered();
        state.arrived.push_back(task);
        if state.waiting {
            self.arrived.notify_one();
        }
        let waker = state.waiting_driver();
        drop(state);
        self.state.check_order();
        if let Some(waker) = waker {
            waker.wake();
            self.call();
        }
    }

    /// Whether a task has arrived.
    pub(super) fn has_arrived(&self) -> bool {
        !self.state.lock().arrived.is_empty()
    }

    /// Puts the tasks that have arrived behind those in `due`.
    pub(super) fn take(&self, due: &mut VecDeque<LocalRunnable>) {
        due.append(&mut self.state.lock().arrived);
    }

    /// Blocks until a task has arrived.
    pub(super) fn wait(&self) {
        let mut state = self.state.lock();
        state.waiting = true;
        while state.arrived.is_empty() {
            state = self.arrived.wait(state);
        }
        state.waiting = false;
    }
}

impl State {
    fn waiting_driver(&mut self) -> Option<Waker> {
        self.drivers.iter_mut().find_map(|(_, waker)| waker.take())
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
