//! The pages of one live list, as its thread sees them.

use std::cell::Cell;
use std::ptr::NonNull;

use super::ListId;
use super::page::{Page, SlotRef};
use super::word::ALL;
use crate::cell::Header;

/// The number of consecutive pages without a task that has left on another thread after which the
/// search stops.
const MAX_FRUITLESS_CHECKS: usize = 2;

/// Pages with free slots, and pages without.
///
/// A page that is empty is freed, unless it is the only one with free slots.
pub(super) struct Pages {
    open: Chain,
    full: Chain,
}

impl Pages {
    pub(super) fn new() -> Self {
        Self {
            open: Chain::default(),
            full: Chain::default(),
        }
    }

    /// Puts a task into a slot.
    #[inline]
    pub(super) fn put(&self, list: ListId, task: NonNull<Header>) -> SlotRef {
        let page = match self.open.first.get() {
            Some(page) => page,
            None => self.open_page(list),
        };
        let slot = Page::put(page, task);
        // SAFETY: the list has the page.
        if unsafe { page.as_ref() }.is_full() {
            self.open.remove(page);
            self.full.push(page);
        }
        slot
    }

    /// Returns a page with free slots, when no open page is known: a reclaimed or a new one.
    #[cold]
    fn open_page(&self, list: ListId) -> NonNull<Page> {
        self.reclaim();
        self.open.first.get().unwrap_or_else(|| {
            let page = Page::allocate(list);
            self.open.push(page);
            page
        })
    }

    /// Frees the slot of a task that has completed on the list's thread.
    #[inline]
    pub(super) fn take_back(&self, slot: SlotRef) {
        self.vacate(slot.page(), slot.bit());
    }

    /// Frees slots whose tasks have left on other threads. Checks pages in turn, and stops after a
    /// few pages without such slots.
    pub(super) fn reclaim(&self) {
        for chain in [&self.full, &self.open] {
            let mut fruitless = 0;
            while fruitless < MAX_FRUITLESS_CHECKS {
                let Some(page) = chain.last.get() else {
                    break;
                };
                chain.remove(page);
                chain.push(page);
                // SAFETY: the list has the page.
                let left = unsafe { page.as_ref() }.word.transition_to_taken_back();
                match left {
                    0 => fruitless += 1,
                    _ => {
                        fruitless = 0;
                        self.vacate(page, left);
                    }
                }
            }
        }
    }

    #[inline]
    fn vacate(&self, page: NonNull<Page>, slots: usize) {
        // SAFETY: the list has the page.
        let this = unsafe { page.as_ref() };
        let occupied = this.occupied.get();
        debug_assert!(occupied & slots == slots, "a slot is taken back once");
        this.occupied.set(occupied & !slots);
        if occupied == ALL {
            self.full.remove(page);
            self.open.push(page);
        }
        if occupied == slots && !self.open.is_only(page) {
            self.open.remove(page);
            // SAFETY: the page has no task, and the list does not link it any more.
            unsafe { Page::free(page) };
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Page> {
        self.full.iter().chain(self.open.iter())
    }

    /// Abandons all pages; the tasks in them then own them.
    pub(super) fn abandon(&self) {
        for chain in [&self.full, &self.open] {
            while let Some(page) = chain.first.get() {
                chain.remove(page);
                // SAFETY: the list had the page until now.
                let free = ALL & !unsafe { page.as_ref() }.occupied.get();
                // SAFETY: as above.
                if unsafe { page.as_ref() }.word.transition_to_abandoned(free) {
                    // SAFETY: the transition returned that the page has no task.
                    unsafe { Page::free(page) };
                }
            }
        }
    }
}

/// Doubly linked pages.
#[derive(Default)]
struct Chain {
    first: Cell<Option<NonNull<Page>>>,
    last: Cell<Option<NonNull<Page>>>,
}

impl Chain {
    /// Adds a page at the front.
    fn push(&self, page: NonNull<Page>) {
        let next = self.first.replace(Some(page));
        // SAFETY: the list owns its pages.
        let this = unsafe { page.as_ref() };
        this.previous.set(None);
        this.next.set(next);
        match next {
            // SAFETY: as above.
            Some(next) => unsafe { next.as_ref() }.previous.set(Some(page)),
            None => self.last.set(Some(page)),
        }
    }

    fn remove(&self, page: NonNull<Page>) {
        // SAFETY: the list owns its pages.
        let this = unsafe { page.as_ref() };
        let (previous, next) = (this.previous.get(), this.next.get());
        match previous {
            // SAFETY: as above.
            Some(previous) => unsafe { previous.as_ref() }.next.set(next),
            None => self.first.set(next),
        }
        match next {
            // SAFETY: as above.
            Some(next) => unsafe { next.as_ref() }.previous.set(previous),
            None => self.last.set(previous),
        }
    }

    fn is_only(&self, page: NonNull<Page>) -> bool {
        self.first.get() == Some(page) && self.last.get() == Some(page)
    }

    fn iter(&self) -> impl Iterator<Item = &Page> {
        let mut next = self.first.get();
        std::iter::from_fn(move || {
            // SAFETY: the list owns its pages, and does not change them while it is borrowed here.
            let page = unsafe { next?.as_ref() };
            next = page.next.get();
            Some(page)
        })
    }
}
