//! The tasks of a local list that other threads have woken.

use std::collections::VecDeque;
use std::fmt;
use std::task::Waker;

use raddle_primitives::sync::{Condvar, Mutex, Rank};
use slab::Slab;

use crate::LocalRunnable;

/// A queue for the thread of a [`LocalList`](crate::LocalList), to which any thread can push, and
/// the pollers to wake on a push: the futures that poll the list's tasks.
///
/// A poller first registers its waker and then takes the tasks. A push first adds the task and then
/// takes the wakers. So the poller takes the task, or the push wakes the poller.
///
/// ```
/// use std::collections::VecDeque;
/// use std::sync::Arc;
/// use std::task::Waker;
/// use raddle_task::{Arrivals, LocalList, LocalRunnable, ScheduleLocal};
///
/// #[derive(Default)]
/// struct Shared(Arrivals);
///
/// impl ScheduleLocal for Shared {
///     fn schedule(&self, task: LocalRunnable) {
///         self.0.push(task);
///     }
/// }
///
/// let (list, shared) = (LocalList::new(), Arc::new(Shared::default()));
/// let (task, handle) = list.spawn(async {}, shared.clone());
/// let poller = shared.0.join();
/// shared.0.push(task);
/// shared.0.register(poller, Waker::noop());
/// let mut due = VecDeque::new();
/// shared.0.take(&mut due);
/// for task in due {
///     list.run(task);
/// }
/// assert!(handle.is_finished());
/// shared.0.leave(poller);
/// ```
pub struct Arrivals {
    state: Mutex<State>,
    /// Notifies the thread that blocks in `wait` that a task has arrived.
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    arrived: VecDeque<LocalRunnable>,
    /// The wakers of the waiting pollers, each at the place of its poller.
    pollers: Slab<Option<Waker>>,
    /// Set while a thread blocks in `wait`.
    waiting: bool,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            state: Mutex::ranked(Rank::leaf("arrivals of local tasks"), State::default()),
            arrived: Condvar::new(),
        }
    }
}

impl Arrivals {
    /// Adds a poller, and returns its place.
    pub fn join(&self) -> usize {
        self.state.lock().pollers.insert(None)
    }

    /// Removes the poller at `place`. For tasks that it leaves in the queue, the push has woken the
    /// other pollers; for tasks that it has already taken, it must [wake](Self::wake_pollers)
    /// them.
    ///
    /// # Panics
    ///
    /// Panics if no poller has this place.
    #[track_caller]
    pub fn leave(&self, place: usize) {
        // The waker is dropped after the lock is released, because that is user code.
        let waker = self.state.lock().pollers.remove(place);
        drop(waker);
    }

    /// Registers a poller's waker, which the next push or [`wake_pollers`](Self::wake_pollers)
    /// wakes, once.
    ///
    /// # Panics
    ///
    /// Panics if no poller has this place.
    #[track_caller]
    pub fn register(&self, place: usize, waker: &Waker) {
        let registered = self.state.lock().pollers[place]
            .as_ref()
            .is_some_and(|former| former.will_wake(waker));
        if registered {
            return;
        }
        // Clone and drop wakers without the lock.
        let waker = waker.clone();
        let former = self.state.lock().pollers[place].replace(waker);
        drop(former);
    }

    /// Wakes every poller that has registered its waker.
    pub fn wake_pollers(&self) {
        while let Some(waker) = self.waiting_poller() {
            waker.wake();
        }
    }

    fn waiting_poller(&self) -> Option<Waker> {
        self.state.lock().waiting_poller()
    }

    /// Adds a task that is ready to run, and wakes the pollers.
    pub fn push(&self, task: LocalRunnable) {
        // A panic before the push would leak the task, and the shutdown of the set would wait for
        // it. So the order of locks is checked after the push.
        let mut state = self.state.lock_unordered();
        state.arrived.push_back(task);
        if state.waiting {
            self.arrived.notify_one();
        }
        let waker = state.waiting_poller();
        drop(state);
        self.state.check_order();
        if let Some(waker) = waker {
            waker.wake();
            self.wake_pollers();
        }
    }

    /// Appends the tasks that have arrived to `due`.
    pub fn take(&self, due: &mut VecDeque<LocalRunnable>) {
        due.append(&mut self.state.lock().arrived);
    }

    /// Blocks the thread of the list until a task has arrived.
    pub fn wait(&self) {
        let mut state = self.state.lock();
        state.waiting = true;
        while state.arrived.is_empty() {
            state = self.arrived.wait(state);
        }
        state.waiting = false;
    }
}

impl State {
    fn waiting_poller(&mut self) -> Option<Waker> {
        self.pollers.iter_mut().find_map(|(_, waker)| waker.take())
    }
}

impl fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Arrivals")
            .field("arrived", &state.arrived.len())
            .field("pollers", &state.pollers.len())
            .finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
