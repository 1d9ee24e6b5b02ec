//! The waiter shards of a `Sequence`, which are allocated when they are needed.

use std::fmt;
use std::ptr;

use raddle_primitives::CachePadded;
use raddle_primitives::sync::atomic::{AtomicPtr, Ordering};
use raddle_primitives::sync::{Mutex, Rank};
use std::task::Waker;

use super::SHARDS;
use crate::wait_list::WaitList;

/// Waiters under a lock of their own, which are all woken together.
type Shard = CachePadded<Mutex<WaitList<Waker, ()>>>;

/// A pointer to each shard, null until the shard is needed. A pointer that is set does not change
/// before the drop.
pub(super) struct Shards([AtomicPtr<Shard>; SHARDS]);

impl Shards {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())))
    }

    /// Returns a shard, and allocates it if that has not happened. All callers get the same one.
    #[inline]
    pub(super) fn get(&self, index: usize) -> &Shard {
        // ORDERING: Acquire pairs with `make`: the shard is initialised. A null may be out of date;
        // the exchange in `make` is not.
        let shard = self.0[index].load(Ordering::Acquire);
        if shard.is_null() {
            return self.make(index);
        }
        // SAFETY: the shard was allocated by `make`, and is freed by the drop only.
        unsafe { &*shard }
    }

    #[cold]
    fn make(&self, index: usize) -> &Shard {
        let list = Mutex::ranked(Rank::leaf("shard of a sequence"), WaitList::new());
        let new = Box::into_raw(Box::new(CachePadded::new(list)));
        // ORDERING: Release pairs with the load in `get`. Acquire on failure as there.
        let exchanged = self.0[index].compare_exchange(
            ptr::null_mut(),
            new,
            Ordering::Release,
            Ordering::Acquire,
        );
        match exchanged {
            // SAFETY: as in `get`.
            Ok(_) => unsafe { &*new },
            Err(other) => {
                // SAFETY: no other thread has seen the pointer, which was made from a box above.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as in `get`.
                unsafe { &*other }
            }
        }
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        for shard in &self.0 {
            // ORDERING: Acquire pairs with `make`. The sequence is not shared any more.
            let shard = shard.swap(ptr::null_mut(), Ordering::Acquire);
            if !shard.is_null() {
                // SAFETY: the pointer was made from a box, and is freed once.
                drop(unsafe { Box::from_raw(shard) });
            }
        }
    }
}

// `AtomicPtr` is `Send` and `Sync` whatever it points to, and the shards are used on all threads.
const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Shard>();
};

impl fmt::Debug for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shards")
    }
}
