//! Memory for tasks: freed blocks are kept by size, and reused.
//!
//! Tasks are allocated and freed often, in many cases on different threads, and freeing a block
//! that another thread has allocated takes malloc's slow path. So a thread keeps blocks that it
//! frees, in lists by size, and threads pass them on in batches: the magazines of Bonwick and Adams
//! (2001).
//!
//! A thread that runs a scheduler says so by [`keep`], and calls [`release_unused`] each time
//! before it blocks. Only such a *keeper* keeps many blocks, because only a thread that calls in
//! later can return them. `docs/task-states.md` (Memory) has the rules: which thread owns which
//! list, and when it returns memory to the allocator.
//!
//! ```
//! use std::time::Instant;
//!
//! use raddle_task::{Runnable, memory};
//!
//! let keeper = memory::keep();
//! let spawn = || raddle_task::spawn(async {}, drop::<Runnable>).0;
//! let burst: Vec<_> = (0..10_000).map(|_| spawn()).collect();
//! for task in burst {
//!     drop(task.run());
//! }
//! // The thread has nothing to do. It waits no longer than this for the next task.
//! let wait = memory::release_unused().expect("the memory of the burst may be needed again");
//! let start = Instant::now();
//! while start.elapsed() < wait {
//!     std::thread::park_timeout(wait);
//! }
//! // No task came, and the memory is released.
//! assert_eq!(memory::release_unused(), None);
//! # drop(keeper);
//! ```

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use raddle_primitives::sync::atomic::Ordering;
use raddle_primitives::sync::{Mutex, Rank};

/// The number of sizes that are kept, each 16 bytes above the last.
const SIZES: usize = 32;
/// The alignment of blocks, which is malloc's own.
const ALIGN: usize = 16;
/// The maximum number of blocks that a thread exchanges with the depot at a time.
const MAX_BATCH: usize = 64;
/// The maximum number of bytes that a thread exchanges with the depot at a time.
const MAX_BATCH_BYTES: usize = 16 << 10;
/// The maximum number of bytes that the depot keeps.
const DEPOT_BYTES: usize = 1 << 20;
/// The number of bytes that a thread may keep for good: two batches of any one size.
const WORKING_SET: usize = 2 * MAX_BATCH_BYTES;
/// The maximum number of bytes of one size that a thread keeps which is no keeper.
const VISITOR_BYTES: usize = 2 << 10;
/// How long a keeper and the depot keep memory that is not used.
const KEEP_UNUSED: Duration = Duration::from_millis(100);

static DEPOT: Depot = Depot(Mutex::ranked(
    Rank::leaf("depot of cells"),
    Shelves {
        batches: [const { Vec::new() }; SIZES],
        bytes: 0,
    },
));

// Words that threads read without the lock of the depot, and write under it. They are std's: the
// depot is in no model, and the scaling run leaves it out.

/// A bit for each size of which the depot has batches.
static STOCKED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
/// Counts the batches that were put into the depot and taken.
static EXCHANGES: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
/// The keeper that was the last to exchange a batch ([`Cache::address`]), or 0 if the depot is
/// empty. It releases the depot later.
static WATCHER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

raddle_primitives::thread_local! {
    static CACHE: Cache = Cache::new();
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
        Layout::from_size_align(self.bytes(), ALIGN).expect("sizes are small")
    }

    fn bytes(self) -> usize {
        self.0 * 16 + 8
    }

    /// Returns the number of blocks in a batch.
    fn batch(self) -> usize {
        MAX_BATCH.min(MAX_BATCH_BYTES / self.bytes())
    }

    fn bit(self) -> u32 {
        1 << self.0
    }

    fn batch_bytes(self) -> usize {
        self.batch() * self.bytes()
    }
}

/// Makes the calling thread a keeper until the guard is dropped: it runs a scheduler, and calls
/// [`release_unused`] before it blocks. The [module](self) has an example.
pub fn keep() -> Keeper {
    let _ = CACHE.try_with(|cache| cache.keepers.set(cache.keepers.get() + 1));
    Keeper {
        thread: PhantomData,
    }
}

/// A thread is a keeper of memory while it has this guard.
#[derive(Debug)]
#[must_use = "the thread keeps memory only while the guard lives"]
pub struct Keeper {
    thread: PhantomData<*mut ()>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let _ = CACHE.try_with(|cache| cache.keepers.set(cache.keepers.get() - 1));
        let _ = release_unused();
    }
}

/// Returns memory that the calling thread keeps, or that all threads share, to the allocator if it
/// has not been used for a while. Call it before the thread blocks.
///
/// If the thread is a [keeper](keep) and there is memory that may be used again soon, nothing is
/// returned yet: call it again if nothing has woken the thread in the time that it returns.
pub fn release_unused() -> Option<Duration> {
    CACHE
        .try_with(|cache| match cache.keepers.get() {
            0 => {
                if cache.has_surplus() {
                    cache.release();
                }
                None
            }
            _ => cache.release_unused(),
        })
        .ok()
        .flatten()
}

/// Returns all memory that the calling thread keeps, or that all threads share, to the allocator.
/// Call it when a scheduler has shut down.
pub fn release() {
    let _ = CACHE.try_with(Cache::release);
    DEPOT.release();
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
struct Cache {
    sizes: [SizeCache; SIZES],
    /// A bit for each size that may have blocks.
    in_use: Cell<u32>,
    /// How many guards make the thread a keeper.
    keepers: Cell<usize>,
    /// Counts what the lists of this thread have exchanged.
    exchanges: Cell<usize>,
    /// Since when this thread's lists, and the depot that it watches, have exchanged nothing.
    unused: Cell<Option<Unused>>,
    depot_unused: Cell<Option<Unused>>,
}

/// The free memory of one size that one thread keeps.
struct SizeCache {
    /// A chain of `len` blocks, at most `limit`, which is at most a batch.
    current: Cell<Option<NonNull<Block>>>,
    len: Cell<u32>,
    /// Zero until the thread frees a block of this size.
    limit: Cell<u32>,
    /// A full batch, or empty.
    spare: Cell<Option<NonNull<Block>>>,
}

/// A count of exchanges, and when it was first seen.
#[derive(Clone, Copy)]
struct Unused {
    exchanges: usize,
    since: Instant,
}

impl Unused {
    /// Returns how long the count of exchanges has not changed.
    fn for_how_long(seen: &Cell<Option<Self>>, exchanges: usize, now: Instant) -> Duration {
        let same = seen.get().filter(|seen| seen.exchanges == exchanges);
        let same = same.unwrap_or(Self {
            exchanges,
            since: now,
        });
        seen.set(Some(same));
        now.saturating_duration_since(same.since)
    }
}

impl SizeCache {
    const fn new() -> Self {
        Self {
            current: Cell::new(None),
            len: Cell::new(0),
            limit: Cell::new(0),
            spare: Cell::new(None),
        }
    }
}

impl Cache {
    const fn new() -> Self {
        Self {
            sizes: [const { SizeCache::new() }; SIZES],
            in_use: Cell::new(0),
            keepers: Cell::new(0),
            exchanges: Cell::new(0),
            unused: Cell::new(None),
            depot_unused: Cell::new(None),
        }
    }

    /// A number for the thread, which is not 0.
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    #[inline]
    fn take(&self, size: Size) -> Option<NonNull<Block>> {
        let blocks = &self.sizes[size.0];
        let block = match blocks.current.get() {
            Some(block) => block,
            None => self.refill(size)?,
        };
        // SAFETY: the cache owns its blocks.
        blocks.current.set(unsafe { block.as_ref() }.next);
        blocks.len.set(blocks.len.get() - 1);
        Some(block)
    }

    /// # Safety
    ///
    /// The block has this size, and is the caller's.
    #[inline]
    unsafe fn put(&self, size: Size, block: NonNull<Block>) {
        let blocks = &self.sizes[size.0];
        if blocks.len.get() == blocks.limit.get() {
            self.make_room(size);
        }
        let next = blocks.current.replace(Some(block));
        // SAFETY: the caller gives up the block.
        unsafe { block.write(Block { next }) };
        blocks.len.set(blocks.len.get() + 1);
    }

    /// Gets a batch from the spare or from the depot, and returns its first block.
    #[cold]
    fn refill(&self, size: Size) -> Option<NonNull<Block>> {
        let blocks = &self.sizes[size.0];
        let batch = blocks.spare.take().or_else(|| DEPOT.take(size, self))?;
        self.note_exchange(size);
        blocks.current.set(Some(batch));
        blocks.len.set(size.batch() as u32);
        blocks.limit.set(size.batch() as u32);
        Some(batch)
    }

    /// Makes room for a block. A keeper makes the full chain the spare, and gives the old spare to
    /// the depot. Another thread frees its chain.
    #[cold]
    fn make_room(&self, size: Size) {
        self.note_exchange(size);
        let blocks = &self.sizes[size.0];
        let (len, batch) = (blocks.len.get() as usize, size.batch());
        if self.keepers.get() == 0 {
            blocks.len.set(0);
            let limit = VISITOR_BYTES.div_ceil(size.bytes()).min(batch);
            blocks.limit.set(limit as u32);
            // SAFETY: the cache owns its blocks.
            unsafe { free_chain(size, blocks.current.take()) };
            return;
        }
        blocks.limit.set(batch as u32);
        if len < batch {
            return;
        }
        blocks.len.set(0);
        if let Some(spare) = blocks.spare.replace(blocks.current.take()) {
            DEPOT.give(size, spare, self);
        }
    }

    #[inline]
    fn note_exchange(&self, size: Size) {
        self.in_use.set(self.in_use.get() | size.bit());
        self.exchanges.set(self.exchanges.get().wrapping_add(1));
    }

    /// The sizes of which the cache may have blocks.
    fn sizes_in_use(&self) -> impl Iterator<Item = (Size, &SizeCache)> {
        let mut left = self.in_use.get();
        std::iter::from_fn(move || {
            let number = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            let blocks = self.sizes.get(number)?;
            Some((Size(number), blocks))
        })
    }

    /// Returns whether the cache has more than a thread may keep for good.
    #[inline]
    fn has_surplus(&self) -> bool {
        self.bytes() > WORKING_SET
    }

    /// Returns the number of bytes of all blocks.
    fn bytes(&self) -> usize {
        let bytes = self.sizes_in_use().map(|(size, blocks)| {
            let in_spare = blocks.spare.get().map_or(0, |_| size.batch_bytes());
            blocks.len.get() as usize * size.bytes() + in_spare
        });
        bytes.sum()
    }

    /// Releases what this keeper, or the depot that it watches, has not used for a while. Returns
    /// how long to wait before there may be something to release.
    #[inline]
    fn release_unused(&self) -> Option<Duration> {
        let (has_surplus, is_watcher) = (self.has_surplus(), DEPOT.is_watched_by(self));
        match has_surplus || is_watcher {
            false => None,
            true => self.release_parts(has_surplus, is_watcher),
        }
    }

    #[cold]
    fn release_parts(&self, has_surplus: bool, is_watcher: bool) -> Option<Duration> {
        let now = Instant::now();
        let left = |seen, exchanges| {
            let unused = Unused::for_how_long(seen, exchanges, now);
            let left = KEEP_UNUSED.saturating_sub(unused);
            (!left.is_zero()).then_some(left)
        };
        let own = has_surplus.then(|| left(&self.unused, self.exchanges.get()));
        let depot = is_watcher.then(|| left(&self.depot_unused, DEPOT.exchanges()));
        if own == Some(None) {
            self.release();
        }
        if depot == Some(None) {
            DEPOT.release();
        }
        own.flatten().into_iter().chain(depot.flatten()).min()
    }

    /// Returns all blocks to the allocator.
    fn release(&self) {
        for (size, blocks) in self.sizes_in_use() {
            blocks.len.set(0);
            blocks.limit.set(0);
            // SAFETY: the cache owns its blocks.
            unsafe {
                free_chain(size, blocks.current.take());
                free_chain(size, blocks.spare.take());
            }
        }
        self.in_use.set(0);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.release();
        if DEPOT.is_watched_by(self) {
            DEPOT.release();
        }
    }
}

/// Batches that one thread has freed and another may take.
struct Depot(Mutex<Shelves>);

struct Shelves {
    batches: [Vec<Batch>; SIZES],
    bytes: usize,
}

/// A chain of as many blocks as a batch of its size has.
struct Batch(NonNull<Block>);

// SAFETY: blocks are unused memory.
unsafe impl Send for Batch {}

impl Depot {
    fn take(&self, size: Size, cache: &Cache) -> Option<NonNull<Block>> {
        // ORDERING: a hint: the lock orders the access to the batches.
        if STOCKED.load(Ordering::Relaxed) & size.bit() == 0 {
            return None;
        }
        let mut shelves = self.0.lock();
        let batch = shelves.batches[size.0].pop()?;
        shelves.bytes -= size.batch_bytes();
        self.note_exchange(size, &shelves, Some(cache));
        Some(batch.0)
    }

    /// Takes a batch from a keeper. If the depot has too much then, frees batches of the size of
    /// which it has most: a size that is not used any more makes room for others.
    fn give(&self, size: Size, batch: NonNull<Block>, cache: &Cache) {
        let mut shelves = self.0.lock();
        shelves.batches[size.0].push(Batch(batch));
        shelves.bytes += size.batch_bytes();
        self.note_exchange(size, &shelves, Some(cache));
        let mut has_excess = shelves.bytes > DEPOT_BYTES;
        drop(shelves);
        while has_excess {
            has_excess = self.free_excess();
        }
    }

    /// Frees a batch if the depot has too much. Returns whether it did.
    #[cold]
    fn free_excess(&self) -> bool {
        let mut shelves = self.0.lock();
        if shelves.bytes <= DEPOT_BYTES {
            return false;
        }
        let bytes = |size: &Size| shelves.batches[size.0].len() * size.batch_bytes();
        let fullest = (0..SIZES).map(Size).max_by_key(bytes);
        let fullest = fullest.expect("there are sizes");
        let batch = shelves.batches[fullest.0].pop();
        let batch = batch.expect("the depot has batches");
        shelves.bytes -= fullest.batch_bytes();
        self.note_stock(fullest, &shelves);
        drop(shelves);
        // SAFETY: the depot owned the batch, and it was taken out.
        unsafe { free_chain(fullest, Some(batch.0)) };
        true
    }

    /// Updates the hints, under the lock. `cache` is that of the thread that exchanges a batch.
    fn note_exchange(&self, size: Size, shelves: &Shelves, cache: Option<&Cache>) {
        self.note_stock(size, shelves);
        // ORDERING: hints, written by one thread at a time, which has the lock.
        let exchanges = EXCHANGES.load(Ordering::Relaxed).wrapping_add(1);
        EXCHANGES.store(exchanges, Ordering::Relaxed);
        let keeper = cache.filter(|cache| cache.keepers.get() > 0);
        let watcher = match (shelves.bytes, keeper) {
            (0, _) => 0,
            (_, Some(cache)) => cache.address(),
            (_, None) => return,
        };
        // ORDERING: Relaxed: the last keeper to store its address sees it later, on its own thread.
        // Another one that sees an older store, of its own address, looks once too often.
        WATCHER.store(watcher, Ordering::Relaxed);
    }

    fn note_stock(&self, size: Size, shelves: &Shelves) {
        // ORDERING: a hint, written by one thread at a time, which has the lock.
        let others = STOCKED.load(Ordering::Relaxed) & !size.bit();
        let this = match shelves.batches[size.0].is_empty() {
            true => 0,
            false => size.bit(),
        };
        STOCKED.store(others | this, Ordering::Relaxed);
    }

    #[inline]
    fn is_watched_by(&self, cache: &Cache) -> bool {
        // ORDERING: as in `note_exchange`.
        WATCHER.load(Ordering::Relaxed) == cache.address()
    }

    fn exchanges(&self) -> usize {
        // ORDERING: a hint: a change that is not seen yet is seen at the next call.
        EXCHANGES.load(Ordering::Relaxed)
    }

    /// Returns all batches to the allocator.
    fn release(&self) {
        for number in 0..SIZES {
            let size = Size(number);
            let mut shelves = self.0.lock();
            let batches = std::mem::take(&mut shelves.batches[number]);
            if batches.is_empty() {
                continue;
            }
            shelves.bytes -= batches.len() * size.batch_bytes();
            self.note_exchange(size, &shelves, None);
            drop(shelves);
            for batch in batches {
                // SAFETY: the depot owned its batches, and this one was taken out.
                unsafe { free_chain(size, Some(batch.0)) };
            }
        }
    }
}

#[cfg(test)]
mod tests;
