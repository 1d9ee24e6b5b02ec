//! Memory for cells: freed blocks are kept by size, and reused.
//!
//! Tasks are allocated and freed often, in many cases on different threads, and freeing a block
//! that another thread has allocated takes malloc's slow path. So each thread keeps the blocks that
//! it frees, in lists by size, and passes them on in batches through a depot that all threads
//! share: the magazines of Bonwick and Adams (2001). Each batch takes a lock once.
//!
//! A thread keeps at most two batches of each size, the depot a megabyte of each; the rest goes
//! back to the allocator. Large cells come from there and go there directly.

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::ptr::NonNull;

use raddle_primitives::sync::{Mutex, Rank};

/// The number of blocks that a thread exchanges with the depot at a time.
const BATCH: usize = 64;
/// The number of sizes that are kept, each 16 bytes above the last.
const SIZES: usize = 32;
/// The number of bytes of each size that the depot keeps.
const DEPOT_BYTES: usize = 1 << 20;
/// The alignment of blocks, which is malloc's own.
const ALIGN: usize = 16;

static DEPOT: Depot =
    Depot([const { Mutex::ranked(Rank::leaf("depot of cells"), Vec::new()) }; SIZES]);

raddle_primitives::thread_local! {
    static CACHE: Cache = Cache([const { SizeCache::new() }; SIZES]);
}

/// A size of blocks.
///
/// Sizes are 8 above a multiple of 16: malloc puts a header of 8 bytes before a block and aligns
/// the two to 16, so any other size would waste memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size(usize);

impl Size {
    /// Returns the size for a layout; `None` if the layout is too large or needs more alignment.
    pub(crate) const fn of(layout: Layout) -> Option<Self> {
        let size = (layout.size() + 7) / 16;
        if size < SIZES && layout.align() <= ALIGN {
            Some(Self(size))
        } else {
            None
        }
    }

    fn layout(self) -> Layout {
        Layout::from_size_align(self.0 * 16 + 8, ALIGN).expect("sizes are small")
    }

    /// Returns the number of batches that the depot keeps.
    fn depot_batches(self) -> usize {
        DEPOT_BYTES / (BATCH * self.layout().size())
    }
}

/// Allocates memory for a cell of `layout`, whose `size` is [`Size::of`] it.
#[inline]
pub(crate) fn allocate(layout: Layout, size: Option<Size>) -> NonNull<u8> {
    let kept = size.and_then(|size| CACHE.try_with(|cache| cache.take(size)).ok().flatten());
    kept.map_or_else(|| allocate_anew(layout, size), NonNull::cast)
}

/// Frees the memory of a cell.
///
/// # Safety
///
/// `memory` comes from [`allocate`] with the same arguments, and is not used again.
#[inline]
pub(crate) unsafe fn free(memory: NonNull<u8>, layout: Layout, size: Option<Size>) {
    let Some(size) = size else {
        // SAFETY: a cell without a size was allocated with its own layout.
        return unsafe { alloc::dealloc(memory.as_ptr(), layout) };
    };
    let block = memory.cast();
    let kept = CACHE.try_with(|cache| {
        // SAFETY: the caller gives up the block, which has this size.
        unsafe { cache.put(size, block) };
    });
    if kept.is_err() {
        // The thread is exiting.
        // SAFETY: as above.
        unsafe { free_block(size, block) };
    }
}

#[cold]
fn allocate_anew(layout: Layout, size: Option<Size>) -> NonNull<u8> {
    let layout = size.map_or(layout, Size::layout);
    // SAFETY: a cell has a state word, so the layout is not empty.
    let memory = unsafe { alloc::alloc(layout) };
    NonNull::new(memory).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}

/// # Safety
///
/// The block has this size, and is the caller's.
unsafe fn free_block(size: Size, block: NonNull<Block>) {
    // SAFETY: blocks are allocated with the layout of their size.
    unsafe { alloc::dealloc(block.as_ptr().cast(), size.layout()) };
}

/// # Safety
///
/// The blocks of the chain have this size, and are the caller's.
unsafe fn free_chain(size: Size, chain: Option<NonNull<Block>>) {
    let mut next = chain;
    while let Some(block) = next {
        // SAFETY: the caller owns the chain.
        next = unsafe { block.as_ref() }.next;
        // SAFETY: as above.
        unsafe { free_block(size, block) };
    }
}

/// The start of a block that is not in use.
struct Block {
    next: Option<NonNull<Block>>,
}

/// The free memory that one thread keeps.
struct Cache([SizeCache; SIZES]);

/// The free memory of one size that one thread keeps.
struct SizeCache {
    /// A chain of `count` blocks, at most a batch.
    current: Cell<Option<NonNull<Block>>>,
    count: Cell<usize>,
    /// A full batch, or empty.
    spare: Cell<Option<NonNull<Block>>>,
}

impl SizeCache {
    const fn new() -> Self {
        Self {
            current: Cell::new(None),
            count: Cell::new(0),
            spare: Cell::new(None),
        }
    }
}

impl Cache {
    #[inline]
    fn take(&self, size: Size) -> Option<NonNull<Block>> {
        let blocks = &self.0[size.0];
        let block = match blocks.current.get() {
            Some(block) => block,
            None => blocks.refill(size)?,
        };
        // SAFETY: the cache owns its blocks.
        blocks.current.set(unsafe { block.as_ref() }.next);
        blocks.count.set(blocks.count.get() - 1);
        Some(block)
    }

    /// # Safety
    ///
    /// The block has this size, and is the caller's.
    #[inline]
    unsafe fn put(&self, size: Size, block: NonNull<Block>) {
        let blocks = &self.0[size.0];
        if blocks.count.get() == BATCH {
            blocks.make_room(size);
        }
        let next = blocks.current.replace(Some(block));
        // SAFETY: the caller gives up the block.
        unsafe { block.write(Block { next }) };
        blocks.count.set(blocks.count.get() + 1);
    }
}

impl SizeCache {
    /// Gets a batch from the spare or from the depot, and returns its first block.
    #[cold]
    fn refill(&self, size: Size) -> Option<NonNull<Block>> {
        let batch = self.spare.take().or_else(|| DEPOT.take(size))?;
        self.current.set(Some(batch));
        self.count.set(BATCH);
        Some(batch)
    }

    /// Makes the full chain the spare, and gives the old spare to the depot.
    #[cold]
    fn make_room(&self, size: Size) {
        if let Some(batch) = self.spare.replace(self.current.take()) {
            DEPOT.give(size, batch);
        }
        self.count.set(0);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        for (number, blocks) in self.0.iter().enumerate() {
            let size = Size(number);
            if let Some(batch) = blocks.spare.take() {
                DEPOT.give(size, batch);
            }
            // SAFETY: the cache owns its blocks.
            unsafe { free_chain(size, blocks.current.take()) };
        }
    }
}

/// Batches that one thread has freed and another may take.
struct Depot([Mutex<Vec<Batch>>; SIZES]);

/// A chain of `BATCH` blocks.
struct Batch(NonNull<Block>);

// SAFETY: blocks are unused memory.
unsafe impl Send for Batch {}

impl Depot {
    fn take(&self, size: Size) -> Option<NonNull<Block>> {
        self.0[size.0].lock().pop().map(|batch| batch.0)
    }

    fn give(&self, size: Size, batch: NonNull<Block>) {
        let mut batches = self.0[size.0].lock();
        if batches.len() < size.depot_batches() {
            batches.push(Batch(batch));
            return;
        }
        drop(batches);
        // SAFETY: the batch was given to the depot.
        unsafe { free_chain(size, Some(batch)) };
    }
}

#[cfg(test)]
mod tests;
