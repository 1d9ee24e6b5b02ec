//! Items for the models of this crate. Each records whether it was taken and dropped.
//!
//! An item is a pointer into an arena that outlives every queue, so taking an item twice is
//! reported and does no harm. The content is written before the item is queued, and read after it
//! is taken. If a queue does not order these two accesses, the model reports a race.

use std::fmt;
use std::ptr::NonNull;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::Arc;
use raddle_queue::Pointer;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Idle,
    Queued,
    Taken,
}

#[derive(Debug)]
struct Content {
    id: usize,
    state: UnsafeCell<State>,
}

/// The items of one execution.
#[derive(Clone, Debug)]
pub(crate) struct Arena(Arc<Box<[Content]>>);

// SAFETY: only the holder of an item accesses its content; the model reports two holders.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// Creates `count` items.
    pub(crate) fn new(count: usize) -> Self {
        let content = |id| Content {
            id,
            state: UnsafeCell::new(State::Idle),
        };
        Self(Arc::new((0..count).map(content).collect()))
    }

    /// Returns item `id`, written and ready to be queued. Call it once per item.
    pub(crate) fn item(&self, id: usize) -> Item {
        let item = self.unwritten(id);
        item.write();
        item
    }

    /// Returns item `id`, which is not written yet.
    pub(crate) fn unwritten(&self, id: usize) -> Item {
        Item {
            content: NonNull::from(&self.0[id]),
        }
    }

    /// Checks that each item was taken, after all threads have been joined.
    pub(crate) fn check(self) {
        for content in self.0.iter() {
            // SAFETY: no thread writes now.
            let state = content.state.with(|state| unsafe { *state });
            assert_eq!(state, State::Taken, "item {} was lost", content.id);
        }
    }
}

/// An item of an [`Arena`]. The arena must outlive it.
pub(crate) struct Item {
    content: NonNull<Content>,
}

// SAFETY: see `Arena`.
unsafe impl Send for Item {}

impl Item {
    fn content(&self) -> &Content {
        // SAFETY: the arena outlives its items.
        unsafe { self.content.as_ref() }
    }

    /// Writes the item. The thread that queues it calls this first.
    pub(crate) fn write(&self) {
        self.content().state.with_mut(|state| {
            // SAFETY: the item is not queued yet; the model checks it.
            let state = unsafe { &mut *state };
            assert_eq!(*state, State::Idle);
            *state = State::Queued;
        });
    }

    /// Takes the item. The thread that took it from a queue calls this. Returns its number.
    pub(crate) fn take(self) -> usize {
        let id = self.content().id;
        self.content().state.with_mut(|state| {
            // SAFETY: only one thread has taken the item; the model checks it.
            let state = unsafe { &mut *state };
            assert_eq!(*state, State::Queued, "item {id} was taken twice");
            *state = State::Taken;
        });
        id
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Item({})", self.content().id)
    }
}

// SAFETY: `from_ptr` reverses the cast of `into_ptr`.
unsafe impl Pointer for Item {
    fn into_ptr(self) -> NonNull<()> {
        self.content.cast()
    }

    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        Self {
            content: ptr.cast(),
        }
    }
}
