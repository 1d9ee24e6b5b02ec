//! Counted items.

use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

use raddle_queue::Pointer;

/// Counts the items that exist.
#[derive(Clone, Debug, Default)]
pub(super) struct Live(Rc<Cell<usize>>);

impl Live {
    pub(super) fn item(&self, id: u32) -> Item {
        self.0.set(self.0.get() + 1);
        Item(Box::new(Entry {
            id,
            live: self.clone(),
        }))
    }

    pub(super) fn count(&self) -> usize {
        self.0.get()
    }
}

#[derive(Debug)]
struct Entry {
    id: u32,
    live: Live,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let before = self.live.0.get();
        self.live
            .0
            .set(before.checked_sub(1).expect("dropped twice"));
    }
}

#[derive(Debug)]
pub(super) struct Item(Box<Entry>);

impl Item {
    pub(super) fn id(self) -> u32 {
        self.0.id
    }
}

// SAFETY: the conversions of the box, which are inverses and run no code of its value.
unsafe impl Pointer for Item {
    fn into_ptr(self) -> NonNull<()> {
        self.0.into_ptr()
    }

    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        // SAFETY: the caller passes what `into_ptr` returned, once.
        Self(unsafe { Box::from_ptr(ptr) })
    }
}
