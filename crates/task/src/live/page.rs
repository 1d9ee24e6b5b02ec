//! A page of a live list, and a task's slot in it.

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::ptr::NonNull;

use raddle_primitives::cell::UnsafeCell;

use super::ListId;
use super::word::{ALL, Leave, SLOTS, Word};
use crate::cell::Header;

/// The alignment of pages: the bits of an address below it are free for a [`SlotRef`].
const ALIGN: usize = 64;
/// The alignment of their memory, which is malloc's own: it takes ten times as long to give memory
/// of another.
const MEMORY_ALIGN: usize = 16;
/// In a slot's address: the index of the slot in its page.
const INDEX: usize = 31;
/// In a slot's address: set once the list has gone to another thread during a poll of the task;
/// never cleared.
const LIST_MOVED: usize = INDEX + 1;

/// Room for a few tasks. The list owns it; after the list's end the remaining tasks own it.
#[repr(C)]
pub(crate) struct Page {
    list: ListId,
    pub(super) word: Word,
    /// The neighbours in one of the list's chains of pages. Only the list's thread accesses this
    /// field and the following ones.
    pub(super) previous: Cell<Option<NonNull<Page>>>,
    pub(super) next: Cell<Option<NonNull<Page>>>,
    /// The slots that have a task, including tasks that have left on another thread.
    pub(super) occupied: Cell<usize>,
    tasks: [Cell<NonNull<Header>>; SLOTS as usize],
    /// The start of the memory that contains the page.
    start: NonNull<u8>,
    /// Read by all accesses of other threads, and written when the page is freed, so that a model
    /// checks their order.
    memory: UnsafeCell<()>,
}

impl Page {
    /// Enough memory for a page, wherever the first aligned address in it is.
    const MEMORY: Layout = {
        let size = size_of::<Self>() + ALIGN - MEMORY_ALIGN;
        match Layout::from_size_align(size, MEMORY_ALIGN) {
            Ok(layout) => layout,
            Err(_) => panic!("a page is small"),
        }
    };

    pub(super) fn allocate(list: ListId) -> NonNull<Self> {
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc::alloc(Self::MEMORY) };
        let Some(start) = NonNull::new(start) else {
            alloc::handle_alloc_error(Self::MEMORY)
        };
        let skipped = start.addr().get().wrapping_neg() % ALIGN;
        // SAFETY: the memory is larger than a page by the largest offset.
        let place = unsafe { start.byte_add(skipped) }.cast();
        let page = Self {
            start,
            list,
            word: Word::new(),
            previous: Cell::new(None),
            next: Cell::new(None),
            occupied: Cell::new(0),
            tasks: [const { Cell::new(NonNull::dangling()) }; SLOTS as usize],
            memory: UnsafeCell::new(()),
        };
        // SAFETY: the memory is new, and the place in it is aligned.
        unsafe { place.write(page) };
        place
    }

    /// # Safety
    ///
    /// The page comes from [`allocate`](Self::allocate), and no thread uses it any more.
    pub(super) unsafe fn free(page: NonNull<Self>) {
        // SAFETY: the caller owns the page.
        let start = unsafe { page.as_ref() }.start;
        // SAFETY: as above.
        unsafe { page.drop_in_place() };
        // SAFETY: `allocate` returned this memory, and the page in it has been dropped.
        unsafe { alloc::dealloc(start.as_ptr(), Self::MEMORY) };
    }

    pub(super) fn is_full(&self) -> bool {
        self.occupied.get() == ALL
    }

    /// The slots whose tasks have not left.
    pub(super) fn live(&self) -> usize {
        self.occupied.get() & !self.word.left()
    }

    /// Puts a task into a free slot. The caller knows that there is one.
    #[inline]
    pub(super) fn put(page: NonNull<Self>, task: NonNull<Header>) -> SlotRef {
        // SAFETY: the list has the page.
        let this = unsafe { page.as_ref() };
        let index = this.occupied.get().trailing_ones();
        this.tasks[index as usize].set(task);
        this.occupied.set(this.occupied.get() | 1 << index);
        SlotRef::new(page, index)
    }

    /// Iterates over the tasks of `slots`.
    pub(super) fn tasks(&self, slots: usize) -> impl Iterator<Item = NonNull<Header>> {
        (0..SLOTS)
            .filter(move |index| slots & 1 << index != 0)
            .map(move |index| self.tasks[index as usize].get())
    }
}

impl Drop for Page {
    #[inline]
    fn drop(&mut self) {
        self.memory.with_mut(|_| {});
    }
}

/// The slot of a task: the address of the page and, in its free bits, the index of the slot.
#[derive(Clone, Copy)]
pub(crate) struct SlotRef(NonNull<u8>);

impl SlotRef {
    #[inline]
    fn new(page: NonNull<Page>, index: u32) -> Self {
        // SAFETY: a page has more bytes than slots.
        Self(unsafe { page.cast::<u8>().byte_add(index as usize) })
    }

    #[inline]
    pub(super) fn page(self) -> NonNull<Page> {
        // SAFETY: `new` and `moved` have added the index and the mark to the address of the page,
        // whose own bits below `ALIGN` are zero.
        unsafe { self.0.byte_sub(self.0.addr().get() % ALIGN) }.cast()
    }

    #[inline]
    fn index(self) -> u32 {
        (self.0.addr().get() & INDEX) as u32
    }

    /// The slot alone, as a bit of its page.
    #[inline]
    pub(super) fn bit(self) -> usize {
        1 << self.index()
    }

    /// Returns the slot of a task that completes as if on another thread.
    pub(super) fn moved(self) -> Self {
        match self.is_moved() {
            true => self,
            // SAFETY: a page has more bytes than that.
            false => Self(unsafe { self.0.byte_add(LIST_MOVED) }),
        }
    }

    #[inline]
    pub(super) fn is_moved(self) -> bool {
        self.0.addr().get() & LIST_MOVED != 0
    }

    /// Returns the list of the slot.
    ///
    /// # Safety
    ///
    /// The task of the slot is in it.
    #[inline]
    pub(super) unsafe fn list(self) -> ListId {
        // SAFETY: the page exists while a task is in it.
        unsafe { self.page().as_ref() }.list
    }

    /// Leaves the slot on another thread than the list's. Returns whether the caller must give up
    /// the liveness reference; otherwise the list's thread does.
    ///
    /// # Safety
    ///
    /// The caller has completed the slot's task, which is in it. Unless this returns true, the
    /// caller does not use the task again.
    #[must_use = "if it is true, the liveness reference must be given up"]
    pub(crate) unsafe fn leave(self) -> bool {
        let page = self.page();
        // SAFETY: the page exists while a task is in it. The reference is not used after the
        // transition of the word.
        let leave = unsafe {
            (*page.as_ptr()).memory.with(|_| {});
            (*page.as_ptr()).word.transition_to_left(self.index())
        };
        if leave == Leave::ReleaseAndFree {
            // SAFETY: the list was dropped, and the other tasks have left.
            unsafe { Page::free(page) };
        }
        leave != Leave::Nothing
    }
}

const _: () = assert!(
    align_of::<Page>() <= ALIGN
        && size_of::<Page>() > LIST_MOVED + INDEX
        && SLOTS as usize <= INDEX
        && LIST_MOVED + INDEX < ALIGN,
    "a slot's index and mark are below the alignment of pages"
);
