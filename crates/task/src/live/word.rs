//! The word of a page: which of its tasks have left it on other threads.

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

/// The number of tasks that a page has room for: the word has two bits for each, and one more.
pub(super) const SLOTS: u32 = usize::BITS / 2 - 1;
/// A bit for each slot.
pub(super) const ALL: usize = (1 << SLOTS) - 1;
/// Set when the list is dropped before every task has left the page; never cleared.
const ABANDONED: usize = 1 << (2 * SLOTS);

/// Two bits for each slot:
///
/// - *left*, the low `SLOTS` bits: set by the thread that has completed the slot's task, if it is
///   not the list's. It is that thread's last access to the page. Cleared by the list's thread when
///   it takes the slot back, or never if the list was dropped.
/// - *held*, the next `SLOTS` bits: set and cleared by the list's thread around a look at the
///   slot's task, which stays alive meanwhile. Never with `ABANDONED`.
pub(super) struct Word(AtomicUsize);

/// The duty of a thread that leaves a slot.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// Give up the task's liveness reference.
    Release,
    /// Give it up, and free the page: its list was dropped, and this was its last task.
    ReleaseAndFree,
    /// The list's thread holds the slot, and will give up the reference.
    Nothing,
}

impl Word {
    /// The word of a page without tasks.
    pub(super) fn new() -> Self {
        Self(named("live list", AtomicUsize::new(0)))
    }

    /// The slots whose tasks have left on other threads.
    pub(super) fn left(&self) -> usize {
        // ORDERING: Acquire pairs with the Release of `transition_to_left`: the page may be freed
        // next, after the leaving thread's accesses.
        self.0.load(Ordering::Acquire) & ALL
    }

    /// Leaves a slot whose task the caller has completed.
    pub(super) fn transition_to_left(&self, slot: u32) -> Leave {
        let bit = 1 << slot;
        // ORDERING: Release pairs with `left` and `transition_to_not_held`, and with the Acquire of
        // the last to leave an abandoned page: what the caller did with the task and the page
        // happens before they are freed. Acquire pairs with `transition_to_not_held`: what the
        // list's thread did with the task happens before the caller frees it; and with the Release
        // of the threads that left before, and of `transition_to_abandoned`: the caller may free
        // the page.
        let before = self.0.fetch_or(bit, Ordering::AcqRel);
        debug_assert!(before & bit == 0, "a task leaves its slot once");
        if before & (bit << SLOTS) != 0 {
            Leave::Nothing
        } else if before & ABANDONED != 0 && (before | bit) & ALL == ALL {
            Leave::ReleaseAndFree
        } else {
            Leave::Release
        }
    }

    /// Takes back the slots whose tasks have left, and returns them.
    pub(super) fn transition_to_taken_back(&self) -> usize {
        let left = self.left();
        if left != 0 {
            // ORDERING: since `left`, the list owns these slots.
            self.0.fetch_and(!left, Ordering::Relaxed);
        }
        left
    }

    /// Holds those of `slots` whose tasks have not left, and returns them.
    pub(super) fn transition_to_held(&self, slots: usize) -> usize {
        // ORDERING: a thread that leaves later sees the bit in any case, and the caller, the list's
        // thread, adopted the tasks itself.
        let before = self.0.fetch_or(slots << SLOTS, Ordering::Relaxed);
        slots & !before
    }

    /// Ends the hold of all slots. Returns those of `held` whose tasks have left meanwhile: the
    /// caller must give up their liveness references.
    pub(super) fn transition_to_not_held(&self, held: usize) -> usize {
        // ORDERING: Release pairs with `transition_to_left`: what was done with a task happens
        // before the thread that completes it frees it. Acquire pairs with the same: what that
        // thread did happens before the caller frees the task.
        let before = self.0.fetch_and(!(ALL << SLOTS), Ordering::AcqRel);
        before & held
    }

    /// Records that the list was dropped, and that `free` are the slots without a task. Returns
    /// whether the page has no task left; then the caller frees it.
    pub(super) fn transition_to_abandoned(&self, free: usize) -> bool {
        // ORDERING: Release and Acquire pair with `transition_to_left`: either may be the last, and
        // frees the page after all accesses.
        let before = self.0.fetch_or(ABANDONED | free, Ordering::AcqRel);
        (before | free) & ALL == ALL
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_masks_are_disjoint() {
        assert_eq!(ALL & (ALL << SLOTS), 0);
        assert_eq!((ALL | ALL << SLOTS) & ABANDONED, 0);
        assert!(ALL.count_ones() == SLOTS && (ALL << SLOTS).count_ones() == SLOTS);
    }

    #[test]
    fn the_last_to_leave_an_abandoned_page_frees_it() {
        let word = Word::new();
        assert_eq!(word.transition_to_left(3), Leave::Release);
        assert!(!word.transition_to_abandoned(ALL & !0b1110));
        assert_eq!(word.transition_to_left(1), Leave::Release);
        assert_eq!(word.transition_to_left(2), Leave::ReleaseAndFree);
        let word = Word::new();
        assert_eq!(word.transition_to_left(0), Leave::Release);
        assert!(word.transition_to_abandoned(ALL & !1));
    }

    #[test]
    fn leaving_a_held_slot_leaves_the_reference_to_the_holder() {
        let word = Word::new();
        assert_eq!(word.transition_to_left(0), Leave::Release);
        assert_eq!(word.transition_to_held(0b111), 0b110);
        assert_eq!(word.transition_to_left(1), Leave::Nothing);
        assert_eq!(word.transition_to_left(5), Leave::Release);
        assert_eq!(word.transition_to_not_held(0b110), 0b010);
        assert_eq!(word.transition_to_left(2), Leave::Release);
        assert_eq!(word.transition_to_taken_back(), 0b10_0111);
        assert_eq!(word.transition_to_taken_back(), 0);
        assert_eq!(word.transition_to_left(2), Leave::Release);
    }
}
