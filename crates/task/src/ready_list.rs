//! The members of a set to poll: the keys whose wakers were woken.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use raddle_primitives::sync::{Mutex, Rank};

/// The keys of a set's members, in the order of their wakes. A key may be listed more than once, or
/// belong to a member that is gone; polling it then does no harm.
///
/// ```
/// use std::sync::Arc;
/// use std::task::{Context, Waker};
/// use raddle_task::ReadyList;
///
/// let list = Arc::new(ReadyList::default());
/// let waker = list.waker(7);
/// let cx = Context::from_waker(Waker::noop());
/// assert_eq!(list.pop_or_wait(&cx), None);
/// waker.wake();
/// assert_eq!(list.pop_or_wait(&cx), Some(7));
///
/// // Members that were just added have to be polled once.
/// list.push(8);
/// list.push(9);
/// assert_eq!((list.len(), list.pop()), (2, Some(8)));
/// list.clear();
/// assert!(list.is_empty());
/// ```
pub struct ReadyList {
    state: Mutex<State>,
}

impl Default for ReadyList {
    fn default() -> Self {
        Self {
            state: Mutex::ranked(Rank::leaf("ready members"), State::default()),
        }
    }
}

#[derive(Default)]
struct State {
    keys: VecDeque<usize>,
    /// The waker of the task that waits for a key.
    waiter: Option<Waker>,
}

/// The waker of one member. Waking it adds the member's key to the list.
struct Member {
    key: usize,
    list: Arc<ReadyList>,
}

impl fmt::Debug for ReadyList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyList")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl ReadyList {
    /// Returns a waker that adds `key` to the list.
    pub fn waker(self: &Arc<Self>, key: usize) -> Waker {
        let list = Arc::clone(self);
        Waker::from(Arc::new(Member { key, list }))
    }

    /// Returns the number of listed keys.
    pub fn len(&self) -> usize {
        self.state.lock().keys.len()
    }

    /// Returns whether no key is listed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes and returns the first key.
    pub fn pop(&self) -> Option<usize> {
        self.state.lock().keys.pop_front()
    }

    /// Removes and returns the first key. If there is none, the next key that is added wakes `cx`.
    pub fn pop_or_wait(&self, cx: &Context<'_>) -> Option<usize> {
        {
            let mut state = self.state.lock();
            if let Some(key) = state.keys.pop_front() {
                return Some(key);
            }
            let waiter = state.waiter.as_ref();
            if waiter.is_some_and(|waiter| waiter.will_wake(cx.waker())) {
                return None;
            }
        }
        // Wakers are user code: they are cloned and dropped without the lock.
        let waiter = cx.waker().clone();
        let mut state = self.state.lock();
        let former = state.waiter.replace(waiter);
        let key = state.keys.pop_front();
        drop(state);
        drop(former);
        key
    }

    /// Removes all keys.
    pub fn clear(&self) {
        self.state.lock().keys.clear();
    }

    /// Frees memory that is not used, except that for `capacity` keys.
    pub(crate) fn release_unused(&self, capacity: usize) {
        self.state.lock().keys.shrink_to(capacity);
    }

    /// Adds `key` and wakes the waiting task.
    pub fn push(&self, key: usize) {
        let mut state = self.state.lock();
        state.keys.push_back(key);
        let waiter = state.waiter.take();
        drop(state);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl Wake for Member {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.list.push(self.key);
    }
}
